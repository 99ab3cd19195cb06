// The host device's threads: they take ranges of a launch's blocks until none is left.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kernel_templates/prelude/host_abi.h"
#include "runtime/host_fibres.hpp"

namespace hone {

class HostPool {
 public:
  /// `threads` in all, the caller's included. `shared_bytes`: dynamic shared memory a block may ask for.
  HostPool(unsigned threads, std::size_t shared_bytes);
  ~HostPool();
  HostPool(const HostPool&) = delete;
  HostPool& operator=(const HostPool&) = delete;

  /// Runs every block of a launch and returns when all are done. Callers queue.
  void run(hone_host_entry entry, const hone_host_launch& launch, void* const* parameters);

 private:
  class Worker;
  void serve(Worker& worker);
  void take_blocks(Worker& worker);

  std::vector<std::unique_ptr<Worker>> workers_;  ///< the first is the caller's
  std::vector<std::thread> threads_;

  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  std::uint64_t round_ = 0;
  unsigned helpers_ = 0;  ///< threads that this round still asks for
  unsigned working_ = 0;  ///< threads asked for that are not done yet
  bool stop_ = false;

  // The round's work: written before the round starts, read by its workers.
  hone_host_entry entry_ = nullptr;
  hone_host_launch launch_{};
  void* const* parameters_ = nullptr;
  std::uint64_t blocks_ = 0;
  std::uint64_t grain_ = 1;
  std::atomic<std::uint64_t> next_{0};
  std::exception_ptr failure_;
};

}  // namespace hone
