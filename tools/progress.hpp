// A long operation on stderr: a live line on a terminal, a plain line now and then elsewhere; where it is too
// long for one, several.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "tuner/observer.hpp"

namespace hone::tools {

class ProgressBar final : public tuner::Observer {
 public:
  using Clock = std::chrono::steady_clock;

  /// Quiet: nothing at all.
  explicit ProgressBar(bool quiet);
  /// Clears the live line.
  ~ProgressBar() override;
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void progress(const tuner::Progress& progress) override;
  void note(const std::string& line) override;
  void clear();

 private:
  /// What moves the cursor to where the live line begins, and wipes it away.
  std::string clearing() const;

  bool quiet_;
  bool live_;
  std::ptrdiff_t drawn_lines_ = 0;
  Clock::time_point started_ = Clock::now();
  Clock::time_point shown_ = started_;
};

/// The line itself: done of total, rate, time left, failures, best so far with its configuration.
std::string progress_text(const tuner::Progress& progress, double seconds, bool bar);

}  // namespace hone::tools
