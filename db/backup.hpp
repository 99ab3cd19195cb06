// A consistent copy of an open database, published whole under its name or not at all.
#pragma once

#include <filesystem>

#include "db/sqlite.hpp"

namespace hone::db {

/// Throws when `to` exists.
void copy_database(sqlite::Connection& from, const std::filesystem::path& to);

}  // namespace hone::db
