// A worker process and the channel to it. What it writes to stderr is kept, so that an abort can be
// explained.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "tuner/channel.hpp"

namespace hone::tuner {

/// A worker ended instead of answering.
struct WorkerLost {
  db::Outcome outcome;  ///< `timed_out` when it was ended for taking too long, else `crashed`
  std::string why;      ///< signal or status, and the last line it wrote
  bool killed = false;  ///< by SIGKILL that hone did not send: its request is not to blame
};

/// So often a request is made again whose worker was killed from outside; one that always is (by the kernel,
/// for its memory) is given up then.
constexpr int second_chances = 2;

/// Killed and reaped when destroyed.
class Child {
 public:
  /// Starts `<executable> worker 3` with the channel as its descriptor 3. Throws Error{environment}.
  explicit Child(const std::filesystem::path& executable);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  Channel& channel() noexcept { return channel_; }
  pid_t pid() const noexcept { return pid_; }

  /// Tells how the process ended; one that still runs after `patience_ms` (at once when it timed out) is
  /// killed.
  WorkerLost end(bool timed_out, int patience_ms = 2000);

 private:
  pid_t pid_ = -1;
  int errors_ = -1;  ///< an anonymous file that is its stderr
  Channel channel_;
};

}  // namespace hone::tuner
