// What is derived from sweeps: of each device, regime, family, element type and layout the newest sweep whose
// sources are current counts. One along the working set gives bands, one across problems of several
// dimensions a portfolio.
#pragma once

#include <map>
#include <vector>

#include "db/cover.hpp"
#include "db/derived.hpp"

namespace hone::db::swept {

/// What a sweep measured with sources that are current: costs, and the measurements they come from.
struct Measured {
  Id device;
  Sweep sweep;
  CostTable costs;
  std::vector<Id> problems;                            ///< by point
  std::vector<Configuration> configurations;           ///< in the table's order
  std::vector<std::map<std::size_t, Measurement>> at;  ///< by point, then by configuration
};

/// Says of a configuration what all that follows from a sweep says; `behind` is its measurement.
void describe(Swept& derived, const Measured& measured, std::size_t configuration, std::int64_t alignment,
              const Measurement& behind, Lookup& lookup);

// Columns that the tables begin with: device, regime, family, element_type, layout, alignment.
void put_key(Row& row, const Swept& derived);
/// Throws a damaged file with `otherwise` where the regime is none.
void read_key(const sqlite::Statement& row, Swept& derived, const char* otherwise);

// Columns that they end with: measurement, source_hash, build_key, environment, run, sweep, swept_us.
void put_origin(Row& row, const Swept& derived);
void read_origin(const sqlite::Statement& row, int first, Swept& derived);

struct Rows {
  std::vector<derived::DerivedRow> bands, portfolio;
};

/// The rows that the sweeps ask for. Throws where a record that they rest on is damaged.
Rows rows(Database& database);

/// Derives them again. Writes nothing where nothing has changed.
void rebuild(Database& database);

}  // namespace hone::db::swept
