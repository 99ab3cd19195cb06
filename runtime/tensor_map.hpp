// Tensor maps: how the tensor memory accelerator of NVIDIA's Hopper and later finds a box of a strided array.
// A manifest describes one by expressions; a plan has its numbers; the driver encodes those with an address.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/element_type.hpp"

namespace hone {

inline constexpr std::size_t kMaximumTensorMaps = 8;  ///< of a variant
inline constexpr std::size_t kMaximumTensorRank = 5;

/// All of a tensor map but the address. Axes are innermost first; unused ones are 0.
struct TensorMapShape {
  std::size_t argument = 0;  ///< whose pointer it describes, into Family::arguments
  ElementType type = ElementType::f32;
  std::uint32_t rank = 0;
  std::array<std::uint64_t, kMaximumTensorRank> extent{};      ///< elements
  std::array<std::uint64_t, kMaximumTensorRank - 1> stride{};  ///< bytes, from the second axis on
  std::array<std::uint32_t, kMaximumTensorRank> box{};         ///< elements
  std::uint32_t swizzle = 0;                                   ///< bytes: 0, 32, 64 or 128
  std::uint32_t promotion = 0;  ///< bytes that the L2 fetches at once: 0, 64, 128 or 256
  bool operator==(const TensorMapShape&) const = default;
};

/// CUtensorMap.
struct alignas(64) TensorMap {
  std::array<std::uint64_t, 16> words;
};

/// A number for a plan's tensor maps that no other plan of this process has.
inline std::uint64_t new_tensor_map_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace hone
