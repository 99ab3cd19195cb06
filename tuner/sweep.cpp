#include "tuner/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

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

/// One race at one point, now or on record.
struct Taken {
  db::Id point;
  std::vector<db::Measurement> measurements;
};

class Sweep {
 public:
  Sweep(db::Store& store, db::Evaluator& evaluator, const SweepTask& task, const RaceAll& race)
      : store_(store), evaluator_(evaluator), task_(task), race_(race) {
    summary_.element_type = task.element_type;
    summary_.layout = task.layout;
  }

  SweepSummary run() {
    const std::vector<std::int64_t> sizes = sweep_sizes(task_.range, task_.device.last_level_cache_bytes);
    if (!find_finalists(sizes)) {
      summary_.unfinished = "none of its problems has a winner";
      return summary_;
    }
    find_newest();
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
  db::Filter key() const {
    return {task_.family.name, task_.element_type, task_.regime, task_.run.device, {}};
  }

  /// The winners of the sizes tuned for, those tied with them, and the default; by id, as bands are
  /// derived.
  bool find_finalists(const std::vector<std::int64_t>& sizes) {
    std::set<db::Problem> tuned;
    for (const std::int64_t bytes : sizes) tuned.insert(problem_at(bytes));
    std::map<db::Id, std::int64_t> chosen, tied;
    for (const db::Winner& winner : store_.winners(key())) {
      if (!tuned.contains(winner.problem)) continue;
      ++chosen[winner.configuration.id()];
      const auto decision = store_.decision(winner.decision);
      if (!decision) continue;
      for (const db::Id& id : decision->tied)
        if (const auto measurement = store_.measurement(id); measurement) ++tied[measurement->configuration];
    }
    if (chosen.empty()) return false;
    std::set<db::Id> racing{default_configuration(task_.family, task_.device).id()};
    for (const auto& [id, count] : chosen) racing.insert(id);
    std::vector<std::pair<std::int64_t, db::Id>> often;
    for (const auto& [id, count] : tied) often.emplace_back(-count, id);
    std::sort(often.begin(), often.end());
    for (const auto& [count, id] : often)
      if (racing.size() < enough_finalists) racing.insert(id);
    for (const db::Id& id : racing) {
      const auto configuration = store_.configuration(id);
      if (configuration) places_.emplace(id, finalists_.size()), finalists_.push_back(*configuration);
    }
    return true;
  }

  /// The finished sweep that is the newest so far. What was recorded before its points is older than what it
  /// measured again, but for earlier takes of its own runs.
  void find_newest() {
    for (const db::Sweep& sweep : store_.sweeps(key())) {
      if (sweep.layout != task_.layout || (task_.own && !task_.own->contains(sweep.run))) continue;
      newest_ = sweep;
      for (const db::Id& id : sweep.points)
        if (const auto point = store_.sweep_point(id)) {
          since_us_ = std::min(since_us_.value_or(point->taken_us), point->taken_us);
          its_runs_.insert(point->run);
        }
      return;
    }
  }

  db::Problem problem_at(std::int64_t bytes) {
    return at_working_set(evaluator_, task_.family, task_.element_type, task_.layout, bytes);
  }

  /// Adds the next larger point, unless extents are so coarse that it is the one before.
  bool add(std::int64_t bytes) {
    if (!costs_.points.empty() &&
        working_set(evaluator_, task_.family, problem_at(bytes)) <= costs_.points.back().working_set)
      return true;
    auto point = measure(bytes);
    if (point) costs_.points.push_back(std::move(*point));
    return point.has_value();
  }

  std::optional<db::CostTable::Point> measure(std::int64_t bytes) {
    const db::Problem problem = problem_at(bytes);
    db::CostTable::Point costs{working_set(evaluator_, task_.family, problem), {}};
    costs.costs.resize(finalists_.size());
    std::vector<Candidate> candidates = candidates_at(problem);
    std::optional<Taken> taken = recorded(problem, candidates);
    if (!taken) {
      const auto rows = race_(problem, candidates);
      if (!rows) return std::nullopt;
      ++summary_.races;
      if (!rows->empty()) taken = record(problem, costs.working_set, *rows);
    }
    points_.erase(costs.working_set);
    if (!taken) return costs;
    points_.emplace(costs.working_set, taken->point);
    for (const db::Measurement& m : taken->measurements)
      if (db::is_fault(m.outcome)) refuse(m.configuration);
    for (const db::Measurement& m : taken->measurements) {
      if (m.outcome != db::Outcome::ok || refused_.contains(m.configuration)) continue;
      const std::size_t place = places_.at(m.configuration);
      costs.costs[place] = m.statistics;
      costs_.alignments[place] = std::max(costs_.alignments[place], m.alignment);
    }
    return costs;
  }

  void refuse(const db::Id& configuration) {
    refused_.insert(configuration);
    for (db::CostTable::Point& point : costs_.points) point.costs[places_.at(configuration)].reset();
  }

  /// The finalists that may run on a problem.
  std::vector<Candidate> candidates_at(const db::Problem& problem) {
    std::vector<Candidate> candidates;
    for (const db::Configuration& configuration : finalists_) {
      const Variant* variant = task_.family.variant(configuration.variant);
      if (variant == nullptr || !variant->runs_on(task_.device)) continue;
      // A manifest that has gained or lost a parameter since knows the configuration no more.
      if (!std::ranges::equal(configuration.parameters | std::views::keys,
                              variant->defaults | std::views::keys))
        continue;
      const auto planned =
          make_plan(evaluator_, task_.family, *variant, configuration.parameters, problem, task_.device);
      const auto* plan = std::get_if<Plan>(&planned);
      if (plan == nullptr) continue;
      Candidate candidate;
      candidate.configuration = configuration;
      candidate.id = configuration.id();
      if (refused_.contains(candidate.id)) continue;
      candidate.alignment = plan->alignment;
      candidate.source_hash = variant->source_hash;
      candidate.kept = true;
      candidates.push_back(std::move(candidate));
    }
    return candidates;
  }

  /// The next race of these very configurations at a problem that is on record, in the order they were run:
  /// one for each time that this sweep comes to it.
  std::optional<Taken> recorded(const db::Problem& problem, const std::vector<Candidate>& candidates) {
    if (task_.again) return std::nullopt;
    const auto [known, is_new] = records_.try_emplace(problem.id());
    if (is_new) known->second = read_records(problem, candidates);
    std::vector<Taken>& left = known->second;
    if (left.empty()) return std::nullopt;
    Taken next = std::move(left.back());
    left.pop_back();
    return next;
  }

  /// Newest first.
  std::vector<Taken> read_records(const db::Problem& problem, const std::vector<Candidate>& candidates) {
    std::set<std::pair<db::Id, db::Id>> wanted;
    for (const Candidate& c : candidates) wanted.emplace(c.id, c.source_hash);
    std::vector<Taken> found;
    for (const db::SweepPoint& point : store_.sweep_points(task_.run.device, problem.id(), task_.regime)) {
      if (task_.own && !task_.own->contains(point.run)) continue;
      if (since_us_ && point.taken_us < *since_us_ && !its_runs_.contains(point.run)) continue;
      Taken taken{point.id, {}};
      std::set<std::pair<db::Id, db::Id>> raced;
      for (const db::Id& id : point.measurements) {
        if (auto m = store_.measurement(id)) {
          raced.emplace(m->configuration, m->source_hash);
          taken.measurements.push_back(std::move(*m));
        }
      }
      if (raced == wanted) found.push_back(std::move(taken));
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

  Taken record(const db::Problem& problem, std::int64_t bytes, const std::vector<RaceRow>& rows) {
    db::SweepPoint point;
    point.run = task_.run.id;
    point.problem = problem.id();
    point.regime = task_.regime;
    point.working_set = bytes;
    point.taken_us = now_us();
    Taken taken{point.id, {}};
    store_.transaction([&] {
      store_.put(problem);
      for (const RaceRow& row : rows) {
        store_.put(row.candidate->configuration);
        store_.put(row.measurement);
        // Any of them may come to serve, when another one's source changes.
        if (row.measurement.outcome == db::Outcome::ok)
          put_object(store_, task_.family, task_.device, *row.candidate);
        point.measurements.push_back(row.measurement.id);
        taken.measurements.push_back(row.measurement);
      }
      store_.put(point);
    });
    return taken;
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
    db::Sweep sweep;
    sweep.run = task_.run.id;
    sweep.family = task_.family.name;
    sweep.element_type = task_.element_type;
    sweep.layout = task_.layout;
    sweep.regime = task_.regime;
    sweep.resolution = resolution();
    for (const auto& [bytes, point] : points_) sweep.points.push_back(point);
    sweep.refused.assign(refused_.begin(), refused_.end());
    sweep.swept_us = now_us();
    const bool known = newest_ && newest_->points == sweep.points && newest_->resolution == sweep.resolution;
    if (!known) store_.put(sweep);
    summary_.points = static_cast<std::int64_t>(points_.size());
    for (const db::Band& band : store_.bands(key()))
      if (band.layout == task_.layout) ++summary_.bands;
  }

  db::Store& store_;
  db::Evaluator& evaluator_;
  const SweepTask& task_;
  const RaceAll& race_;
  SweepSummary summary_;
  std::vector<db::Configuration> finalists_;
  std::map<db::Id, std::size_t> places_;  ///< of finalists, by configuration
  std::optional<db::Sweep> newest_;
  std::optional<std::int64_t> since_us_;
  std::set<db::Id> its_runs_;  ///< that measured points of `newest_`
  std::map<db::Id, std::vector<Taken>>
      records_;  ///< by problem: races on record not taken up yet, newest first
  db::CostTable costs_;
  std::map<std::int64_t, db::Id> points_;  ///< by working set
  std::set<db::Id> refused_;               ///< configurations that failed a check at any point
};

}  // namespace

SweepSummary sweep(db::Store& store, db::Evaluator& evaluator, const SweepTask& task, const RaceAll& race) {
  return Sweep(store, evaluator, task, race).run();
}

}  // namespace hone::tuner
