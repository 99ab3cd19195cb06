// A tuning database made for benchmarks of the runtime: winners of two families on a device that is not
// there.
#pragma once

#include <cstdint>
#include <filesystem>

#include "runtime/device.hpp"

namespace hone::bench {

/// `vector_op`: one dimension, `numel`, f16; the i-th winner is of numel = kVectorStep * (i + 1).
inline constexpr std::int64_t kVectorStep = 1024;
/// `matmul`: M, N, K and two strides, f16; the i-th winner is of the M, N, K that matmul_shape(i) gives.
std::array<std::int64_t, 3> matmul_shape(std::int64_t i);

/// What vector_op or matmul has in place of winners.
enum class Derived {
  none,
  bands,      ///< vector_op's, of a sweep over every hundredth of the winners there would be
  portfolio,  ///< matmul's: all 48 configurations raced at the problems there would be winners of
};

/// Writes `winners` winners of each family, all of one alignment class, with code objects.
void write_winners(const std::filesystem::path& file, const DeviceInfo& device, std::int64_t vector_winners,
                   std::int64_t matmul_winners, Derived derived);

}  // namespace hone::bench
