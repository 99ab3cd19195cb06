#include "db/winners.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "db/canonical.hpp"

namespace hone::db::winners {
namespace {

// Source hashes of variants' newest templates, each looked up once.
class Sources {
 public:
  explicit Sources(Database& database) : database_(database) {}
  bool current(const Configuration& of, const Id& source_hash) {
    auto [found, unknown] = known_.try_emplace({of.family, of.variant});
    if (unknown) found->second = current_source(database_, of.family, of.variant);
    return found->second == source_hash;
  }

 private:
  Database& database_;
  std::map<std::pair<std::string, std::string>, std::optional<Id>> known_;
};

Measurement measurement(Database& database, const Id& id) {
  static const std::string sql =
      "SELECT " + tables::measurement.select("m") + " FROM measurement m WHERE m.id=?1";
  sqlite::Query query(database.connection(), sql);
  query->bind(1, id);
  if (!query->step())
    throw sqlite::damaged(database.connection().file(), "a decision chose a missing measurement");
  return rows::measurement(*query);
}

void write_seal(Database& database, const Seal& seal) {
  std::string groups;
  for (const auto& [key, group] : seal) {
    if (group.rows == 0) continue;
    groups.append(reinterpret_cast<const char*>(key.first.bytes.data()), key.first.bytes.size());
    groups += static_cast<char>(key.second);
    canonical::append_word(groups, static_cast<std::uint64_t>(group.rows));
    canonical::append_word(groups, group.checksums);
  }
  Row row(tables::winner_seal);
  row << std::int64_t{1} << std::as_bytes(std::span(groups));
  database.connection().execute("DELETE FROM winner_seal");
  row.insert(database.connection());
}

void add(Seal& seal, const Key& key, const Row& row) {
  Group& group = seal[{key.device, key.regime}];
  ++group.rows;
  group.checksums += std::bit_cast<std::uint64_t>(row.checksum());
}

void write_all(Database& database, const std::map<Key, Derived>& derived) {
  database.connection().execute("DELETE FROM winner");
  Seal seal;
  for (const auto& [key, winner] : derived) {
    const Row one = row(key, winner);
    one.insert(database.connection());
    add(seal, key, one);
  }
  write_seal(database, seal);
}

// Whether the stored winners, sound and sealed, are exactly these.
bool stored(Database& database, const std::map<Key, Derived>& derived) {
  Seal wanted;
  std::set<std::int64_t> checksums;
  for (const auto& [key, winner] : derived) {
    const Row one = row(key, winner);
    add(wanted, key, one);
    checksums.insert(one.checksum());
  }
  try {
    if (read_seal(database) != wanted) return false;
    static const std::string sql = "SELECT " + tables::winner.select("w") + " FROM winner w";
    sqlite::Query query(database.connection(), sql);
    std::size_t count = 0;
    for (; query->step(); ++count) {
      if (!sound(*query, tables::winner) || !checksums.contains(query->integer(tables::winner.width() - 1))) {
        return false;
      }
    }
    return count == derived.size();
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::unusable) return false;
    throw;
  }
}

}  // namespace

std::optional<Id> current_source(Database& database, const std::string& family, const std::string& variant) {
  static const std::string sql =
      "SELECT " + tables::template_use.select("u") + "," + tables::template_.select("t") +
      " FROM template_use u JOIN template t ON t.id=u.template"
      " WHERE u.family=?1 AND u.variant=?2 ORDER BY u.used_us DESC, u.template DESC LIMIT 1";
  sqlite::Query query(database.connection(), sql);
  query->bind(1, family).bind(2, variant);
  if (!query->step()) return std::nullopt;
  verify(*query, tables::template_use);
  verify(*query, tables::template_, tables::template_use.width());
  return query->id(tables::template_use.width() + 3);
}

Row row(const Key& key, const Derived& derived) {
  Row row(tables::winner);
  row << key.device << name(key.regime) << key.problem << key.alignment << derived.configuration
      << derived.needs_alignment << derived.source_hash << derived.build_key << derived.environment
      << derived.run << derived.measurement << derived.decision << derived.statistics.n
      << derived.statistics.minimum << derived.statistics.q1 << derived.statistics.median
      << derived.statistics.q3 << derived.tied << derived.decided_us;
  return row;
}

