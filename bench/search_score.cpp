// Replays recorded tuning spaces: how good a configuration each search finds with how many evaluations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <thread>

#include "bench/recorded_space.hpp"
#include "bench/rig.hpp"
#include "hone/error.hpp"
#include "tools/exit_code.hpp"
#include "tools/parse.hpp"
#include "tuner/search.hpp"

namespace hone::bench {
namespace {

constexpr std::size_t budgets[] = {10, 25, 50, 100, 200, 400};

/// One search's way through a space: the best so far after each evaluation, and the recorded seconds until
/// then.
struct Replay {
  std::vector<double> best;
  std::vector<double> seconds;
  std::vector<std::pair<std::size_t, std::optional<double>>> told;
  double seconds_of_search = 0;  ///< that choosing took

  double at(std::size_t evaluations) const {
    return best.empty() ? 1e300 : best[std::min(evaluations, best.size()) - 1];
  }
  /// Evaluations until `within` (1.05) of `optimum`; none when it did not get there.
  std::optional<std::size_t> until(double optimum, double within) const {
    for (std::size_t i = 0; i < best.size(); ++i)
      if (optimum / best[i] >= within) return i + 1;
    return std::nullopt;
  }
};

Replay replay(const RecordedSpace& recorded, tuner::SearchSettings settings, std::size_t evaluations) {
  tuner::SearchSpace space = recorded.space();
  const auto search = tuner::make_search(space, std::move(settings));
  Replay result;
  double best = std::numeric_limits<double>::infinity(), seconds = 0;
  while (result.best.size() < evaluations) {
    const auto start = std::chrono::steady_clock::now();
    const auto point = search->ask();
    result.seconds_of_search +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!point) break;
    const Recorded& outcome = recorded.recorded()[*point];
    search->tell(*point, outcome.nanoseconds);
    result.told.emplace_back(*point, outcome.nanoseconds);
    best = std::min(best, outcome.nanoseconds.value_or(best));
    seconds += outcome.seconds;
    result.best.push_back(best);
    result.seconds.push_back(seconds);
  }
  return result;
}

double quantile_of(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

struct Task {
  const RecordedSpace& space;
  const RecordedSpace* elsewhere;
  std::size_t elsewhere_evaluations;
  std::size_t seeds, evaluations;
  bool may_end;
};

/// What tuning `elsewhere` with that seed would have left in the database; all of it for 0 evaluations.
tuner::Elsewhere tuned_elsewhere(const Task& task, std::uint64_t seed) {
  tuner::Elsewhere result{task.elsewhere->name(), {}};
  const tuner::SearchSpace space = task.elsewhere->space();
  if (task.elsewhere_evaluations == 0) {
    for (std::size_t i = 0; i < space.size(); ++i)
      result.measured.emplace_back(space.levels(i), task.elsewhere->recorded()[i].nanoseconds);
    return result;
  }
  tuner::SearchSettings settings;
  settings.name = "guided";
  settings.may_end = false;
  settings.seed = seed;
  for (const auto& [point, time] : replay(*task.elsewhere, settings, task.elsewhere_evaluations).told)
    result.measured.emplace_back(space.levels(point), time);
  return result;
}

void score(const Task& task, const std::string& name) {
  std::vector<Replay> replays(task.seeds);
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t)
      threads.emplace_back([&] {
        for (std::size_t i = next++; i < task.seeds; i = next++) {
          tuner::SearchSettings settings;
          settings.name = name;
          settings.cut = true;
          settings.may_end = task.may_end;
          settings.seed = 1000 + i;
          if (task.elsewhere != nullptr) settings.elsewhere.push_back(tuned_elsewhere(task, settings.seed));
          replays[i] = replay(task.space, settings, task.evaluations);
        }
      });
  }
  const double optimum = task.space.best_nanoseconds();
  std::string line = fmt::format("{},{},{}", task.space.name(),
                                 task.elsewhere == nullptr ? "" : task.elsewhere->name(), name);
  for (const std::size_t budget : budgets) {
    if (budget > task.evaluations) {
      line += ",,";
      continue;
    }
    std::vector<double> fractions;
    for (const Replay& r : replays) fractions.push_back(optimum / r.at(budget));
    line += fmt::format(",{:.3f},{:.3f}", quantile_of(fractions, 0.5), quantile_of(fractions, 0.1));
  }
  for (const double within : {0.95, 0.99}) {
    std::vector<double> evaluations, seconds;
    for (const Replay& r : replays) {
      const auto until = r.until(optimum, within);
      evaluations.push_back(until ? static_cast<double>(*until) : INFINITY);
      seconds.push_back(until ? r.seconds[*until - 1] : INFINITY);
    }
    const double median = quantile_of(evaluations, 0.5), most = quantile_of(evaluations, 0.9);
    line += std::isinf(median) ? fmt::format(",>{},", task.evaluations) : fmt::format(",{},", median);
    line += std::isinf(most) ? fmt::format(">{},", task.evaluations) : fmt::format("{},", most);
    line += std::isinf(median) ? "" : fmt::format("{:.0f}", quantile_of(seconds, 0.5));
  }
  std::vector<double> ends, fractions;
  double milliseconds = 0;
  for (const Replay& r : replays) {
    ends.push_back(static_cast<double>(r.best.size()));
    fractions.push_back(optimum / r.at(r.best.size()));
    milliseconds += 1000 * r.seconds_of_search / static_cast<double>(r.best.size() * replays.size());
  }
  fmt::print("{},{},{},{:.3f},{:.3f},{:.1f}\n", line, quantile_of(ends, 0.5), quantile_of(ends, 0.9),
             quantile_of(fractions, 0.5), quantile_of(fractions, 0.1), milliseconds);
  std::fflush(stdout);
}

