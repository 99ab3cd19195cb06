// The coordinator's side of measuring: requests to a worker that may die of any of them. A lost worker is
// replaced, the problem set up and what had passed loaded again, and only the request in flight is the
// poorer.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tuner/child.hpp"
#include "tuner/tune.hpp"

namespace hone::tuner {

/// The run was told to stop while it waited for a worker.
struct Interrupted {};

class MeasureClient {
 public:
  /// Once `stop` is true, whatever waits for the worker ends it and throws Interrupted.
  MeasureClient(const Limits& limits, OpenRequest open, const std::atomic<bool>& stop);
  ~MeasureClient();

  /// Throws Error{environment} when the device cannot be opened at all.
  void open();
  ProblemReply set_problem(const ProblemRequest& request, double extra_seconds);

  // What was in flight when a worker was killed from outside is asked for again.

  LookReply look(const LookRequest& request);
  /// One sample of each slot; NaN for those that their worker was lost with, with the outcome under losses().
  std::vector<double> round(const RoundRequest& request);
  LookReply recheck(const RecheckRequest& request);
  void drop(const std::vector<std::uint32_t>& slots);

  /// Slots lost while they were timed, and how, since the problem was set.
  const std::map<std::uint32_t, WorkerLost>& losses() const noexcept { return losses_; }
  /// How the device was at the last sample of each slot; samples discarded are summed since the problem was
  /// set.
  const std::map<std::uint32_t, db::Condition>& conditions() const noexcept { return conditions_; }
  int restarts() const noexcept { return restarts_; }
  /// Time that replacing workers took, until the next could measure again.
  double restart_seconds() const noexcept { return restart_seconds_; }

 private:
  template <class Message>
  Channel::Frame call(Kind kind, Message& message, double seconds);
  Channel::Frame receive(double seconds);
  void restart();
  void replace();
  /// Whether the loss is nobody's fault here, and the slot has another chance.
  bool forgives(const WorkerLost& lost, std::uint32_t slot);
  double limit() const { return limits_.measure_seconds + extra_seconds_; }
  double problem_limit() const;

  Limits limits_;
  OpenRequest open_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<Child> child_;
  bool problem_set_ = false;
  ProblemRequest problem_;
  double extra_seconds_ = 0;
  std::map<std::uint32_t, LoadRequest> passed_;
  std::map<std::uint32_t, WorkerLost> losses_;
  std::map<std::uint32_t, int> forgiven_;  ///< by slot, how often
  std::map<std::uint32_t, db::Condition> conditions_;
  int restarts_ = -1;
  double restart_seconds_ = 0;
};

}  // namespace hone::tuner
