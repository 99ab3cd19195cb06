#include "db/swept.hpp"

#include <set>
#include <string>
#include <tuple>

#include "db/bands.hpp"
#include "db/portfolio.hpp"
#include "db/sources.hpp"

namespace hone::db::swept {
namespace {

// The record of an id that another one names.
template <typename Record>
Record required(Database& database, const Table& table, const Id& id,
                Record (*read)(const sqlite::Statement&, int)) {
  sqlite::Query query(database.connection(),
                      "SELECT " + table.select("t") + " FROM " + table.name + " t WHERE t.id=?1");
  query->bind(1, id);
  if (!query->step()) {
    throw sqlite::damaged(database.connection().file(),
                          "a sweep rests on a missing row of table " + table.name);
  }
  return read(*query, 0);
}

Problem problem_of(Database& database, const SweepPoint& point) {
  return required(database, tables::problem, point.problem, rows::problem);
}

// Whether a measurement tells what its configuration costs. Along the working set all race to the end; across
// problems most are dropped where others are faster, and have samples that say by how much.
bool tells_cost(const Measurement& m, bool along_working_set) {
  return m.outcome == Outcome::ok ||
         (!along_working_set && m.outcome == Outcome::raced_out && m.statistics.n > 0);
}

Measured read_sweep(Database& database, const Id& device, const Sweep& sweep, bool along_working_set,
                    Sources& sources, Lookup& lookup) {
  Measured result;
  result.device = device;
  result.sweep = sweep;
  std::map<Id, std::vector<std::pair<std::size_t, Measurement>>>
      serving;  // by configuration, with their points
  const std::set<Id> refused(sweep.refused.begin(), sweep.refused.end());
  for (const Id& id : sweep.points) {
    const SweepPoint point = required(database, tables::sweep_point, id, rows::sweep_point);
    for (const Id& each : point.measurements) {
      Measurement m = required(database, tables::measurement, each, rows::measurement);
      if (refused.contains(m.configuration)) continue;
      if (tells_cost(m, along_working_set) &&
          sources.current(lookup.configuration(m.configuration), m.source_hash))
        serving[m.configuration].emplace_back(result.costs.points.size(), std::move(m));
    }
    if (!result.costs.points.empty() &&
        std::tie(result.costs.points.back().working_set, result.problems.back()) >=
            std::tie(point.working_set, point.problem))
      throw sqlite::damaged(database.connection().file(), "a sweep's points are out of order");
    result.costs.points.push_back({point.working_set, {}});
    result.problems.push_back(point.problem);
  }
  result.at.resize(result.costs.points.size());
  for (CostTable::Point& point : result.costs.points) point.costs.resize(serving.size());
  for (auto& [configuration, measurements] : serving) {
    const std::size_t c = result.configurations.size();
    result.configurations.push_back(lookup.configuration(configuration));
    result.costs.alignments.push_back(1);
    for (auto& [point, m] : measurements) {
      result.costs.alignments.back() = std::max(result.costs.alignments.back(), m.alignment);
      result.costs.points[point].costs[c] = m.statistics;
      result.at[point].emplace(c, std::move(m));
    }
  }
  return result;
}

bool is_along_working_set(Database& database, const Sweep& sweep) {
  if (sweep.points.empty()) return true;
  const SweepPoint first = required(database, tables::sweep_point, sweep.points.front(), rows::sweep_point);
  return problem_of(database, first).dimensions.size() == 1;
}

}  // namespace

void describe(Swept& derived, const Measured& measured, std::size_t configuration, std::int64_t alignment,
              const Measurement& behind, Lookup& lookup) {
  const Sweep& sweep = measured.sweep;
  derived.family = sweep.family;
  derived.element_type = sweep.element_type;
  derived.layout = sweep.layout;
  derived.regime = sweep.regime;
  derived.alignment = alignment;
  derived.configuration = measured.configurations[configuration];
  derived.measurement = behind.id;
  derived.source_hash = behind.source_hash;
  derived.build_key = behind.build_key;
  derived.device = measured.device;
  derived.environment = lookup.run(behind.run).environment;
  derived.run = sweep.run;
  derived.sweep = sweep.id;
  derived.swept_us = sweep.swept_us;
}

void put_key(Row& row, const Swept& derived) {
  row << derived.device << name(derived.regime) << derived.family << derived.element_type << derived.layout
      << derived.alignment;
}

void read_key(const sqlite::Statement& row, Swept& derived, const char* otherwise) {
  const auto regime = parse_regime(row.text(1));
  if (!regime) throw sqlite::damaged(row.file(), otherwise);
  derived.device = row.id(0);
  derived.regime = *regime;
  derived.family = row.text(2);
  derived.element_type = row.text(3);
  derived.layout = row.text(4);
  derived.alignment = row.integer(5);
}

void put_origin(Row& row, const Swept& derived) {
  row << derived.measurement << derived.source_hash
      << (derived.build_key == Id{} ? std::nullopt : std::optional(derived.build_key)) << derived.environment
      << derived.run << derived.sweep << derived.swept_us;
}

void read_origin(const sqlite::Statement& row, int first, Swept& derived) {
  derived.measurement = row.id(first);
  derived.source_hash = row.id(first + 1);
  derived.build_key = row.optional_id(first + 2).value_or(Id{});
  derived.environment = row.id(first + 3);
  derived.run = row.id(first + 4);
  derived.sweep = row.id(first + 5);
  derived.swept_us = row.integer(first + 6);
}

Rows rows(Database& database) {
  std::vector<std::pair<Id, Sweep>> sweeps;  // with their devices
  {
    sqlite::Query query(database.connection(),
                        "SELECT s.device," + tables::sweep.select("s") +
                            " FROM sweep s ORDER BY s.device,s.regime,s.family,s.element_type,s.layout,"
                            "s.swept_us DESC,s.run DESC,s.id DESC");
    while (query->step()) sweeps.emplace_back(query->id(0), rows::sweep(*query, 1));
  }
  Sources sources(database);
  Lookup lookup(database);
  std::set<std::tuple<Id, Regime, std::string, std::string, std::string>> served;  // by a newer sweep
  Rows found;
  for (const auto& [device, sweep] : sweeps) {
    const std::tuple key(device, sweep.regime, sweep.family, sweep.element_type, sweep.layout);
    if (served.contains(key)) continue;
    const bool along = is_along_working_set(database, sweep);
    const Measured measured = read_sweep(database, device, sweep, along, sources, lookup);
    auto rows_of_sweep = along ? bands::derive(measured, lookup) : portfolio::derive(measured, lookup);
    if (rows_of_sweep.empty()) continue;
    served.insert(key);
    for (derived::DerivedRow& row : rows_of_sweep)
      (along ? found.bands : found.portfolio).push_back(std::move(row));
  }
  return found;
}

void rebuild(Database& database) {
  const Rows wanted = rows(database);
  derived::replace(database, derived::bands(), wanted.bands);
  derived::replace(database, derived::portfolio(), wanted.portfolio);
}

}  // namespace hone::db::swept