int score_all(const tools::Options& options) {
  if (options.positional().empty())
    throw Error(ErrorCode::invalid, "search_score: no recorded space; give files of Kernel Tuner's cache");
  const auto number = [&](const char* flag, const char* by_default, std::int64_t least) {
    return static_cast<std::size_t>(
        tools::parse_integer(std::string("--") + flag, options.get(flag, by_default), least));
  };
  std::vector<std::string> names = options.all("search");
  if (names.empty()) names = {"random", "local", "evolutionary", "auto"};
  std::optional<RecordedSpace> elsewhere;
  if (options.has("elsewhere")) elsewhere.emplace(options.get("elsewhere", ""));
  fmt::print("space,elsewhere,search");
  for (const std::size_t budget : budgets) fmt::print(",median_{0},p10_{0}", budget);
  fmt::print(
      ",to_5%,to_5%_p90,to_5%_seconds,to_1%,to_1%_p90,to_1%_seconds,evaluations,evaluations_p90,end_median,"
      "end_p10,choosing_ms\n");
  for (const std::string& file : options.positional()) {
    const RecordedSpace space(file);
    const Task task{space,
                    elsewhere ? &*elsewhere : nullptr,
                    number("elsewhere-evaluations", "400", 0),
                    number("seeds", "100", 1),
                    number("evaluations", "400", 1),
                    options.has("may-end")};
    for (const std::string& name : names) score(task, name);
  }
  return tools::exit_done;
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  hone::tools::Options options("bench_search_score", "FILE...", "bench_search_score convolution_A100.json.gz",
                               "Replays recorded tuning spaces. For each search: median and 10th percentile "
                               "over seeds of the best configuration's "
                               "fraction of the optimum after 10 to 400 evaluations; evaluations until "
                               "within 5 % and 1 % of it (median, 90th "
                               "percentile) and the recorded seconds of compiling, verifying and measuring "
                               "until then; how many evaluations there were, what was "
                               "found with them, and what choosing one took. CSV on stdout.");
  options.list("search", "S", "a search; may be given several times (random, local, evolutionary, auto)")
      .value("seeds", "N", "replays of each (100)")
      .value("evaluations", "N", "of each replay at most (400)")
      .flag("may-end", "let searches end by themselves")
      .value("elsewhere", "FILE", "what was measured on another device of the same space")
      .value("elsewhere-evaluations", "N", "how many of them: by a guided search, 0 for all (400)");
  return hone::bench::run(argc, argv, options, hone::bench::score_all);
}
