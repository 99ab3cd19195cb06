#include "db/derived.hpp"

#include <fmt/format.h>

#include <bit>
#include <set>

#include "db/canonical.hpp"

namespace hone::db::derived {
namespace {

// Whether the stored rows, sound and sealed, are exactly these.
bool stored(Database& database, const DerivedTable& table, const Seal& seal,
            const std::vector<DerivedRow>& rows) {
  std::set<std::int64_t> checksums;
  for (const DerivedRow& each : rows) checksums.insert(each.row.checksum());
  try {
    if (read_seal(database, table) != seal) return false;
    sqlite::Query query(database.connection(),
                        fmt::format("SELECT {} FROM {} t", table.rows.select("t"), table.rows.name));
    std::size_t count = 0;
    for (; query->step(); ++count) {
      if (!sound(*query, table.rows) || !checksums.contains(query->integer(table.rows.width() - 1)))
        return false;
    }
    return count == rows.size();
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::unusable) return false;
    throw;
  }
}

}  // namespace

DerivedTable winners() {
  return {tables::winner, tables::winner_seal};
}
DerivedTable winner_blocks() {
  return {tables::winner_block, tables::winner_block_seal};
}
DerivedTable bands() {
  return {tables::band, tables::band_seal};
}
DerivedTable portfolio() {
  return {tables::portfolio, tables::portfolio_seal};
}

void Group::add(std::int64_t checksum) {
  ++rows;
  checksums += std::bit_cast<std::uint64_t>(checksum);
}

void Group::remove(std::int64_t checksum) {
  --rows;
  checksums -= std::bit_cast<std::uint64_t>(checksum);
}

Seal read_seal(Database& database, const DerivedTable& table) {
  sqlite::Query query(database.connection(),
                      fmt::format("SELECT {} FROM {} s", table.seal.select("s"), table.seal.name));
  constexpr std::size_t width = sizeof(Id::bytes) + 1 + 8 + 8;
  if (!query->step()) {
    throw sqlite::damaged(database.connection().file(),
                          fmt::format("the seal over the {}s is missing", table.rows.name));
  }
  verify(*query, table.seal);
  const auto groups = query->bytes(1);
  Seal seal;
  for (std::size_t at = 0; at + width <= groups.size(); at += width) {
    const std::byte* bytes = groups.data() + at;
    const Id device = canonical::read_id(bytes);
    bytes += sizeof device.bytes;
    const Regime regime = *bytes++ == std::byte{0} ? Regime::steady : Regime::cold;
    seal[{device, regime}] = {static_cast<std::int64_t>(canonical::read_word(bytes)),
                              canonical::read_word(bytes + 8)};
  }
  return seal;
}

void write_seal(Database& database, const DerivedTable& table, const Seal& seal) {
  std::string groups;
  for (const auto& [key, group] : seal) {
    if (group.rows == 0) continue;
    canonical::append_id(groups, key.first);
    groups += static_cast<char>(key.second);
    canonical::append_word(groups, static_cast<std::uint64_t>(group.rows));
    canonical::append_word(groups, group.checksums);
  }
  Row row(table.seal);
  row << std::int64_t{1} << std::as_bytes(std::span(groups));
  database.connection().execute(("DELETE FROM " + table.seal.name).c_str());
  row.insert(database.connection());
}

void read(Database& database, const DerivedTable& table, const std::optional<Id>& device,
          const std::optional<Regime>& regime, const std::function<void(const sqlite::Statement&)>& each) {
  const std::string sql = fmt::format("SELECT {} FROM {} t WHERE t.device=?1 AND t.regime=?2",
                                      table.rows.select("t"), table.rows.name);
  for (const auto& [key, sealed] : read_seal(database, table)) {
    if ((device && *device != key.first) || (regime && *regime != key.second)) continue;
    sqlite::Query query(database.connection(), sql);
    query->bind(1, key.first).bind(2, name(key.second));
    Group group;
    while (query->step()) {
      verify(*query, table.rows);
      group.add(query->integer(table.rows.width() - 1));
      each(*query);
    }
    if (group != sealed) {
      throw sqlite::damaged(database.connection().file(),
                            fmt::format("{}s are missing or too many", table.rows.name));
    }
  }
}

void replace(Database& database, const DerivedTable& table, const std::vector<DerivedRow>& rows) {
  Seal seal;
  for (const DerivedRow& each : rows) seal[{each.device, each.regime}].add(each.row.checksum());
  if (stored(database, table, seal, rows)) return;
  database.connection().execute(("DELETE FROM " + table.rows.name).c_str());
  for (const DerivedRow& each : rows) each.row.insert(database.connection());
  write_seal(database, table, seal);
}

}  // namespace hone::db::derived
