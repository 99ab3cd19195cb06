#include "tuner/finalist_races.hpp"

#include <algorithm>

#include "runtime/plan.hpp"
#include "tuner/clock.hpp"
#include "tuner/space.hpp"

namespace hone::tuner {

namespace {

/// The `most` that won most often, of equally frequent ones by id.
std::vector<db::Id> most_frequent(const std::map<db::Id, std::int64_t>& counts, std::size_t most) {
  std::vector<std::pair<std::int64_t, db::Id>> often;
  for (const auto& [id, count] : counts) often.emplace_back(-count, id);
  std::sort(often.begin(), often.end());
  std::vector<db::Id> first;
  for (const auto& [count, id] : often)
    if (first.size() < most) first.push_back(id);
  return first;
}

}  // namespace

/// By id, as bands are derived.
bool FinalistRaces::find(const std::set<db::Problem>& tuned, const Enough& enough) {
  std::map<std::int64_t, std::map<db::Id, std::int64_t>> chosen;  // by alignment class
  std::map<db::Id, std::int64_t> tied;
  for (const db::Winner& winner : store_.winners(task_.key())) {
    if (!tuned.contains(winner.problem)) continue;
    ++chosen[winner.alignment][winner.configuration.id()];
    const auto decision = store_.decision(winner.decision);
    if (!decision) continue;
    for (const db::Id& id : decision->tied)
      if (const auto measurement = store_.measurement(id); measurement) ++tied[measurement->configuration];
  }
  if (chosen.empty()) return false;
  std::set<db::Id> racing{default_configuration(task_.family, task_.device).id()};
  for (const auto& [alignment, winners] : chosen) {
    const bool widest = alignment == chosen.rbegin()->first;
    for (const db::Id& id : most_frequent(winners, widest ? winners.size() : enough.narrow))
      racing.insert(id);
  }
  for (const db::Id& id : most_frequent(tied, tied.size()))
    if (racing.size() < enough.finalists) racing.insert(id);
  for (const db::Id& id : racing) {
    const auto configuration = store_.configuration(id);
    if (configuration) places_.emplace(id, finalists_.size()), finalists_.push_back(*configuration);
  }
  find_newest();
  return true;
}

/// The finished sweep that is the newest so far. What was recorded before its points is older than what it
/// measured again, but for earlier takes of its own runs.
void FinalistRaces::find_newest() {
  for (const db::Sweep& sweep : store_.sweeps(task_.key())) {
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

std::optional<FinalistRaces::Taken> FinalistRaces::take(const db::Problem& problem,
                                                        std::int64_t working_set) {
  std::vector<Candidate> candidates = candidates_at(problem);
  std::optional<Taken> taken = recorded(problem, candidates);
  if (!taken) {
    const auto rows = race_(problem, candidates);
    if (!rows) return std::nullopt;
    ++raced_;
    taken = rows->empty() ? Taken{} : record(problem, working_set, *rows);
  }
  for (const db::Measurement& m : taken->measurements)
    if (db::is_fault(m.outcome)) refused_.insert(m.configuration);
  return taken;
}

/// The finalists that may run on a problem.
std::vector<Candidate> FinalistRaces::candidates_at(const db::Problem& problem) {
  std::vector<Candidate> candidates;
  for (const db::Configuration& configuration : finalists_) {
    const Variant* variant = task_.family.variant(configuration.variant);
    if (variant == nullptr || !variant->runs_on(task_.device)) continue;
    // A manifest that has gained or lost a parameter since knows the configuration no more.
    constexpr auto parameter_name = &db::Values::value_type::first;
    if (!std::ranges::equal(configuration.parameters, variant->defaults, {}, parameter_name, parameter_name))
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
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

/// The next race of these very configurations at a problem that is on record, in the order they were run: one
/// for each time that it is asked for.
std::optional<FinalistRaces::Taken> FinalistRaces::recorded(const db::Problem& problem,
                                                            const std::vector<Candidate>& candidates) {
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
std::vector<FinalistRaces::Taken> FinalistRaces::read_records(const db::Problem& problem,
                                                              const std::vector<Candidate>& candidates) {
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

FinalistRaces::Taken FinalistRaces::record(const db::Problem& problem, std::int64_t working_set,
                                           const std::vector<RaceRow>& rows) {
  db::SweepPoint point;
  point.run = task_.run.id;
  point.problem = problem.id();
  point.regime = task_.regime;
  point.working_set = working_set;
  point.taken_us = now_us();
  Taken taken{point.id, {}};
  store_.transaction([&] {
    store_.put(problem);
    for (const RaceRow& row : rows) {
      store_.put(row.candidate->configuration);
      store_.put(row.measurement);
      // Any of them may come to serve, when another one's source changes.
      if (row.measurement.outcome == db::Outcome::ok || row.measurement.outcome == db::Outcome::raced_out)
        put_object(store_, task_.family, task_.device, *row.candidate);
      point.measurements.push_back(row.measurement.id);
      taken.measurements.push_back(row.measurement);
    }
    store_.put(point);
  });
  return taken;
}

void FinalistRaces::finish(std::vector<db::Id> points, double resolution) {
  db::Sweep sweep;
  sweep.run = task_.run.id;
  sweep.family = task_.family.name;
  sweep.element_type = task_.element_type;
  sweep.layout = task_.layout;
  sweep.regime = task_.regime;
  sweep.resolution = resolution;
  sweep.points = std::move(points);
  sweep.refused.assign(refused_.begin(), refused_.end());
  sweep.swept_us = now_us();
  const bool known = newest_ && newest_->points == sweep.points && newest_->resolution == sweep.resolution;
  if (!known) store_.put(sweep);
}

}  // namespace hone::tuner
