// A tuning space that was measured as a whole, in Kernel Tuner's cache format, to replay searches on.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/family.hpp"
#include "tuner/search_space.hpp"

namespace hone::bench {

/// One evaluation as it was recorded.
struct Recorded {
  std::optional<double> nanoseconds;  ///< none: it failed
  double seconds = 0;                 ///< to compile, verify and measure it
};

class RecordedSpace {
 public:
  /// JSON, or JSON compressed by gzip. Throws Error{invalid} that names the file.
  explicit RecordedSpace(const std::filesystem::path& file);

  /// Without points that a search has found: each search gets its own.
  tuner::SearchSpace space() const;
  /// By the point's index in space().
  const std::vector<Recorded>& recorded() const noexcept { return recorded_; }
  double best_nanoseconds() const noexcept { return best_; }
  const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
  std::unique_ptr<Variant> variant_;
  std::vector<db::Configuration> configurations_;
  std::vector<Recorded> recorded_;
  double best_ = 0;
};

}  // namespace hone::bench
