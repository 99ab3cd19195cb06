// A long operation on stderr: a live line on a terminal, a plain line now and then elsewhere.
#pragma once

#include <chrono>
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
  bool quiet_;
  bool live_;
  bool drawn_ = false;
  Clock::time_point started_ = Clock::now();
  Clock::time_point shown_ = started_;
};

/// The line itself: done of total, rate, time left, failures, best so far; at most `width` columns.
std::string progress_text(const tuner::Progress& progress, double seconds, int width, bool bar);

}  // namespace hone::tools
