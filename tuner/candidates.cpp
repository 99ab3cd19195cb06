#include "tuner/candidates.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "tuner/class_best.hpp"
#include "tuner/space.hpp"

namespace hone::tuner {

namespace {

/// Configurations this much slower than the best of their class in an earlier run are not looked at again.
constexpr double known_slow = 1.5;

}  // namespace

std::vector<Candidate> candidates_of(db::Evaluator& evaluator, const Family& family, const DeviceInfo& device,
                                     const db::Problem& problem, const std::vector<db::Winner>& incumbents) {
  const db::Id by_default = default_configuration(family, device).id();
  std::set<db::Id> kept{by_default};
  for (const LadderPoint& point : family.ladder)
    if (const auto configuration = ladder_configuration(family, point, device))
      kept.insert(configuration->id());
  for (const db::Winner& winner : incumbents) kept.insert(winner.configuration.id());

  std::vector<Candidate> result;
  for (Point& point : space(evaluator, family, problem, device)) {
    Candidate candidate;
    candidate.id = point.configuration.id();
    candidate.alignment = point.alignment;
    candidate.source_hash = family.variant(point.configuration.variant)->source_hash;
    candidate.kept = kept.contains(candidate.id);
    candidate.by_default = candidate.id == by_default;
    candidate.excess = std::move(point.excess);
    candidate.configuration = std::move(point.configuration);
    result.push_back(std::move(candidate));
  }
  const auto first =
      std::find_if(result.begin(), result.end(), [](const Candidate& c) { return c.by_default; });
  if (first != result.end()) std::rotate(result.begin(), first, std::next(first));
  return result;
}

void keep_best_of_ladder(const Family& family, std::vector<Candidate>& candidates) {
  for (const LadderPoint& point : family.ladder) {
    if (point.best_of.empty()) continue;
    Candidate* best = nullptr;
    for (Candidate& c : candidates)
      if (c.outcome == db::Outcome::ok && (best == nullptr || c.look.minimum < best->look.minimum) &&
          point.has(c.configuration))
        best = &c;
    if (best != nullptr) best->kept = true;
  }
}

void settle_known(std::vector<Candidate>& candidates, const std::vector<db::Measurement>& known,
                  bool decided) {
  std::map<db::Id, const db::Measurement*> newest;
  std::map<db::Id, ClassBest> best_of_run;
  for (const db::Measurement& m : known) {
    if (m.statistics.n > 0) best_of_run[m.run].add(m.alignment, m.statistics.minimum);
    newest.try_emplace(m.configuration, &m);
  }
  for (Candidate& candidate : candidates) {
    const auto at = newest.find(candidate.id);
    if (at == newest.end() || at->second->source_hash != candidate.source_hash) continue;
    const db::Measurement& m = *at->second;
    const bool passed = m.outcome == db::Outcome::ok || m.outcome == db::Outcome::raced_out;
    const bool slow = passed && m.statistics.minimum > known_slow * best_of_run[m.run].of(m.alignment);
    candidate.settled = !passed || (slow && !candidate.kept) || decided;
    candidate.passed_before = passed && !candidate.settled;
  }
}

}  // namespace hone::tuner
