// What the values of each column are, for those who write and read them as text.
#pragma once

#include <string_view>

#include "db/tables.hpp"

namespace hone::db {

enum class ColumnKind {
  integer,
  real,
  text,
  id,
  optional_id,
  ids,      ///< one after another
  texts,    ///< a JSON object of texts
  extents,  ///< a JSON object of integers, in an order that counts
  values,   ///< a JSON object of integers and texts
  samples,  ///< doubles
  bytes,
};

/// Of the table's column of this index.
ColumnKind kind_of(const Table& table, std::size_t column);

}  // namespace hone::db
