// Every value that a database holds, as text that can be compared.
#pragma once

#include <string>

#include "db/sqlite.hpp"
#include "db/tables.hpp"

namespace hone::db::testing {

/// A line for each row of a table, by its key.
inline std::string contents_of(sqlite::Connection& connection, const Table& table) {
  std::string columns, all;
  for (const std::string& column : table.columns) columns += "quote(t." + column + ")||','||";
  sqlite::Statement row(connection.get(), connection.file(),
                        "SELECT " + columns + "t.checksum FROM " + table.name + " t ORDER BY " + table.key);
  while (row.step()) all += table.name + ':' + std::string(row.text(0)) + '\n';
  return all;
}

/// Of all tables but one.
inline std::string everything(const std::filesystem::path& file, const Table* but = nullptr) {
  sqlite::Connection connection(file, sqlite::Mode::read_only);
  std::string all;
  for (const Table* table : tables::all())
    if (table != but) all += contents_of(connection, *table);
  return all;
}

}  // namespace hone::db::testing
