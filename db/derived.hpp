// Tables derived from records (winners, bands, portfolios): rows that begin with a device and a regime, and a
// seal that tells whether any is missing. A flipped bit in an inner page can hide rows whose own checksums
// are right.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "db/database.hpp"

namespace hone::db::derived {

struct DerivedTable {
  const Table& rows;
  const Table& seal;
};
DerivedTable winners();
DerivedTable winner_blocks();
DerivedTable bands();
DerivedTable portfolio();

struct DerivedRow {
  Id device;
  Regime regime = Regime::steady;
  Row row;
};

/// How many rows there are for a device and regime, and the sum of their checksums, modulo 2^64.
struct Group {
  std::int64_t rows = 0;
  std::uint64_t checksums = 0;
  void add(std::int64_t checksum);
  void remove(std::int64_t checksum);
  bool operator==(const Group&) const = default;
};
using Seal = std::map<std::pair<Id, Regime>, Group>;

/// Throws where the seal is missing or damaged.
Seal read_seal(Database& database, const DerivedTable& table);
void write_seal(Database& database, const DerivedTable& table, const Seal& seal);

/// Gives each row of the devices and regimes asked for, verified; throws where one is missing.
void read(Database& database, const DerivedTable& table, const std::optional<Id>& device,
          const std::optional<Regime>& regime, const std::function<void(const sqlite::Statement&)>& each);

/// Makes the table hold exactly these rows. Writes nothing where it does already.
void replace(Database& database, const DerivedTable& table, const std::vector<DerivedRow>& rows);

}  // namespace hone::db::derived
