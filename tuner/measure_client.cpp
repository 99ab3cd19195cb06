#include "tuner/measure_client.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <cmath>
#include <limits>

#include "hone/error.hpp"
#include "tuner/clock.hpp"

namespace hone::tuner {

namespace {

constexpr double open_seconds = 60;    ///< a driver's first contact with a device can take many seconds
constexpr double large_seconds = 300;  ///< extents over 2^31: gigabytes of reference
constexpr double problem_steps = 6;    ///< a problem's set-up may take so many steps' time, beyond its size

}  // namespace

MeasureClient::MeasureClient(const Limits& limits, OpenRequest open, const std::atomic<bool>& stop)
    : limits_(limits), open_(std::move(open)), stop_(stop) {}

MeasureClient::~MeasureClient() = default;

Channel::Frame MeasureClient::receive(double seconds) {
  const auto until = Clock::now() + duration_of(seconds);
  while (true) {
    pollfd reply{child_->channel().socket(), POLLIN, 0};
    if (::poll(&reply, 1, 200) > 0) {
      auto frame = child_->channel().receive();
      if (!frame) throw child_->end(false);
      return *std::move(frame);
    }
    if (stop_) {
      child_->end(true);
      throw Interrupted{};
    }
    if (Clock::now() > until) {
      WorkerLost lost = child_->end(true);
      lost.why = fmt::format("took more than {:.3g} s", seconds);
      throw lost;
    }
  }
}

template <class Message>
Channel::Frame MeasureClient::call(Kind kind, Message& message, double seconds) {
  try {
    child_->channel().send(kind, message);
  } catch (const std::system_error&) {
    throw child_->end(false);
  }
  return receive(seconds);
}

double MeasureClient::problem_limit() const {
  return problem_steps * limits_.measure_seconds + extra_seconds_;
}

void MeasureClient::open() {
  ++restarts_;
  for (int killed = 0;; ++killed) {
    child_ = std::make_unique<Child>(limits_.worker);
    try {
      const auto reply = decode<Reply>(call(Kind::open, open_, open_seconds).payload);
      if (!reply.ok) throw Error(ErrorCode::environment, reply.why);
      return;
    } catch (const WorkerLost& lost) {
      if (!lost.killed || killed == second_chances)
        throw Error(ErrorCode::environment, "the measuring worker did not start: " + lost.why);
    }
  }
}

void MeasureClient::restart() {
  const auto start = Clock::now();
  for (int killed = 0;; ++killed) {
    open();
    try {
      replace();
      break;
    } catch (const WorkerLost& lost) {
      if (!lost.killed || killed == second_chances)
        throw Error(ErrorCode::device, "the measuring worker cannot be replaced: " + lost.why);
    }
  }
  restart_seconds_ += since(start);
}

/// Sets the problem and loads what had passed in a new worker.
void MeasureClient::replace() {
  if (!problem_set_) return;
  const auto reply = decode<ProblemReply>(call(Kind::problem, problem_, problem_limit()).payload);
  if (!reply.ok) throw Error(ErrorCode::device, reply.why);
  for (auto& [slot, request] : passed_) {
    const auto loaded = decode<Reply>(call(Kind::load, request, limit()).payload);
    if (!loaded.ok) throw Error(ErrorCode::device, loaded.why);
  }
}

bool MeasureClient::forgives(const WorkerLost& lost, std::uint32_t slot) {
  return lost.killed && forgiven_[slot]++ < second_chances;
}

ProblemReply MeasureClient::set_problem(const ProblemRequest& request, double extra_seconds) {
  passed_.clear();
  losses_.clear();
  forgiven_.clear();
  conditions_.clear();
  problem_ = request;
  extra_seconds_ = extra_seconds;
  problem_set_ = true;
  for (int lost_before = 0;; ++lost_before) {
    try {
      auto reply = decode<ProblemReply>(call(Kind::problem, problem_, problem_limit()).payload);
      problem_set_ = reply.ok;
      return reply;
    } catch (const WorkerLost& lost) {
      problem_set_ = false;
      open();
      if (lost_before == (lost.killed ? second_chances : 1))
        return {false, "the measuring worker was lost while it set the problem up: " + lost.why, 0};
      problem_set_ = true;
    }
  }
}

LookReply MeasureClient::look(const LookRequest& request) {
  const double seconds = limit() + (request.large ? large_seconds : 0);
  while (true) {
    LookReply reply;
    try {
      reply = decode<LookReply>(call(Kind::look, const_cast<LookRequest&>(request), seconds).payload);
      if (reply.outcome == db::Outcome::ok)
        passed_[request.slot] = {request.slot, request.configuration, request.object};
      if (reply.outcome == db::Outcome::crashed) {  // it answered, but its context is lost
        child_->end(true);
        restart();
      }
    } catch (const WorkerLost& lost) {
      restart();
      if (forgives(lost, request.slot)) continue;
      reply.outcome = lost.outcome;
      reply.reason = lost.why;
    }
    return reply;
  }
}

std::vector<double> MeasureClient::round(const RoundRequest& request) {
  std::vector<double> result;
  RoundRequest rest = request;
  while (result.size() < request.slots.size()) {
    const std::size_t done = result.size();
    rest.slots.assign(request.slots.begin() + static_cast<std::ptrdiff_t>(done), request.slots.end());
    rest.launches.assign(request.launches.begin() + static_cast<std::ptrdiff_t>(done),
                         request.launches.end());
    try {
      Channel::Frame frame = call(Kind::round, rest, limit());
      while (true) {
        const auto sample = decode<Sample>(frame.payload);
        db::Condition& condition = conditions_[sample.slot];
        const std::int64_t discarded = condition.discarded + sample.condition.discarded;
        condition = sample.condition;
        condition.discarded = discarded;
        result.push_back(sample.nanoseconds);
        if (result.size() == request.slots.size()) break;
        frame = receive(limit());
      }
    } catch (const WorkerLost& lost) {
      const std::uint32_t slot = request.slots[result.size()];
      if (!forgives(lost, slot)) {
        losses_.emplace(slot, lost);
        passed_.erase(slot);
        result.push_back(std::numeric_limits<double>::quiet_NaN());
      }
      restart();
    }
  }
  return result;
}

LookReply MeasureClient::recheck(const RecheckRequest& request) {
  const double seconds = limit() + (request.large ? large_seconds : 0);
  while (true) {
    LookReply reply;
    try {
      reply = decode<LookReply>(call(Kind::recheck, const_cast<RecheckRequest&>(request), seconds).payload);
      if (reply.outcome != db::Outcome::crashed) return reply;
      child_->end(true);
    } catch (const WorkerLost& lost) {
      if (forgives(lost, request.slot)) {
        restart();
        continue;
      }
      reply.outcome = lost.outcome;
      reply.reason = lost.why;
    }
    passed_.erase(request.slot);
    restart();
    return reply;
  }
}

void MeasureClient::drop(const std::vector<std::uint32_t>& slots) {
  for (const std::uint32_t slot : slots) passed_.erase(slot);
  DropRequest request{slots};
  try {
    child_->channel().send(Kind::drop, request);
  } catch (const std::system_error&) {
    child_->end(false);
    restart();
  }
}

}  // namespace hone::tuner
