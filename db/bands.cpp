#include "db/bands.hpp"

#include <set>

#include "db/cover.hpp"

namespace hone::db::bands {
namespace {

Row row(const Band& band) {
  Row row(tables::band);
  swept::put_key(row, band);
  row << band.lo << band.hi << band.extrapolated() << band.configuration.id() << band.needs_alignment
      << band.regret << band.points << band.first << band.last << band.worst << band.resolution;
  swept::put_origin(row, band);
  return row;
}

}  // namespace

std::vector<derived::DerivedRow> derive(const swept::Measured& measured, Lookup& lookup) {
  const auto& costs = measured.costs;
  std::vector<derived::DerivedRow> rows;
  for (const std::int64_t alignment : std::set(costs.alignments.begin(), costs.alignments.end())) {
    for (const Interval& interval : cover(costs, alignment).intervals) {
      const Measurement& worst = measured.at[interval.worst].at(interval.configuration);
      Band band;
      swept::describe(band, measured, interval.configuration, alignment, worst, lookup);
      band.lo = interval.lo;
      band.hi = interval.hi;
      band.extrapolated_below = interval.lo == 0;
      band.extrapolated_above = interval.hi == no_end;
      band.needs_alignment = worst.alignment;
      band.regret = interval.regret;
      band.points = interval.points;
      band.first = costs.points[interval.first].working_set;
      band.last = costs.points[interval.last].working_set;
      band.worst = costs.points[interval.worst].working_set;
      band.resolution = measured.sweep.resolution;
      rows.push_back({band.device, band.regime, row(band)});
    }
  }
  return rows;
}

Band read(const sqlite::Statement& row, Lookup& lookup) {
  Band band;
  swept::read_key(row, band, "a band has an unknown regime");
  const std::string_view extrapolated = row.text(8);
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
  swept::read_origin(row, 17, band);
  require(band.alignment > 0 && band.needs_alignment > 0, row, "a band's alignment is not above zero");
  require(0 <= band.lo && band.lo < band.hi, row, "a band is empty");
  return band;
}

}  // namespace hone::db::bands
