#include "tuner/candidates.hpp"

#include <algorithm>
#include <map>

#include "tuner/class_best.hpp"

namespace hone::tuner {

namespace {

/// Configurations this much slower than the best of their class in an earlier run are not looked at again.
constexpr double known_slow = 1.5;

}  // namespace

CandidateSource::CandidateSource(db::Evaluator& evaluator, const Family& family, const DeviceInfo& device,
                                 const db::Problem& problem, const std::vector<db::Winner>& incumbents)
    : evaluator_(evaluator), family_(family), device_(device), problem_(problem) {
  always_.push_back(default_configuration(family, device));
  by_default_ = always_.front().id();
  for (const LadderPoint& point : family.ladder)
    if (auto configuration = ladder_configuration(family, point, device))
      always_.push_back(std::move(*configuration));
  for (const db::Winner& winner : incumbents) always_.push_back(winner.configuration);
  for (const db::Configuration& configuration : always_) kept_.insert(configuration.id());
}

Candidate CandidateSource::candidate_of(Point point) const {
  Candidate candidate;
  candidate.id = point.configuration.id();
  candidate.alignment = point.alignment;
  candidate.source_hash = family_.variant(point.configuration.variant)->source_hash;
  candidate.kept = kept_.contains(candidate.id);
  candidate.by_default = candidate.id == by_default_;
  candidate.excess = std::move(point.excess);
  candidate.configuration = std::move(point.configuration);
  return candidate;
}

CandidateSet CandidateSource::take(std::size_t most, std::uint64_t seed) const {
  CandidateSet result;
  SpaceSample sample = sample_space(evaluator_, family_, problem_, device_, most, seed);
  result.whole = sample.whole;
  for (Point& point : sample.points) result.candidates.push_back(candidate_of(std::move(point)));
  if (!result.whole) {
    std::set<db::Id> there;
    for (const Candidate& c : result.candidates) there.insert(c.id);
    const SearchSpace values = space({});
    for (const db::Configuration& configuration : always_)
      if (values.levels_of(configuration) && !there.contains(configuration.id()))
        if (auto found = candidate(*family_.variant(configuration.variant), configuration.parameters)) {
          there.insert(found->id);
          result.candidates.push_back(std::move(*found));
        }
  }
  const auto first = std::find_if(result.candidates.begin(), result.candidates.end(),
                                  [](const Candidate& c) { return c.by_default; });
  if (first != result.candidates.end()) std::rotate(result.candidates.begin(), first, std::next(first));
  return result;
}

std::optional<Candidate> CandidateSource::candidate(const Variant& variant,
                                                    const db::Values& parameters) const {
  auto point = point_of(evaluator_, family_, variant, parameters, problem_, device_);
  return point ? std::optional(candidate_of(std::move(*point))) : std::nullopt;
}

SearchSpace CandidateSource::space(const std::vector<Candidate>& candidates) const {
  std::vector<const Variant*> variants;
  for (const Variant& variant : family_.variants)
    if (variant.runs_on(device_)) variants.push_back(&variant);
  SearchSpace result(std::move(variants));
  for (const Candidate& c : candidates) result.add(c.configuration, c.alignment);
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
    candidate.known = passed ? m.statistics.minimum : 0;
    candidate.settled = !passed || (slow && !candidate.kept) || decided;
    candidate.passed_before = passed && !candidate.settled;
  }
}

}  // namespace hone::tuner
