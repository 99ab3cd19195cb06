// A portfolio: the winners of a family of several dimensions, raced at every problem that has one, since a
// problem's own race knows only what its search came upon. Each race is stored as it ends, so that the same
// command takes up what another run has recorded. The few that stay near the best everywhere follow in the
// database (db/portfolio.hpp); the runtime chooses among them for problems never tuned
// (runtime/predictor.hpp).
#pragma once

#include "tuner/finalist_races.hpp"
#include "tuner/tune.hpp"

namespace hone::tuner {

/// Of more problems with winners, so many race: those farthest from each other in log-shape.
inline constexpr std::size_t most_portfolio_problems = 128;

/// It is stored once every problem was raced at.
PortfolioSummary portfolio(db::Store& store, db::Evaluator& evaluator, const FinalistTask& task,
                           const RaceAll& race);

/// The indices of `most` points that are far from each other, the first point first: each next one is the
/// farthest from those before (Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985).
std::vector<std::size_t> spread(const std::vector<std::vector<double>>& points, std::size_t most);

}  // namespace hone::tuner
