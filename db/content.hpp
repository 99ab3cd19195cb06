// What a right checksum does not prove of a row: that its id is that of its content, and its words and
// numbers are valid.
#pragma once

#include <string>

#include "db/tables.hpp"

namespace hone::db {

/// What is wrong with a row whose checksum is right, in a few words; empty: nothing. `row` is select() of the
/// table. Whether what it points to is there is not looked at.
std::string fault_in_content(const Table& table, const sqlite::Statement& row);

}  // namespace hone::db
