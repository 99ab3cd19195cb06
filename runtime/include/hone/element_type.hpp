// Element types of problems' tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hone/error.hpp"

namespace hone {

enum class ElementType : std::uint8_t { f32, f16, bf16, i8, f64, i32, i64, u8 };

constexpr std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::i8:
    case ElementType::u8:
      return 1;
    case ElementType::f16:
    case ElementType::bf16:
      return 2;
    case ElementType::f32:
    case ElementType::i32:
      return 4;
    case ElementType::f64:
    case ElementType::i64:
      return 8;
  }
  return 0;
}

/// 0 for integers.
constexpr double smallest_normal(ElementType type) {
  switch (type) {
    case ElementType::f32:
    case ElementType::bf16:
      return 0x1p-126;
    case ElementType::f16:
      return 0x1p-14;
    case ElementType::f64:
      return 0x1p-1022;
    default:
      return 0;
  }
}

HONE_EXPORT const char* name(ElementType type);
HONE_EXPORT std::optional<ElementType> parse_element_type(std::string_view text);

}  // namespace hone
