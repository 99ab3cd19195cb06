#include "db/bands.hpp"

#include <set>

#include "db/cover.hpp"

namespace hone::db::bands {
namespace {

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

}  // namespace

std::vector<derived::DerivedRow> derive(const swept::Measured& measured, Lookup& lookup) {
  const auto& costs = measured.costs;
  const Sweep& sweep = measured.sweep;
  std::vector<derived::DerivedRow> rows;
  for (const std::int64_t alignment : std::set(costs.alignments.begin(), costs.alignments.end())) {
    for (const Interval& interval : cover(costs, alignment).intervals) {
      const Measurement& worst = measured.at[interval.worst].at(interval.configuration);
      Band band;
      band.device = measured.device;
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
      rows.push_back({band.device, band.regime, row(band)});
    }
  }
  return rows;
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
