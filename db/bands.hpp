// Bands, derived from sweeps along the working set: which configuration serves which interval of it.
#pragma once

#include <vector>

#include "db/swept.hpp"

namespace hone::db::bands {

/// The rows that a sweep asks for.
std::vector<derived::DerivedRow> derive(const swept::Measured& measured, Lookup& lookup);

/// A row of the table.
Band read(const sqlite::Statement& row, Lookup& lookup);

}  // namespace hone::db::bands
