// Winners, derived from decisions: which decision serves a key, and the stored rows, one by one and packed.
#pragma once

#include <vector>

#include "db/database.hpp"
#include "db/derived.hpp"

namespace hone::db::winners {

struct Key {
  Id device;
  Regime regime = Regime::steady;
  Id problem;
  std::int64_t alignment = 16;
  auto operator<=>(const Key&) const = default;
};

/// The rows that the decisions ask for, and the blocks of them. Throws where a record that they rest on is
/// damaged.
struct Rows {
  std::vector<derived::DerivedRow> winners, blocks;
};
Rows rows(Database& database);

/// Derives one key's winner again, after a decision for it.
void refresh(Database& database, const Key& key);
/// Derives all of them again. Writes nothing where nothing has changed.
void rebuild(Database& database);

}  // namespace hone::db::winners
