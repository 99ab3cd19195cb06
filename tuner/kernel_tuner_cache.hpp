// Kernel Tuner's cache files: a space that was measured, JSON or JSON compressed by gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "db/space.hpp"

namespace hone::tuner {

/// One evaluation as it was recorded.
struct CachedEvaluation {
  std::vector<db::Value> values;  ///< of the cache's parameters, in their order
  db::Outcome outcome = db::Outcome::ok;
  std::string reason;                 ///< the cache's own word for what is not `ok`
  std::optional<double> nanoseconds;  ///< its time; none: it failed
  std::vector<double> samples;        ///< nanoseconds; where the cache has none of them, its time alone
  double seconds = 0;                 ///< to compile, verify and measure it
  std::int64_t taken_us = 0;          ///< microseconds since 1970; 0: not told
};

class KernelTunerCache {
 public:
  /// Throws Error{invalid} that names the file, and the entry and key where something is not as it must be. A
  /// cache that was left open by an interrupted tuning is read as far as it goes. Times that older versions
  /// wrote for what failed (1e20) are failures.
  explicit KernelTunerCache(const std::filesystem::path& file);

  const std::string& device() const noexcept { return device_; }
  const std::string& kernel() const noexcept { return kernel_; }
  const std::vector<std::int64_t>& problem_size() const noexcept { return problem_size_; }
  /// With all their values; every evaluation's are among them.
  const std::vector<db::Parameter>& parameters() const noexcept { return parameters_; }
  const std::vector<CachedEvaluation>& evaluations() const noexcept { return evaluations_; }

 private:
  std::string device_, kernel_;
  std::vector<std::int64_t> problem_size_;
  std::vector<db::Parameter> parameters_;
  std::vector<CachedEvaluation> evaluations_;
};

}  // namespace hone::tuner
