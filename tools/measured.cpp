#include "tools/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "hone/error.hpp"
#include "runtime/spelling.hpp"
#include "tools/working_sets.hpp"

namespace hone::tools {
namespace {

bool is_timed(const db::Measurement& m) {
  return (m.outcome == db::Outcome::ok || m.outcome == db::Outcome::raced_out) && m.statistics.n > 0 &&
         m.statistics.median > 0;
}

FastestFirst sorted(FastestFirst rows) {
  std::sort(rows.begin(), rows.end(), [](const db::MeasuredRow* a, const db::MeasuredRow* b) {
    return std::tie(a->measurement.statistics.median, a->measurement.id) <
           std::tie(b->measurement.statistics.median, b->measurement.id);
  });
  return rows;
}

}  // namespace

Family tuned_family(db::Store& store, const std::string& name) {
  return family_from_records(tuned_templates(store, name));
}

double MeasuredProblem::gb_per_s(const db::MeasuredRow& row) const {
  return static_cast<double>(working_set) / row.measurement.statistics.median;
}

std::vector<MeasuredProblem> measured_problems(db::Store& store, const Filters& filters, const Family& family,
                                               bool raced_alone) {
  db::Filter filter = filters.filter();
  filter.raced = raced_alone;
  WorkingSets working_sets(store);
  // By the records that rows share, since there may be millions; none: it does not match.
  std::map<std::tuple<const db::Device*, db::Regime, const db::Problem*>, std::optional<MeasuredProblem>>
      found;
  store.each_measurement(filter, [&](db::MeasuredRow&& row) {
    const db::Measurement& m = row.measurement;
    const Variant* variant = family.variant(row.configuration.variant);
    if (!is_timed(m) || variant == nullptr || variant->source_hash != m.source_hash) return;
    const auto [at, is_new] = found.try_emplace({&row.device, m.regime, &row.problem});
    std::optional<MeasuredProblem>& measured = at->second;
    if (is_new && filters.match(row.problem, row.device.id(), m.regime))
      measured = {row.problem, row.device, m.regime, working_sets.of(row.problem).value_or(0), {}};
    if (measured) measured->rows.push_back(std::move(row));
  });
  std::vector<MeasuredProblem> result;
  for (auto& [key, measured] : found) {
    if (!measured) continue;
    measured->rows = db::in_order_taken(std::move(measured->rows));
    result.push_back(std::move(*measured));
  }
  // Problems of several dimensions are not in the order of their working sets.
  std::sort(result.begin(), result.end(), [](const MeasuredProblem& a, const MeasuredProblem& b) {
    const auto key = [](const MeasuredProblem& m) {
      return std::tuple(m.device.id(), m.regime, std::tie(m.problem.element_type, m.problem.layout),
                        m.working_set, std::tie(m.problem));
    };
    return key(a) < key(b);
  });
  return result;
}

FastestFirst newest_race(db::Store& store, const MeasuredProblem& measured) {
  std::set<db::Id> swept;
  for (const db::SweepPoint& point :
       store.sweep_points(measured.device.id(), measured.problem.id(), measured.regime))
    swept.insert(point.measurements.begin(), point.measurements.end());
  FastestFirst race;
  for (auto row = measured.rows.rbegin(); row != measured.rows.rend(); ++row) {
    const db::Measurement& m = row->measurement;
    if (m.stage != db::Stage::race || m.outcome != db::Outcome::ok || swept.contains(m.id)) continue;
    if (race.empty() || race.front()->measurement.run == m.run) race.push_back(&*row);
  }
  return sorted(std::move(race));
}

const db::MeasuredRow* fastest_at(const LadderPoint& point, const FastestFirst& race) {
  const auto found = std::find_if(race.begin(), race.end(),
                                  [&](const db::MeasuredRow* row) { return point.has(row->configuration); });
  return found == race.end() ? nullptr : *found;
}

FastestFirst each_configuration(const MeasuredProblem& measured) {
  const auto worth = [](const db::MeasuredRow& row) {
    if (row.measurement.stage == db::Stage::first_look) return 1;
    return row.measurement.outcome == db::Outcome::ok ? 2 : 0;
  };
  std::unordered_map<db::Id, const db::MeasuredRow*, db::IdHash> chosen;
  for (const db::MeasuredRow& row : measured.rows) {
    const db::MeasuredRow*& best = chosen[row.measurement.configuration];
    if (best == nullptr || worth(row) >= worth(*best)) best = &row;
  }
  FastestFirst rows;
  for (const auto& [configuration, row] : chosen) rows.push_back(row);
  return sorted(std::move(rows));
}

}  // namespace hone::tools
