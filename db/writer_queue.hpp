// Who writes a file next. SQLite lets whoever looks at the right moment have its lock: a writer that commits
// and begins again at once takes it from all who wait, for as long as it likes. So hone's writers stand in a
// queue: only its head tries for SQLite's lock, and who has just written queues anew.
#pragma once

#include <chrono>
#include <filesystem>

namespace hone::db {

/// A place to queue from: one a connection. The queue is a lock on a byte that SQLite never uses, of the file
/// itself, so that the kernel gives it up for a process that is killed. Correctness does not rest on it.
class WriterQueue {
 public:
  explicit WriterQueue(const std::filesystem::path& file);
  ~WriterQueue();
  WriterQueue(const WriterQueue&) = delete;
  WriterQueue& operator=(const WriterQueue&) = delete;

  /// Waits to be the head; false: not until `deadline`. Where there are no such locks, everybody is.
  bool enter(std::chrono::steady_clock::time_point deadline);
  void leave() noexcept;

 private:
  int descriptor_ = -1;
};

/// Sleeps for 0.2 to 3 ms, as who waits for a lock does between two looks.
void wait_between_looks();

}  // namespace hone::db
