// What must hold between records, whatever wrote them.
#pragma once

#include <string>
#include <vector>

#include "db/database.hpp"

namespace hone::db {

/// One line each: rows that point to missing ones, decisions and sweeps on what is not of their key.
std::vector<std::string> faults_between_records(Database& database);

}  // namespace hone::db
