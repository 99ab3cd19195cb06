// Packs: read-only databases with what serves calls on some devices, and the records behind it.
#pragma once

#include <filesystem>
#include <vector>

#include "db/database.hpp"

namespace hone::db {

/// Writes what calls on `devices` are served from: their winners and bands, defaults checked on them or on
/// others of their architectures, the templates and code objects of all those, and every record that these
/// follow from or point to, so that the pack can be checked and asked like any database. Throws when `to`
/// exists.
void write_pack(Database& from, const std::vector<Id>& devices, const std::filesystem::path& to);

/// Whether the file says in its header that it is a pack. Takes no lock.
bool is_pack(const sqlite::Connection& connection);

}  // namespace hone::db
