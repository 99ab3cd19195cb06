#include "runtime/element_type.hpp"

#include <array>
#include <utility>

namespace hone {
namespace {

constexpr std::array<std::pair<ElementType, const char*>, 8> kNames{{
    {ElementType::f32, "f32"},
    {ElementType::f16, "f16"},
    {ElementType::bf16, "bf16"},
    {ElementType::i8, "i8"},
    {ElementType::f64, "f64"},
    {ElementType::i32, "i32"},
    {ElementType::i64, "i64"},
    {ElementType::u8, "u8"},
}};

}  // namespace

const char* name(ElementType type) {
  for (const auto& [known, text] : kNames)
    if (known == type) return text;
  return "?";
}

std::optional<ElementType> parse_element_type(std::string_view text) {
  for (const auto& [known, known_text] : kNames)
    if (known_text == text) return known;
  return std::nullopt;
}

}  // namespace hone
