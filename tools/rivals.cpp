#include "tools/rivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "db/ties.hpp"
#include "runtime/plan.hpp"

namespace hone::tools {
namespace {

/// The measurements of the race: of a sweep's point, else of the run's race at the problem.
std::vector<db::MeasuredRow> race_of(db::Store& store, const db::Measurement& measurement) {
  const auto run = store.run(measurement.run);
  if (!run) return {};
  std::set<db::Id> swept, point_of_it;
  for (const db::SweepPoint& point :
       store.sweep_points(run->device, measurement.problem, measurement.regime)) {
    swept.insert(point.measurements.begin(), point.measurements.end());
    if (std::count(point.measurements.begin(), point.measurements.end(), measurement.id) > 0)
      point_of_it.insert(point.measurements.begin(), point.measurements.end());
  }
  db::Filter filter;
  filter.regime = measurement.regime;
  filter.run = measurement.run;
  filter.problem = [&](const db::Problem& problem) { return problem.id() == measurement.problem; };
  std::vector<db::MeasuredRow> race;
  for (db::MeasuredRow& row : store.measurements(filter)) {
    const db::Measurement& m = row.measurement;
    const bool raced = point_of_it.empty() ? !swept.contains(m.id) : point_of_it.contains(m.id);
    if (m.problem == measurement.problem && m.stage == db::Stage::race && m.outcome == db::Outcome::ok &&
        raced)
      race.push_back(std::move(row));
  }
  return race;
}

std::string barrier_of(db::Evaluator& evaluator, const RivalCall& call, const Rival& rival) {
  if (rival.measurement.alignment > call.alignment)
    return fmt::format("it needs pointers aligned to {} bytes", rival.measurement.alignment);
  const Variant* variant = call.family.variant(rival.configuration.variant);
  if (variant == nullptr || variant->source_hash != rival.measurement.source_hash)
    return "its source has changed since";
  const auto planned =
      make_plan(evaluator, call.family, *variant, rival.configuration.parameters, call.problem, call.device);
  const auto* illegal = std::get_if<Illegal>(&planned);
  return illegal == nullptr ? "" : illegal->why;
}

}  // namespace

std::vector<Rival> rivals_of(db::Store& store, const db::Measurement& measurement, const RivalCall& call) {
  db::Evaluator evaluator;
  std::vector<Rival> rivals;
  for (db::MeasuredRow& row : race_of(store, measurement)) {
    if (row.measurement.id == measurement.id) continue;
    Rival rival{std::move(row.configuration), std::move(row.measurement), 0, false, ""};
    const db::Statistics& its = rival.measurement.statistics;
    const db::Statistics& own = measurement.statistics;
    rival.behind = its.median / own.median - 1;
    rival.tied = its.median < own.median ? db::ties(its, own) : db::ties(own, its);
    rival.barrier = barrier_of(evaluator, call, rival);
    rivals.push_back(std::move(rival));
  }
  std::sort(rivals.begin(), rivals.end(), [](const Rival& a, const Rival& b) { return a.behind < b.behind; });
  return rivals;
}

}  // namespace hone::tools
