// Worker processes that compile: hipRTC aborts its process on an architecture it does not know, and NVRTC
// serialises within one. One pool serves any number of users, each through a queue of its own; a thread of
// the pool's gives work to idle workers, so that none waits while its users are busy with something else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "runtime/compiler.hpp"
#include "runtime/family.hpp"
#include "tuner/message.hpp"
#include "tuner/tune.hpp"

namespace hone::tuner {

/// The job that builds a configuration of `family` for a device, an element type and a layout.
CompileJob compile_job(const Family& family, const DeviceInfo& device, const db::Configuration& configuration,
                       const std::string& element_type, const std::string& layout);

struct Compiled {
  db::Outcome outcome = db::Outcome::ok;  ///< `ok`, `compile_failed`, `timed_out`, `crashed`
  std::string reason;
  Bytes object;
  Resources resources;
  std::string compiler;
  db::Id build_key;
};

/// A job that is done. Users that ask for the same job while one of them still holds its result share that.
struct FinishedJob {
  std::uint64_t tag = 0;
  std::shared_ptr<const Compiled> compiled;
};

/// Thread-safe. Workers start when jobs need them and end with the pool, which must outlive its queues.
class CompilePool {
 public:
  explicit CompilePool(const Limits& limits);
  ~CompilePool();

  std::size_t workers() const noexcept;

 private:
  friend class CompileQueue;
  struct State;
  std::unique_ptr<State> state_;
};

struct JobsOfQueue;

/// One user's jobs in a pool, in the order submitted; users take turns. Used by one thread. What it still has
/// in the pool is dropped when it is destroyed.
class CompileQueue {
 public:
  explicit CompileQueue(CompilePool& pool);
  CompileQueue(const CompileQueue&) = delete;
  CompileQueue& operator=(const CompileQueue&) = delete;
  ~CompileQueue();

  void submit(std::uint64_t tag, CompileJob job);
  /// Drops the jobs that no worker has begun, and returns their tags.
  std::vector<std::uint64_t> forget_queued();

  std::size_t workers() const noexcept { return pool_.workers(); }
  /// Jobs that no worker has begun.
  std::size_t queued() const;
  /// Whether every job is done and taken.
  bool idle() const;

  /// Results so far, in the order they were done. Throws Error{environment} when there is no usable compiler
  /// or no worker can be started.
  std::vector<FinishedJob> take();
  /// Waits until there is a result, everything is done, or `seconds` have passed.
  std::vector<FinishedJob> wait(double seconds);

 private:
  CompilePool& pool_;
  std::shared_ptr<JobsOfQueue> jobs_;
};

}  // namespace hone::tuner
