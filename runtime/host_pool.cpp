#include "runtime/host_pool.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hone {
namespace {

constexpr std::size_t shared_alignment = 64;

std::size_t round_up(std::size_t bytes) {
  return (bytes + shared_alignment - 1) / shared_alignment * shared_alignment;
}

/// Non-temporal stores are not ordered by the mutex that ends a round.
void finish_streaming_stores() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace

/// One thread's shared memory and fibres.
class HostPool::Worker {
 public:
  explicit Worker(std::size_t shared_bytes)
      : bytes_(round_up(shared_bytes)), memory_(std::aligned_alloc(shared_alignment, bytes_)) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }
  ~Worker() { std::free(memory_); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// The memory's last bytes, so that what runs past them leaves the allocation and a sanitizer sees it.
  hone_host_worker lend(std::size_t dynamic_shared_bytes) {
    hone_host_worker lent{};
    lent.dynamic_shared = static_cast<char*>(memory_) + bytes_ - round_up(dynamic_shared_bytes);
    lent.fibres = &fibres_;
    lent.run_lanes = [](void* fibres, const unsigned block[3], hone_host_lane lane, void* context) {
      static_cast<HostFibres*>(fibres)->run(block, lane, context);
    };
    lent.barrier = [](void* fibres) { static_cast<HostFibres*>(fibres)->barrier(); };
    return lent;
  }

 private:
  std::size_t bytes_;
  void* memory_;
  HostFibres fibres_;
};

HostPool::HostPool(unsigned threads, std::size_t shared_bytes) {
  threads = std::max(threads, 1U);
  for (unsigned i = 0; i < threads; ++i) workers_.push_back(std::make_unique<Worker>(shared_bytes));
  try {
    for (unsigned i = 1; i < threads; ++i) {
      threads_.emplace_back([this, i] { serve(*workers_[i]); });
    }
  } catch (...) {
    // A process short of threads makes do with those it got.
    if (threads_.empty()) workers_.resize(1);
  }
}

HostPool::~HostPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void HostPool::serve(Worker& worker) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return stop_ || (round_ != seen && helpers_ > 0); });
    if (stop_) return;
    seen = round_;
    --helpers_;
    lock.unlock();
    take_blocks(worker);
    lock.lock();
    if (--working_ == 0) done_.notify_one();
  }
}

void HostPool::take_blocks(Worker& worker) {
  const hone_host_worker lent = worker.lend(launch_.dynamic_shared_bytes);
  try {
    for (;;) {
      const std::uint64_t first = next_.fetch_add(grain_, std::memory_order_relaxed);
      if (first >= blocks_) break;
      entry_(&launch_, &lent, parameters_, first, std::min(first + grain_, blocks_));
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  finish_streaming_stores();
}

void HostPool::run(hone_host_entry entry, const hone_host_launch& launch, void* const* parameters) {
  const std::lock_guard caller(callers_);
  entry_ = entry;
  launch_ = launch;
  parameters_ = parameters;
  blocks_ = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  // Shares small enough to even out what other processes take, large enough to cost nothing.
  grain_ = std::max<std::uint64_t>(1, blocks_ / (16 * workers_.size()));
  next_.store(0, std::memory_order_relaxed);
  failure_ = nullptr;
  const auto ranges = (blocks_ + grain_ - 1) / grain_;
  const auto helpers = static_cast<unsigned>(std::min<std::uint64_t>(threads_.size(), ranges - 1));
  if (helpers > 0) {
    const std::lock_guard lock(mutex_);
    ++round_;
    helpers_ = helpers;
    working_ = helpers;
  }
  for (unsigned i = 0; i < helpers; ++i) start_.notify_one();
  take_blocks(*workers_.front());
  std::unique_lock lock(mutex_);
  // Nothing is left for helpers that have not woken yet.
  working_ -= helpers_;
  helpers_ = 0;
  done_.wait(lock, [&] { return working_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace hone
