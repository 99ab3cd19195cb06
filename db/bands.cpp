#include "db/bands.hpp"

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "db/cover.hpp"
#include "db/sources.hpp"

namespace hone::db::bands {
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

// What a sweep measured with sources that are current: costs, and the measurements they come from.
struct Measured {
  CostTable costs;
  std::vector<Configuration> configurations;           // in the table's order
  std::vector<std::map<std::size_t, Measurement>> at;  // by point, then by configuration
};

Measured read_sweep(Database& database, const Sweep& sweep, Sources& sources, Lookup& lookup) {
  Measured result;
  std::map<Id, std::vector<std::pair<std::size_t, Measurement>>>
      serving;  // by configuration, with their points
  const std::set<Id> refused(sweep.refused.begin(), sweep.refused.end());
  for (const Id& id : sweep.points) {
    const SweepPoint point = required(database, tables::sweep_point, id, rows::sweep_point);
    for (const Id& each : point.measurements) {
      Measurement m = required(database, tables::measurement, each, rows::measurement);
      if (refused.contains(m.configuration)) continue;
      if (m.outcome == Outcome::ok && sources.current(lookup.configuration(m.configuration), m.source_hash))
        serving[m.configuration].emplace_back(result.costs.points.size(), std::move(m));
    }
    if (!result.costs.points.empty() && result.costs.points.back().working_set >= point.working_set)
      throw sqlite::damaged(database.connection().file(), "a sweep's points are out of order");
    result.costs.points.push_back({point.working_set, {}});
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

Row row(const Band& band) {
  Row row(tables::band);
  row << band.device << name(band.regime) << band.family << band.element_type << band.layout << band.alignment
      << band.lo << band.hi << band.extrapolated() << band.configuration.id() << band.needs_alignment
      << band.regret << band.points << band.first << band.last << band.worst << band.resolution
      << band.measurement << band.source_hash
      << (band.build_key == Id{} ? std::nullopt : std::optional(band.build_key)) << band.environment
      << band.run << band.sweep << band.swept_us;
  return row;
}

std::vector<Band> derive(Database& database, const Id& device, const Sweep& sweep, Sources& sources,
                         Lookup& lookup) {
  const Measured measured = read_sweep(database, sweep, sources, lookup);
  const auto& costs = measured.costs;
  std::vector<Band> bands;
  for (const std::int64_t alignment : std::set(costs.alignments.begin(), costs.alignments.end())) {
    for (const Interval& interval : cover(costs, alignment).intervals) {
      const Measurement& worst = measured.at[interval.worst].at(interval.configuration);
      Band band;
      band.device = device;
      band.regime = sweep.regime;
      band.family = sweep.family;
      band.element_type = sweep.element_type;
      band.layout = sweep.layout;
      band.alignment = alignment;
      band.lo = interval.lo;
      band.hi = interval.hi;
      band.extrapolated_below = interval.lo == 0;
      band.extrapolated_above = interval.hi == no_end;
      band.configuration = measured.configurations[interval.configuration];
      band.needs_alignment = worst.alignment;
      band.regret = interval.regret;
      band.points = interval.points;
      band.first = costs.points[interval.first].working_set;
      band.last = costs.points[interval.last].working_set;
      band.worst = costs.points[interval.worst].working_set;
      band.resolution = sweep.resolution;
      band.measurement = worst.id;
      band.source_hash = worst.source_hash;
      band.build_key = worst.build_key;
      band.environment = lookup.run(worst.run).environment;
      band.run = sweep.run;
      band.sweep = sweep.id;
      band.swept_us = sweep.swept_us;
      bands.push_back(std::move(band));
    }
  }
  return bands;
}

}  // namespace

std::vector<derived::DerivedRow> rows(Database& database) {
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
  std::vector<derived::DerivedRow> found;
  for (const auto& [device, sweep] : sweeps) {
    const std::tuple key(device, sweep.regime, sweep.family, sweep.element_type, sweep.layout);
    if (served.contains(key)) continue;
    for (const Band& band : derive(database, device, sweep, sources, lookup)) {
      served.insert(key);
      found.push_back({device, sweep.regime, row(band)});
    }
  }
  return found;
}

void rebuild(Database& database) {
  derived::replace(database, derived::bands(), rows(database));
}

Band read(const sqlite::Statement& row, Lookup& lookup) {
  Band band;
  const auto regime = parse_regime(row.text(1));
  if (!regime) throw sqlite::damaged(row.file(), "a band has an unknown regime");
  const std::string_view extrapolated = row.text(8);
  band.device = row.id(0);
  band.regime = *regime;
  band.family = row.text(2);
  band.element_type = row.text(3);
  band.layout = row.text(4);
  band.alignment = row.integer(5);
  band.lo = row.integer(6);
  band.hi = row.integer(7);
  band.extrapolated_below = extrapolated == "below" || extrapolated == "both";
  band.extrapolated_above = extrapolated == "above" || extrapolated == "both";
  band.configuration = lookup.configuration(row.id(9));
  band.needs_alignment = row.integer(10);
  band.regret = row.real(11);
  band.points = row.integer(12);
  band.first = row.integer(13);
  band.last = row.integer(14);
  band.worst = row.integer(15);
  band.resolution = row.real(16);
  band.measurement = row.id(17);
  band.source_hash = row.id(18);
  band.build_key = row.optional_id(19).value_or(Id{});
  band.environment = row.id(20);
  band.run = row.id(21);
  band.sweep = row.id(22);
  band.swept_us = row.integer(23);
  require(band.alignment > 0 && band.needs_alignment > 0, row, "a band's alignment is not above zero");
  require(0 <= band.lo && band.lo < band.hi, row, "a band is empty");
  return band;
}

}  // namespace hone::db::bands
