// Problems in the autotuning community's T1 format: a kernel's space, and what it is tuned for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/expression.hpp"

namespace hone::tuner {

struct T1Problem {
  std::string kernel;
  std::vector<db::Parameter> parameters;
  std::vector<std::string> constraints;  ///< the conditions, as SQL
  /// `ProblemSize` as size_x, size_y, size_z, which Kernel Tuner writes; else the integers that the kernel
  /// takes.
  std::vector<std::pair<std::string, std::int64_t>> dimensions;
  std::string element_type;  ///< of the first array that is written; empty: one that hone has not
  std::optional<std::int64_t> working_set;  ///< bytes of the arrays, those that are read and written twice
};

/// Throws Error{invalid} that names the file and the key that is not as it must be, or that hone has no word
/// for.
T1Problem read_t1(const std::filesystem::path& file);

/// `size_x`, `size_y`, `size_z`: what dimensions without a name are called.
std::vector<std::pair<std::string, std::int64_t>> sizes(const std::vector<std::int64_t>& extents);

}  // namespace hone::tuner
