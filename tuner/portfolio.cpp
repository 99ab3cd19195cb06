#include "tuner/portfolio.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "runtime/plan.hpp"

namespace hone::tuner {
namespace {

/// Those tied with winners are good elsewhere, and legal where the winners are not. Of what serves narrower
/// pointers the most frequent winners do: it is slow, and seldom asked for.
constexpr FinalistRaces::Enough enough{.finalists = 96, .narrow = 8};

/// The problems of the task that have winners.
std::vector<db::Problem> tuned_problems(db::Store& store, const FinalistTask& task) {
  std::set<db::Problem> tuned;
  for (db::Winner& winner : store.winners(task.key()))
    if (winner.problem.layout == task.layout) tuned.insert(std::move(winner.problem));
  std::vector<db::Problem> problems(tuned.begin(), tuned.end());
  std::vector<std::vector<double>> places;
  for (const db::Problem& problem : problems) {
    places.emplace_back();
    for (const auto& [name, extent] : problem.dimensions)
      places.back().push_back(std::log2(static_cast<double>(std::max<std::int64_t>(1, extent))));
  }
  std::vector<db::Problem> chosen;
  for (const std::size_t at : spread(places, most_portfolio_problems))
    chosen.push_back(std::move(problems[at]));
  return chosen;
}

}  // namespace

std::vector<std::size_t> spread(const std::vector<std::vector<double>>& points, std::size_t most) {
  std::vector<std::size_t> chosen;
  std::vector<double> distance(points.size(), std::numeric_limits<double>::infinity());
  while (chosen.size() < std::min(most, points.size())) {
    const auto next =
        static_cast<std::size_t>(std::max_element(distance.begin(), distance.end()) - distance.begin());
    chosen.push_back(next);
    for (std::size_t i = 0; i < points.size(); ++i) {
      double squared = 0;
      for (std::size_t d = 0; d < points[i].size(); ++d)
        squared += (points[i][d] - points[next][d]) * (points[i][d] - points[next][d]);
      distance[i] = std::min(distance[i], i == next ? -1 : squared);  // chosen once, however near others are
    }
  }
  return chosen;
}

PortfolioSummary portfolio(db::Store& store, db::Evaluator& evaluator, const FinalistTask& task,
                           const RaceAll& race) {
  PortfolioSummary summary{task.element_type, task.layout, 0, 0, 0, ""};
  const std::vector<db::Problem> problems = tuned_problems(store, task);
  FinalistRaces finalists(store, evaluator, task, race);
  if (!finalists.find({problems.begin(), problems.end()}, enough)) {
    summary.unfinished = "no problem has a winner";
    return summary;
  }
  std::map<std::pair<std::int64_t, db::Id>, db::Id> points;  // by working set, then by problem
  for (const db::Problem& problem : problems) {
    const std::int64_t bytes = working_set(evaluator, task.family, problem);
    const auto taken = finalists.take(problem, bytes);
    summary.races = finalists.races();
    if (!taken) {
      summary.unfinished = "it ended before every problem was raced at; the same command goes on";
      return summary;
    }
    if (!taken->measurements.empty()) points.emplace(std::pair(bytes, problem.id()), taken->point);
  }
  std::vector<db::Id> in_order;
  for (const auto& [place, point] : points) in_order.push_back(point);
  finalists.finish(std::move(in_order), 1);
  summary.problems = static_cast<std::int64_t>(points.size());
  std::set<db::Id> members;
  for (const db::PortfolioMember& member : store.portfolio(task.key()))
    if (member.layout == task.layout) members.insert(member.configuration.id());
  summary.members = static_cast<std::int64_t>(members.size());
  return summary;
}

}  // namespace hone::tuner
