#include "tuner/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/plan.hpp"
#include "tuner/bisect.hpp"
#include "tuner/clock.hpp"
#include "tuner/problems.hpp"
#include "tuner/space.hpp"

namespace hone::tuner {

namespace {

/// All winners race: without one, regret would be held against less than the best that is known. Those tied
/// with winners, which make bands few, are added up to so many, the most often tied first.
constexpr std::size_t enough_finalists = 32;

/// Between each two sizes, unless they are near, their middle and two that are no round numbers: a
/// configuration that is good only where the last wave of blocks is full and no vector is cut short must not
/// have a band.
std::vector<std::int64_t> with_points_between(const std::vector<std::int64_t>& sizes) {
  constexpr double low_share = 0.29, high_share = 0.71;  // of the way, by ratio
  constexpr double near = 1.2;
  std::vector<std::int64_t> points;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    points.push_back(sizes[i]);
    if (i + 1 == sizes.size()) break;
    const auto low = static_cast<double>(sizes[i]);
    const double ratio = static_cast<double>(sizes[i + 1]) / low;
    if (ratio < near) continue;
    points.push_back(static_cast<std::int64_t>(low * std::pow(ratio, low_share)));
    points.push_back(round_middle(sizes[i], sizes[i + 1]));
    points.push_back(static_cast<std::int64_t>(low * std::pow(ratio, high_share)));
  }
  return points;
}

class Sweep {
 public:
  Sweep(db::Store& store, db::Evaluator& evaluator, const SweepTask& task, const RaceAll& race)
      : store_(store), evaluator_(evaluator), task_(task), finalists_(store, evaluator, task.races, race) {
    summary_.element_type = task.races.element_type;
    summary_.layout = task.races.layout;
  }

  SweepSummary run() {
    const DeviceInfo& device = task_.races.device;
    const std::vector<std::int64_t> sizes = sweep_sizes(task_.range, device.last_level_cache_bytes);
    std::set<db::Problem> tuned;
    for (const std::int64_t bytes : sizes) tuned.insert(problem_at(bytes));
    if (!finalists_.find(tuned, {.finalists = enough_finalists})) {
      summary_.unfinished = "none of its problems has a winner";
      return summary_;
    }
    costs_.alignments.assign(finalists_.size(), 1);
    for (const std::int64_t bytes : with_points_between(sizes)) {
      if (!add(bytes)) {
        summary_.unfinished = "it ended before every point was raced; the same command goes on";
        return summary_;
      }
    }
    BisectSettings settings;
    settings.resolution = task_.resolution;
    if (!bisect(costs_, settings, [&](std::int64_t bytes) { return measure(bytes); }))
      summary_.unfinished = "it ended before every edge was found; the same command goes on";
    store_sweep();
    return summary_;
  }

 private:
  db::Problem problem_at(std::int64_t bytes) {
    return at_working_set(evaluator_, task_.races.family, task_.races.element_type, task_.races.layout,
                          bytes);
  }

  /// Adds the next larger point, unless extents are so coarse that it is the one before.
  bool add(std::int64_t bytes) {
    if (!costs_.points.empty() &&
        working_set(evaluator_, task_.races.family, problem_at(bytes)) <= costs_.points.back().working_set)
      return true;
    auto point = measure(bytes);
    if (point) costs_.points.push_back(std::move(*point));
    return point.has_value();
  }

  std::optional<db::CostTable::Point> measure(std::int64_t bytes) {
    const db::Problem problem = problem_at(bytes);
    db::CostTable::Point costs{working_set(evaluator_, task_.races.family, problem), {}};
    costs.costs.resize(finalists_.size());
    const auto taken = finalists_.take(problem, costs.working_set);
    summary_.races = finalists_.races();
    if (!taken) return std::nullopt;
    points_.erase(costs.working_set);
    if (taken->measurements.empty()) return costs;
    points_.emplace(costs.working_set, taken->point);
    // One that failed a check at any point serves at none.
    for (const db::Id& refused : finalists_.refused())
      for (db::CostTable::Point& point : costs_.points) point.costs[finalists_.place(refused)].reset();
    for (const db::Measurement& m : taken->measurements) {
      if (m.outcome != db::Outcome::ok || finalists_.refused().contains(m.configuration)) continue;
      const std::size_t place = finalists_.place(m.configuration);
      costs.costs[place] = m.statistics;
      costs_.alignments[place] = std::max(costs_.alignments[place], m.alignment);
    }
    return costs;
  }

  /// How fine the edges are: as asked for, but where extents or time allowed no more.
  double resolution() const {
    double resolution = task_.resolution;
    for (const std::int64_t alignment : std::set(costs_.alignments.begin(), costs_.alignments.end()))
      for (const db::Gap& gap : db::cover(costs_, alignment).gaps)
        resolution = std::max(resolution, static_cast<double>(costs_.points[gap.above].working_set) /
                                              static_cast<double>(costs_.points[gap.below].working_set));
    return resolution;
  }

  void store_sweep() {
    std::vector<db::Id> points;
    for (const auto& [bytes, point] : points_) points.push_back(point);
    finalists_.finish(std::move(points), resolution());
    summary_.points = static_cast<std::int64_t>(points_.size());
    for (const db::Band& band : store_.bands(task_.races.key()))
      if (band.layout == task_.races.layout) ++summary_.bands;
  }

  db::Store& store_;
  db::Evaluator& evaluator_;
  const SweepTask& task_;
  FinalistRaces finalists_;
  SweepSummary summary_;
  db::CostTable costs_;
  std::map<std::int64_t, db::Id> points_;  ///< by working set
};

}  // namespace

SweepSummary sweep(db::Store& store, db::Evaluator& evaluator, const SweepTask& task, const RaceAll& race) {
  return Sweep(store, evaluator, task, race).run();
}

}  // namespace hone::tuner
