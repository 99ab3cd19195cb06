#include "tuner/tune.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/plan.hpp"
#include "tuner/device_run.hpp"
#include "tuner/problems.hpp"

namespace hone::tuner {

namespace {

/// What a refresh without shapes is about: every problem of the family that has a winner on `device`.
std::vector<db::Problem> tuned_problems(db::Store& store, const Family& family, const DeviceInfo& device,
                                        const TuneSettings& settings) {
  std::vector<db::Problem> result;
  const db::Filter filter{family.name, "", settings.regime, device.record().id(), {}};
  const std::vector<std::string> types = element_types_of(family, settings.element_types);
  for (db::Winner& winner : store.winners(filter))
    if (std::find(types.begin(), types.end(), winner.problem.element_type) != types.end())
      result.push_back(std::move(winner.problem));
  return result;
}

}  // namespace

TuneSummary tune(const TuneSettings& settings, Observer& observer, const std::atomic<bool>& stop) {
  const auto start = Clock::now();
  const Family family = find_family(settings.family, settings.folders);
  require_trust(family, settings.trust);
  make_search(settings.search, 0, {}, false, settings.seed);  // says now whether there is such a search
  db::Evaluator evaluator;
  const std::vector<db::Problem> problems = problems_of(evaluator, family, settings);
  const std::vector<DeviceInfo> devices = choose_devices(settings.device);
  for (const DeviceInfo& device : devices)
    if (family.default_variant(device) == nullptr)
      throw Error(ErrorCode::invalid,
                  fmt::format("family {} has no variant for {} {}; see `targets` in {}", family.name,
                              name(device.backend), device.architecture, family.file.string()));
  db::Store store = db::Store::open(settings.database, db::Access::create);

  TuneSummary summary;
  const auto deadline = settings.budget.seconds
                            ? start + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(*settings.budget.seconds))
                            : Clock::time_point::max();
  for (const DeviceInfo& device : devices) {
    if (stop) break;
    std::vector<db::Problem> here = problems;
    if (settings.refresh && problems.empty()) {
      TuneSettings tuned = settings;
      tuned.problems = tuned_problems(store, family, device, settings);
      here = problems_of(evaluator, family, tuned);
    }
    try {
      DeviceRun(settings, family, device, store, observer, stop, summary).run(here, deadline);
    } catch (const Interrupted&) {
      break;  // before the device was open; nothing was measured
    }
  }
  summary.interrupted = stop;
  summary.timing.total = std::chrono::duration<double>(Clock::now() - start).count();
  return summary;
}

}  // namespace hone::tuner
