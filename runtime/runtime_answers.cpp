// The answer to a problem never seen, or not since the databases changed.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "runtime/runtime_state.hpp"

namespace hone {

void refuse_alignment(std::size_t alignment) {
  throw Error(ErrorCode::invalid, fmt::format("an alignment of {} bytes is no power of two", alignment));
}

Pick RuntimeState::resolve(const Problem& problem, unsigned alignment_log) {
  process_.require_same();
  const std::lock_guard lock(mutex_);
  if (const Answer* answer = answers_.find(problem, alignment_log)) return pick_of(answer);
  return resolve_locked(problem, alignment_log);
}

Pick RuntimeState::resolve_locked(const Problem& problem, unsigned alignment_log) {
  Answer answer = climb(problem, alignment_log, nullptr);
  if (answer.rung != Rung::exact) note_miss(answer);
  return publish(std::move(answer));
}

/// The problem by name, checked against its family.
db::Problem RuntimeState::complete(const KnownFamily& known, const Problem& problem) {
  const Family& family = *known.family;
  if (problem.rank != family.dimensions.size())
    throw Error(ErrorCode::invalid, fmt::format("{}: the problem has {} dimensions, the family {}",
                                                family.name, problem.rank, family.dimensions.size()));
  if (problem.layout >= std::max<std::size_t>(1, family.layouts.size()))
    throw Error(ErrorCode::invalid, fmt::format("{}: there is no layout {}", family.name, problem.layout));
  std::vector<std::pair<std::string, std::int64_t>> dimensions;
  for (std::size_t i = 0; i < problem.rank; ++i)
    dimensions.emplace_back(family.dimensions[i].name, problem.dimensions[i]);
  return complete_problem(evaluator_, family, name(problem.element_type),
                          family.layouts.empty() ? "" : family.layouts[problem.layout], dimensions);
}

Answer RuntimeState::climb(const Problem& problem, unsigned alignment_log, std::vector<LadderStep>* steps) {
  const KnownFamily& known = known_family(problem.family);
  const Family& family = *known.family;
  const db::Problem complete_problem = complete(known, problem);

  Answer answer;
  answer.problem = problem;
  answer.alignment_log = alignment_log;
  answer.hash = hash_of(problem, alignment_log);
  answer.owner = this;
  answer.arguments = family.arguments.size();
  const auto shapes = argument_shapes(evaluator_, family, complete_problem);
  if (is_empty(family, shapes)) {
    answer.rung = Rung::exact;
    answer.empty = true;
    if (steps != nullptr)
      steps->push_back({Rung::exact, true, "", "the problem has nothing to do: nothing is launched"});
    return answer;
  }

  Ladder ladder(
      device->info(), evaluator_, *codes_, indexes_,
      [&](const Variant& variant, const db::Id& hash) { return stale(variant, family.name, hash); });
  const Climbed climbed = ladder.climb(family, complete_problem, std::int64_t{1} << alignment_log, steps);
  answer.rung = climbed.rung;
  if (climbed.rung == Rung::none) {
    answer.why = fmt::format(
        "no checked configuration is legal for {} at {}-byte alignment on {}; run `hone tune {}"
        " --device {} --dtype {} --shape ",
        complete_problem.text(), std::int64_t{1} << alignment_log, device->info().name, family.name,
        device->info().architecture, complete_problem.element_type);
    for (std::size_t i = 0; i < problem.rank; ++i)
      answer.why +=
          fmt::format("{}{}={}", i == 0 ? "" : ",", family.dimensions[i].name, problem.dimensions[i]);
    if (!complete_problem.layout.empty()) answer.why += " --layout " + complete_problem.layout;
    answer.why += "`";
    return answer;
  }
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (shapes[i].elements > 0) answer.pointers |= 1U << i;
  answer.alignment = static_cast<std::uint64_t>(climbed.plan.alignment);
  answer.geometry = climbed.plan.geometry;
  answer.workspace = static_cast<std::uint64_t>(climbed.plan.workspace);
  answer.tensor_maps = climbed.plan.tensor_maps;
  if (!answer.tensor_maps.empty()) answer.tensor_map_id = new_tensor_map_id();
  answer.served = serve(climbed);
  const Candidate& candidate = *climbed.candidate;
  const auto& statistics = candidate.statistics;
  answer.statistics = {statistics.n, statistics.minimum, statistics.q1, statistics.median, statistics.q3};
  if (candidate.measurement != db::Id{}) {
    const std::string hex = candidate.measurement.hex();
    std::copy(hex.begin(), hex.end(), answer.measurement.begin());
  }
  return answer;
}

const Served* RuntimeState::serve(const Climbed& climbed) {
  const auto& configuration = climbed.index->configuration(*climbed.candidate);
  auto& served = served_[{climbed.index->file().string(), configuration.text(), climbed.candidate->build_key,
                          climbed.candidate->checked}];
  if (served == nullptr) {
    auto made = std::make_unique<Served>();
    made->variant = configuration.variant;
    made->configuration = configuration.text();
    made->build_key = climbed.candidate->build_key.hex();
    made->database = climbed.index->file().string();
    made->checked = climbed.candidate->checked;
    made->code = climbed.code;
    made->launch_arguments = climbed.plan.arguments;
    served = std::move(made);
  }
  return served.get();
}

Pick RuntimeState::publish(Answer answer) {
  // Picks point to answers, so that those stay; one that says the same as before takes no more room.
  const Answer* former = answers_.find_stale(answer);
  if (former != nullptr && former->same_as(answer)) {
    answers_.put(former);
    return pick_of(former);
  }
  if (owned_.size() >= options_.maximum_answers)
    return pick_of(std::make_shared<const Answer>(std::move(answer)));
  owned_.push_back(std::make_unique<const Answer>(std::move(answer)));
  answers_.put(owned_.back().get());
  return pick_of(owned_.back().get());
}

void RuntimeState::note_miss(const Answer& answer) {
  if (!options_.record_misses) return;
  const Family& family = *known_family(answer.problem.family).family;
  Miss miss;
  miss.problem.family = family.name;
  miss.problem.element_type = name(answer.problem.element_type);
  if (!family.layouts.empty()) miss.problem.layout = family.layouts[answer.problem.layout];
  for (std::size_t i = 0; i < answer.problem.rank; ++i)
    miss.problem.dimensions.emplace_back(family.dimensions[i].name, answer.problem.dimensions[i]);
  miss.alignment = std::int64_t{1} << answer.alignment_log;
  miss.rung = answer.rung;
  miss.regime = regime_;
  miss.device = device_id_;
  miss.newest_s = std::time(nullptr);
  misses_.note(miss);
}

Explanation RuntimeState::explain(const Problem& problem, std::size_t alignment) {
  const unsigned log = alignment_log_of(alignment);
  process_.require_same();
  const std::lock_guard lock(mutex_);
  Explanation explanation;
  explanation.pick = publish(climb(problem, log, &explanation.steps));
  return explanation;
}

}  // namespace hone
