// Whether this process still is the one that something was made in. A forked child has its parent's memory,
// but neither its threads nor, on GPUs, its driver; and a lock that another thread held stays locked there.
#pragma once

#include <atomic>

namespace hone {

class Process {
 public:
  Process();
  /// Costs one load: no system call.
  bool forked() const noexcept { return forks_.load(std::memory_order_relaxed) != born_; }
  /// Throws Error{environment} in a forked child.
  void require_same() const {
    if (forked()) refuse();
  }

 private:
  [[noreturn]] static void refuse();
  static std::atomic<unsigned> forks_;  ///< that lie between the first Process and here
  unsigned born_;
};

}  // namespace hone
