// Worker processes that compile: hipRTC aborts its process on an architecture it does not know, and NVRTC
// serialises within one. Jobs are queued with tags; results come back in the order they are done.
#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tuner/child.hpp"
#include "tuner/tune.hpp"

namespace hone::tuner {

/// The job that builds a configuration of `family` for a device, an element type and a layout.
CompileJob compile_job(const Family& family, const DeviceInfo& device, const db::Configuration& configuration,
                       const std::string& element_type, const std::string& layout);

struct Compiled {
  std::uint64_t tag = 0;
  db::Outcome outcome = db::Outcome::ok;  ///< `ok`, `compile_failed`, `timed_out`, `crashed`
  std::string reason;
  Bytes object;
  Resources resources;
  std::string compiler;
  db::Id build_key;
};

/// Used by one thread. Workers start when jobs need them and serve until the pool is destroyed.
class CompilePool {
 public:
  explicit CompilePool(const Limits& limits);
  ~CompilePool();

  void submit(std::uint64_t tag, CompileJob job);
  /// Drops the jobs that no worker has begun.
  void forget_queued();

  std::size_t workers() const noexcept { return jobs_; }
  std::size_t queued() const noexcept { return queue_.size(); }
  bool idle() const noexcept { return queue_.empty() && busy_ == 0; }

  /// Results so far, without waiting.
  std::vector<Compiled> take();
  /// Waits until there is a result, everything is done, or `seconds` have passed.
  std::vector<Compiled> wait(double seconds);

  /// For callers that wait for something else too: descriptors to poll, and what to do when one is ready or a
  /// second has passed.
  void add_descriptors(std::vector<pollfd>& to) const;
  void pump();

 private:
  struct Job;
  struct Worker;
  void give_work();

  Limits limits_;
  std::size_t jobs_;
  std::size_t busy_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  struct Job {
    std::uint64_t tag = 0;
    CompileJob job;
    bool again = false;  ///< its first worker was killed from outside
  };
  std::deque<Job> queue_;
  std::vector<Compiled> done_;
};

}  // namespace hone::tuner
