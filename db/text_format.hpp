// What is recorded, as text: written whole, and read back to the last bit. Winners and bands are left out;
// they follow from the rest.
//
// JSON Lines: a file whose first line is {"format":"hone/records","version":1,"schema":6}; then a line for
// each row,
// {"table":"device","id":"00…",…}, with all of the table's columns, rows after those that they point to. Ids
// are 32 hexadecimal digits, several of them an array, a missing one null; samples an array of numbers;
// objects as they are stored; bytes base64. A text that is not UTF-8 is ["base64","…"].
//
// CSV (RFC 4180): a folder with a file for each table, named after it, whose first line names its columns.
// Several ids, or samples, have spaces between; a missing id is an empty field.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace hone::db {

enum class TextFormat { json_lines, csv };

/// Writes what a database or pack recorded at one moment; gives the number of rows. Throws where `to` exists;
/// then, as after any other error, nothing is left behind.
std::int64_t export_records(const std::filesystem::path& file, TextFormat format,
                            const std::filesystem::path& to);

struct ImportReport {
  std::int64_t rows = 0;   ///< read
  std::int64_t added = 0;  ///< that the database did not have
};

/// Adds what such files (folders: CSV) hold to a database, which is created where it is missing, and derives
/// what follows. All of it or nothing. Every value is held against what hone itself would have written: an
/// Error{invalid} names file, line and column. Of a code object, a checked default, a run's end and a peak
/// that the database has otherwise, its own stays.
ImportReport import_records(const std::vector<std::filesystem::path>& files,
                            const std::filesystem::path& database);

}  // namespace hone::db
