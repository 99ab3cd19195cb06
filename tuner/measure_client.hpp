// The coordinator's side of measuring: requests to a worker that may die of any of them. A lost worker is
// replaced, the problem set up and what had passed loaded again, and only the request in flight is the
// poorer.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tuner/child.hpp"
#include "tuner/compile_pool.hpp"

namespace hone::tuner {

/// The run was told to stop while it waited for a worker.
struct Interrupted {};

class MeasureClient {
 public:
  /// `pool` (may be null) is served while a reply is waited for, so that compilers never idle for it.
  /// Once `stop` is true, whatever waits for the worker ends it and throws Interrupted.
  MeasureClient(const Limits& limits, OpenRequest open, CompilePool* pool, const std::atomic<bool>& stop);
  ~MeasureClient();

  /// Throws Error{environment} when the device cannot be opened at all.
  void open();
  ProblemReply set_problem(const ProblemRequest& request, double extra_seconds);

  /// A worker that was killed from outside gets a second try.
  LookReply look(const LookRequest& request);
  /// One sample of each slot; NaN for those whose worker was lost, with the outcome under losses().
  std::vector<double> round(const RoundRequest& request);
  LookReply recheck(const RecheckRequest& request);
  void drop(const std::vector<std::uint32_t>& slots);

  /// Slots lost while they were timed, and how, since the problem was set.
  const std::map<std::uint32_t, WorkerLost>& losses() const noexcept { return losses_; }
  /// Clock and throttling of the last sample of each slot.
  const std::map<std::uint32_t, Sample>& last_samples() const noexcept { return last_; }
  int restarts() const noexcept { return restarts_; }

 private:
  template <class Message>
  Channel::Frame call(Kind kind, Message& message, double seconds);
  Channel::Frame receive(double seconds);
  void restart();
  double limit() const { return limits_.measure_seconds + extra_seconds_; }

  Limits limits_;
  OpenRequest open_;
  CompilePool* pool_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<Child> child_;
  bool problem_set_ = false;
  ProblemRequest problem_;
  double extra_seconds_ = 0;
  std::map<std::uint32_t, LoadRequest> passed_;
  std::map<std::uint32_t, WorkerLost> losses_;
  std::map<std::uint32_t, Sample> last_;
  int restarts_ = -1;
};

}  // namespace hone::tuner
