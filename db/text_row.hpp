// A row from text: each column's value is held against its kind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "db/column_kind.hpp"

namespace hone::db {

/// Where in which file a text stands.
struct Place {
  std::string file;
  std::int64_t line = 0;
  /// Throws Error{invalid}: `file:line: field: why`.
  [[noreturn]] void fail(const std::string& field, const std::string& why) const;
};

using Visit = std::function<void(const Place&, const Table&, const Row&)>;

/// Gives each row of a file of JSON Lines in its order.
void read_json_lines(const std::filesystem::path& file, const Visit& visit);

/// Gives each row of a folder of CSV files, table by table, referenced ones first.
void read_csv(const std::filesystem::path& folder, const Visit& visit);

}  // namespace hone::db
