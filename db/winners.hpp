// Winners, derived from decisions: which decision serves a key, the stored rows, and the seal that tells
// whether any of them is missing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "db/database.hpp"

namespace hone::db::winners {

struct Key {
  Id device;
  Regime regime = Regime::steady;
  Id problem;
  std::int64_t alignment = 16;
  auto operator<=>(const Key&) const = default;
};

/// A winner as its row has it.
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

/// What the decisions say: all keys, or one. Throws where a record that this rests on is damaged.
std::map<Key, Derived> derive(Database& database, const std::optional<Key>& only = std::nullopt);

/// The row of a winner, for writing and for its checksum.
Row row(const Key& key, const Derived& derived);

/// How many winners there are for a device and regime, and the sum of their checksums, modulo 2^64. A flipped
/// bit in an inner page can hide rows whose own checksums are right.
struct Group {
  std::int64_t rows = 0;
  std::uint64_t checksums = 0;
  bool operator==(const Group&) const = default;
};
using Seal = std::map<std::pair<Id, Regime>, Group>;
/// Throws where the seal is missing or damaged.
Seal read_seal(Database& database);

/// Derives one key's winner again, after a decision for it.
void refresh(Database& database, const Key& key);
/// Derives all of them again. Writes nothing where nothing has changed.
void rebuild(Database& database);

/// The source hash of a variant's newest template; none: it has no template.
std::optional<Id> current_source(Database& database, const std::string& family, const std::string& variant);

}  // namespace hone::db::winners