std::map<Key, Derived> derive(Database& database, const std::optional<Key>& only) {
  static const std::string all = "SELECT d.device," + tables::decision.select("d") + " FROM decision d";
  static const std::string one =
      all + " WHERE d.device=?1 AND d.problem=?2 AND d.regime=?3 AND d.alignment=?4";
  static const std::string order =
      " ORDER BY d.device,d.problem,d.regime,d.alignment,d.decided_us DESC,d.run DESC,d.id DESC";
  sqlite::Query query(database.connection(), (only ? one : all) + order);
  if (only)
    query->bind(1, only->device).bind(2, only->problem).bind(3, name(only->regime)).bind(4, only->alignment);

  std::map<Key, Derived> derived;
  Sources sources(database);
  Lookup lookup(database);
  while (query->step()) {
    const Decision decision = rows::decision(*query, 1);
    const Key key{query->id(0), decision.regime, decision.problem, decision.alignment};
    if (derived.contains(key)) continue;  // a newer decision serves it
    const Measurement chosen = measurement(database, decision.chosen);
    if (!sources.current(lookup.configuration(chosen.configuration), chosen.source_hash)) continue;
    Derived& winner = derived[key];
    winner.configuration = chosen.configuration;
    winner.needs_alignment = chosen.alignment;
    winner.source_hash = chosen.source_hash;
    if (chosen.build_key != Id{}) winner.build_key = chosen.build_key;
    winner.environment = lookup.run(decision.run).environment;
    winner.run = decision.run;
    winner.measurement = chosen.id;
    winner.decision = decision.id;
    winner.statistics = chosen.statistics;
    winner.tied = static_cast<std::int64_t>(decision.tied.size()) -
                  std::count(decision.tied.begin(), decision.tied.end(), decision.chosen);
    winner.decided_us = decision.decided_us;
  }
  return derived;
}

Seal read_seal(Database& database) {
  static const std::string sql = "SELECT " + tables::winner_seal.select("s") + " FROM winner_seal s";
  sqlite::Query query(database.connection(), sql);
  constexpr std::size_t width = sizeof(Id::bytes) + 1 + 8 + 8;
  if (!query->step())
    throw sqlite::damaged(database.connection().file(), "the seal over the winners is missing");
  verify(*query, tables::winner_seal);
  const auto groups = query->bytes(1);
  Seal seal;
  for (std::size_t at = 0; at + width <= groups.size(); at += width) {
    const std::byte* bytes = groups.data() + at;
    Id device;
    for (std::uint8_t& byte : device.bytes) byte = static_cast<std::uint8_t>(*bytes++);
    const Regime regime = *bytes++ == std::byte{0} ? Regime::steady : Regime::cold;
    seal[{device, regime}] = {static_cast<std::int64_t>(canonical::read_word(bytes)),
                              canonical::read_word(bytes + 8)};
  }
  return seal;
}

void refresh(Database& database, const Key& key) {
  const auto derived = derive(database, key);
  static const std::string sql =
      "SELECT " + tables::winner.select("w") +
      " FROM winner w WHERE w.device=?1 AND w.regime=?2 AND w.problem=?3 AND w.alignment=?4";
  Seal seal = read_seal(database);
  {
    sqlite::Query before(database.connection(), sql);
    before->bind(1, key.device).bind(2, name(key.regime)).bind(3, key.problem).bind(4, key.alignment);
    if (before->step()) {
      verify(*before, tables::winner);
      Group& group = seal[{key.device, key.regime}];
      --group.rows;
      group.checksums -= std::bit_cast<std::uint64_t>(before->integer(tables::winner.width() - 1));
    }
  }
  sqlite::Query drop(database.connection(),
                     "DELETE FROM winner WHERE device=?1 AND regime=?2 AND problem=?3 AND alignment=?4");
  drop->bind(1, key.device).bind(2, name(key.regime)).bind(3, key.problem).bind(4, key.alignment).step();
  for (const auto& [same, winner] : derived) {
    const Row one = row(same, winner);
    one.insert(database.connection());
    add(seal, same, one);
  }
  write_seal(database, seal);
}

void rebuild(Database& database) {
  const auto derived = derive(database);
  if (!stored(database, derived)) write_all(database, derived);
}

}  // namespace hone::db::winners
