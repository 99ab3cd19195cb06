#include "bench/rig.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

#include "db/error.hpp"
#include "runtime/plan.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/terminal.hpp"
#include "tuner/measuring.hpp"
#include "tuner/statistics.hpp"

namespace hone::bench {

namespace {

/// The hone command lies beside the benchmarks.
tuner::Limits limits() {
  tuner::Limits result;
  result.worker = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "hone";
  return result;
}

}  // namespace

void Conditions::add(const db::Condition& condition) {
  if (condition.clock_mhz > 0) {
    lowest_mhz = lowest_mhz == 0 ? condition.clock_mhz : std::min(lowest_mhz, condition.clock_mhz);
    highest_mhz = std::max(highest_mhz, condition.clock_mhz);
  }
  hottest_c = std::max(hottest_c, condition.temperature_c);
  throttled += condition.throttled ? 1 : 0;
  discarded += condition.discarded;
}

std::string Conditions::text() const {
  if (highest_mhz == 0 && hottest_c == 0) return "clock and temperature not told";
  return fmt::format("clock {} to {} MHz, up to {} degrees, {} throttled samples kept, {} thrown away",
                     lowest_mhz, highest_mhz, hottest_c, throttled, discarded);
}

void add_rig_flags(tools::Options& options) {
  tools::add_device_flag(options);
  options.value("family", "F", "the family (relu)");
  tools::add_template_flags(options);
}

Rig::Rig(const tools::Options& options)
    : family_(find_family(options.get("family", "relu"), tools::template_folders_of(options))),
      device_(choose_devices(options.get("device", "")).front()),
      pool_(limits()),
      queue_(pool_) {
  client_ = std::make_unique<tuner::MeasureClient>(
      limits(), tuner::open_request(family_, device_, queue_, nullptr), stop_);
  client_->open();
}

Rig::~Rig() = default;

void Rig::set_problem(const db::Problem& problem) {
  before_ = conditions();
  problem_ = problem;
  const double gigabytes = static_cast<double>(working_set(evaluator_, family_, problem)) / 1e9;
  const auto reply = client_->set_problem({problem, db::Regime::steady}, 30 * gigabytes);
  if (!reply.ok) throw Error(ErrorCode::device, reply.why);
}

std::vector<Tried> Rig::look(const std::vector<db::Configuration>& configurations) {
  for (std::size_t i = 0; i < configurations.size(); ++i)
    queue_.submit(
        i, tuner::compile_job(family_, device_, configurations[i], problem_.element_type, problem_.layout));
  std::vector<std::shared_ptr<const tuner::Compiled>> compiled(configurations.size());
  while (!queue_.idle())
    for (auto& finished : queue_.wait(1)) compiled[finished.tag] = std::move(finished.compiled);
  for (auto& finished : queue_.take()) compiled[finished.tag] = std::move(finished.compiled);

  std::vector<Tried> result;
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    Tried tried;
    tried.configuration = configurations[i];
    tried.outcome = compiled[i]->outcome;
    tried.reason = compiled[i]->reason;
    if (tried.outcome == db::Outcome::ok) {
      tuner::LookRequest request;
      request.slot = static_cast<std::uint32_t>(i);
      request.configuration = configurations[i];
      request.object = compiled[i]->object;
      request.extents = false;
      const auto reply = client_->look(request);
      tried.outcome = reply.outcome;
      tried.reason = reply.reason;
      tried.alignment = reply.alignment;
      tried.look = tuner::summarise(reply.samples);
      tried.launches = reply.launches * tried.look.n;
    }
    result.push_back(std::move(tried));
  }
  return result;
}

tuner::Take Rig::take() {
  return [this, round = 0U](std::span<const std::uint32_t> slots, std::span<const std::uint32_t> launches,
                            std::uint32_t warm_ups) mutable {
    return client_->round(
        {{slots.begin(), slots.end()}, {launches.begin(), launches.end()}, warm_ups, round++});
  };
}

std::vector<db::Statistics> Rig::measure_fully(const std::vector<Tried>& tried,
                                               const std::vector<std::uint32_t>& slots, std::uint64_t seed,
                                               std::int64_t& launches) {
  std::vector<tuner::Looked> looked;
  for (const std::uint32_t slot : slots)
    looked.push_back({slot, tried[slot].alignment, true, tried[slot].look});
  tuner::RaceSettings settings;
  settings.seed = seed;
  // So that each gets the launches that a finalist of an ordinary race gets.
  settings.final_seconds *= std::max(1.0, static_cast<double>(slots.size()) / settings.finalists);
  settings.finalists = static_cast<int>(slots.size());
  std::vector<tuner::Entrant> entrants = tuner::after_looks(looked, settings).entrants;
  tuner::race(
      entrants, settings, take(), [] { return false; }, launches);
  std::vector<db::Statistics> result;
  for (const tuner::Entrant& entrant : entrants) result.push_back(tuner::summarise(entrant.final));
  return result;
}

Conditions Rig::conditions() const {
  Conditions all = before_;
  for (const auto& [slot, condition] : client_->conditions()) all.add(condition);
  return all;
}

int run(int argc, char** argv, tools::Options& options, int (*body)(const tools::Options& options)) {
  try {
    if (!options.parse({argv + 1, argv + argc}, 0, 64)) return tools::exit_done;
    return body(options);
  } catch (const Error& error) {
    tools::write_error(fmt::format("{}: {}", argv[0], error.what()));
    return tools::exit_failed;
  } catch (const db::Error& error) {
    tools::write_error(fmt::format("{}: {}", argv[0], error.what()));
    return tools::exit_failed;
  }
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace hone::bench
