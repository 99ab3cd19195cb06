// Bands, derived from sweeps: which configuration serves which interval of the working set.
#pragma once

#include <vector>

#include "db/derived.hpp"

namespace hone::db::bands {

/// The rows that the sweeps ask for. Throws where a record that they rest on is damaged.
std::vector<derived::DerivedRow> rows(Database& database);

/// Derives them again. Writes nothing where nothing has changed.
void rebuild(Database& database);

/// A row of the table.
Band read(const sqlite::Statement& row, Lookup& lookup);

}  // namespace hone::db::bands
