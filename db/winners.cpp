#include "db/winners.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "db/sources.hpp"
#include "db/winner_blocks.hpp"

namespace hone::db::winners {
namespace {

Measurement measurement(Database& database, const Id& id) {
  static const std::string sql =
      "SELECT " + tables::measurement.select("m") + " FROM measurement m WHERE m.id=?1";
  sqlite::Query query(database.connection(), sql);
  query->bind(1, id);
  if (!query->step())
    throw sqlite::damaged(database.connection().file(), "a decision chose a missing measurement");
  return rows::measurement(*query);
}

// A winner as its row has it.
struct Derived {
  Id configuration;
  std::int64_t needs_alignment = 1;
  Id source_hash;
  std::optional<Id> build_key;
  Id environment, run, measurement, decision;
  Statistics statistics;
  std::int64_t tied = 0;
  std::int64_t decided_us = 0;
};

Row row(const Key& key, const Derived& derived) {
  Row row(tables::winner);
  row << key.device << name(key.regime) << key.problem << key.alignment << derived.configuration
      << derived.needs_alignment << derived.source_hash << derived.build_key << derived.environment
      << derived.run << derived.measurement << derived.decision << derived.statistics.n
      << derived.statistics.minimum << derived.statistics.q1 << derived.statistics.median
      << derived.statistics.q3 << derived.tied << derived.decided_us;
  return row;
}

winner_blocks::Packed packed(const Derived& derived) {
  return {derived.configuration, derived.source_hash, derived.build_key.value_or(Id{}), derived.measurement,
          derived.statistics};
}

// What the decisions say: all keys, or one.
std::map<Key, Derived> derive(Database& database, const std::optional<Key>& only = std::nullopt) {
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

}  // namespace

Rows rows(Database& database) {
  Rows rows;
  winner_blocks::Builder blocks;
  Lookup lookup(database);
  for (const auto& [key, winner] : derive(database)) {
    rows.winners.push_back({key.device, key.regime, row(key, winner)});
    blocks.add(key.device, key.regime, lookup.problem(key.problem), key.alignment, packed(winner));
  }
  rows.blocks = blocks.rows();
  return rows;
}

void refresh(Database& database, const Key& key) {
  const auto derived = derive(database, key);
  static const std::string sql =
      "SELECT " + tables::winner.select("w") +
      " FROM winner w WHERE w.device=?1 AND w.regime=?2 AND w.problem=?3 AND w.alignment=?4";
  derived::Seal seal = derived::read_seal(database, derived::winners());
  derived::Group& group = seal[{key.device, key.regime}];
  {
    sqlite::Query before(database.connection(), sql);
    before->bind(1, key.device).bind(2, name(key.regime)).bind(3, key.problem).bind(4, key.alignment);
    if (before->step()) {
      verify(*before, tables::winner);
      group.remove(before->integer(tables::winner.width() - 1));
    }
  }
  sqlite::Query drop(database.connection(),
                     "DELETE FROM winner WHERE device=?1 AND regime=?2 AND problem=?3 AND alignment=?4");
  drop->bind(1, key.device).bind(2, name(key.regime)).bind(3, key.problem).bind(4, key.alignment).step();
  for (const auto& [same, winner] : derived) {
    const Row one = row(same, winner);
    one.insert(database.connection());
    group.add(one.checksum());
  }
  derived::write_seal(database, derived::winners(), seal);
  Lookup lookup(database);
  winner_blocks::replace(database, key.device, key.regime, lookup.problem(key.problem), key.alignment,
                         derived.empty() ? std::nullopt : std::optional(packed(derived.begin()->second)));
}

void rebuild(Database& database) {
  require_sound_uses(database);
  const Rows all = rows(database);
  derived::replace(database, derived::winners(), all.winners);
  derived::replace(database, derived::winner_blocks(), all.blocks);
}

}  // namespace hone::db::winners
