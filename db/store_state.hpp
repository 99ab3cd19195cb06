// What a Store holds.
#pragma once

#include "db/database.hpp"
#include "db/store.hpp"

namespace hone::db {

struct Store::State {
  State(const std::filesystem::path& file, Access access) : database(file, access) {}
  Database database;
};

}  // namespace hone::db
