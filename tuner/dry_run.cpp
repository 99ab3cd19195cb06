#include "tuner/dry_run.hpp"

#include <algorithm>
#include <limits>

#include "runtime/plan.hpp"
#include "tuner/candidates.hpp"
#include "tuner/problems.hpp"
#include "tuner/search.hpp"

namespace hone::tuner {
namespace {

PlannedProblem planned(db::Evaluator& evaluator, const Family& family, const DeviceInfo& device,
                       const TuneSettings& settings, db::Problem problem,
                       const std::vector<db::Winner>& incumbents) {
  const CandidateSource source(evaluator, family, device, problem, incumbents);
  const CandidateSet set =
      source.take(settings.search == "exhaustive" ? std::numeric_limits<std::size_t>::max() : most_candidates,
                  settings.seed);
  PlannedProblem result;
  result.device = device.record();
  result.working_set = working_set(evaluator, family, problem);
  result.space = static_cast<std::int64_t>(set.candidates.size());
  result.sampled = !set.whole;
  const auto always = std::count_if(set.candidates.begin(), set.candidates.end(),
                                    [](const Candidate& candidate) { return candidate.kept; });
  result.most = settings.budget.configurations
                    ? std::min(result.space, std::max<std::int64_t>(*settings.budget.configurations, always))
                    : result.space;
  result.has_winners = !incumbents.empty();
  result.problem = std::move(problem);
  return result;
}

}  // namespace

std::vector<PlannedProblem> dry_run(const TuneSettings& settings) {
  const Family family = find_family(settings.family, settings.folders);
  require_trust(family, settings.trust);
  require_search(settings.search);
  db::Evaluator evaluator;
  std::optional<db::Store> store;
  if (std::filesystem::exists(settings.database))
    store = db::Store::open(settings.database, db::Access::read_only);
  std::vector<PlannedProblem> plan;
  for (const DeviceInfo& device : choose_devices(settings.device)) {
    require_variant(family, device);
    std::vector<db::Winner> winners;
    if (store) winners = store->winners({family.name, "", settings.regime, device.record().id(), {}});
    for (db::Problem& problem : problems_of(evaluator, family, settings, device.last_level_cache_bytes)) {
      if (is_empty(evaluator, family, problem)) continue;
      std::vector<db::Winner> incumbents;
      for (const db::Winner& winner : winners)
        if (winner.problem == problem) incumbents.push_back(winner);
      plan.push_back(planned(evaluator, family, device, settings, std::move(problem), incumbents));
    }
  }
  return plan;
}

}  // namespace hone::tuner
