#include "tuner/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "runtime/plan.hpp"
#include "tuner/clock.hpp"
#include "tuner/device_run.hpp"
#include "tuner/problems.hpp"
#include "tuner/search.hpp"

namespace hone::tuner {

namespace {

/// One progress for the runs of several devices, each of which reports from its own thread.
class SharedObserver {
 public:
  explicit SharedObserver(Observer& observer) : observer_(observer) {}

  void progress(std::size_t run, const Progress& progress) {
    const std::lock_guard lock(mutex_);
    runs_[run] = progress;
    Progress all = progress;
    all.done = all.total = all.failed = 0;
    for (const auto& [index, one] : runs_) {
      all.done += one.done;
      all.total += one.total;
      all.failed += one.failed;
    }
    observer_.progress(all);
  }
  void note(const std::string& line) {
    const std::lock_guard lock(mutex_);
    observer_.note(line);
  }

 private:
  Observer& observer_;
  std::mutex mutex_;
  std::map<std::size_t, Progress> runs_;
};

class OneOfShared final : public Observer {
 public:
  OneOfShared(SharedObserver& all, std::size_t run) : all_(all), run_(run) {}
  void progress(const Progress& progress) override { all_.progress(run_, progress); }
  void note(const std::string& line) override { all_.note(line); }

 private:
  SharedObserver& all_;
  std::size_t run_;
};

/// Devices that are tuned at the same time: all GPUs; then the host, which measures alone.
std::vector<std::vector<DeviceInfo>> groups_of(const std::vector<DeviceInfo>& devices) {
  std::vector<DeviceInfo> gpus, hosts;
  for (const DeviceInfo& device : devices) (device.backend == Backend::host ? hosts : gpus).push_back(device);
  std::vector<std::vector<DeviceInfo>> groups;
  if (!gpus.empty()) groups.push_back(std::move(gpus));
  for (DeviceInfo& host : hosts) groups.push_back({std::move(host)});
  return groups;
}

void require_dimensions(const TuneSettings& settings, const Family& family) {
  if (settings.portfolio && family.dimensions.size() == 1)
    throw Error(
        ErrorCode::invalid,
        fmt::format("tune: {} has one dimension, whose problems are served by bands; give --sweep for them "
                    "instead of --portfolio",
                    family.name));
}

void add(TuneSummary& to, const TuneSummary& from) {
  to.problems.insert(to.problems.end(), from.problems.begin(), from.problems.end());
  to.sweeps.insert(to.sweeps.end(), from.sweeps.begin(), from.sweeps.end());
  to.portfolios.insert(to.portfolios.end(), from.portfolios.begin(), from.portfolios.end());
  to.budget_spent = to.budget_spent || from.budget_spent;
  Timing& sum = to.timing;
  const Timing& one = from.timing;
  sum.compile_wait += one.compile_wait;
  sum.look += one.look;
  sum.race += one.race;
  sum.prepare += one.prepare;
  sum.store += one.store;
  sum.restart += one.restart;
  sum.restarts += one.restarts;
  sum.compiled += one.compiled;
  sum.checked += one.checked;
  sum.launches_timed += one.launches_timed;
  sum.launches_saved += one.launches_saved;
}

}  // namespace

TuneSummary tune(const TuneSettings& settings, Observer& observer, const std::atomic<bool>& stop) {
  const auto start = Clock::now();
  const Family family = find_family(settings.family, settings.folders);
  require_trust(family, settings.trust);
  require_search(settings.search);
  db::Evaluator evaluator;
  const auto problems_on = [&](const DeviceInfo& device) {
    std::vector<db::Problem> problems =
        problems_of(evaluator, family, settings, device.last_level_cache_bytes);
    std::erase_if(problems, [&](const db::Problem& problem) { return is_empty(evaluator, family, problem); });
    return problems;
  };
  const std::vector<DeviceInfo> devices = choose_devices(settings.device);
  for (const DeviceInfo& device : devices) require_variant(family, device);
  require_dimensions(settings, family);
  bool any = false;
  for (const DeviceInfo& device : devices)
    any = !problems_on(device).empty() || any;  // says now what is wrong with them
  // Winners that there are, are in a database that is there; for them alone none is made.
  std::error_code ignored;
  const bool of_winners = !any && (settings.refresh || settings.portfolio);
  if (of_winners && !std::filesystem::exists(settings.database, ignored)) return {};
  db::Store::open(settings.database, db::Access::create);  // created, or refused, before anything starts

  TuneSummary summary;
  for (const db::Problem& problem : problems_of(evaluator, family, settings, 0))
    if (is_empty(evaluator, family, problem))
      observer.note(
          fmt::format("{} is empty: nothing is launched for it, and nothing is tuned", problem.text()));
  if (!any && !of_winners) return summary;
  SharedObserver shared(observer);
  CompilePool pool(settings.limits);
  const auto groups = groups_of(devices);
  std::size_t first = 0;
  std::exception_ptr failure;
  bool succeeded = false;
  for (std::size_t g = 0; g < groups.size() && !stop; ++g) {
    const std::vector<DeviceInfo>& group = groups[g];
    auto deadline = Clock::time_point::max();
    if (settings.budget.seconds) {  // what is left is shared among the groups
      const auto left = start + duration_of(*settings.budget.seconds) - Clock::now();
      deadline = Clock::now() + left / static_cast<std::int64_t>(groups.size() - g);
    }
    std::vector<TuneSummary> summaries(group.size());
    std::vector<std::exception_ptr> failures(group.size());
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto same = std::count_if(group.begin(), group.end(), [&](const DeviceInfo& other) {
        return other.record().id() == group[i].record().id();
      });
      threads.emplace_back([&, i, same, problems = problems_on(group[i])] {
        OneOfShared own(shared, first + i);
        std::unique_ptr<DeviceRun> run;
        try {
          run = std::make_unique<DeviceRun>(settings, family, group[i], same > 1, pool, own, stop);
          run->run(problems, deadline);
        } catch (const Interrupted&) {
          // before the device was open; nothing was measured
        } catch (...) {
          failures[i] = std::current_exception();
        }
        if (run != nullptr) summaries[i] = run->summary();
      });
    }
    threads.clear();  // joins
    first += group.size();
    for (std::size_t i = 0; i < group.size(); ++i) {
      add(summary, summaries[i]);
      if (!failures[i]) {
        succeeded = true;
        continue;
      }
      if (!failure) failure = failures[i];
      if (devices.size() == 1) continue;
      try {
        std::rethrow_exception(failures[i]);
      } catch (const std::exception& error) {
        observer.note(fmt::format("{} {} was not tuned to the end: {}", name(group[i].backend),
                                  group[i].index, error.what()));
      }
    }
  }
  // One device's failure costs that device alone; the caller hears of it all the same.
  if (failure && !succeeded) std::rethrow_exception(failure);
  summary.device_failed = failure != nullptr;
  summary.interrupted = stop;
  summary.timing.total = since(start);
  return summary;
}

}  // namespace hone::tuner
