#include "db/column_kind.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace hone::db {
namespace {

template <std::size_t n>
bool among(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A column's name says what it holds, in whichever table it is.
constexpr std::array<std::string_view, 19> texts{
    "backend", "name", "architecture", "partition", "content", "family", "variant",
    "layout",  "how",  "element_type", "command",   "regime",  "stage",  "outcome",
    "reason",  "kind", "hone_version", "compiler",  "entry"};
constexpr std::array<std::string_view, 6> reals{"minimum", "q1", "median", "q3", "tie_bound", "resolution"};
constexpr std::array<std::string_view, 13> ids{
    "id",          "source_hash", "manifest",      "source", "template", "run",        "device",
    "environment", "problem",     "configuration", "chosen", "hash",     "measurement"};
constexpr std::array<std::string_view, 4> id_lists{"tied", "measurements", "points", "refused"};

}  // namespace

ColumnKind kind_of(const Table& table, std::size_t column) {
  const std::string_view name = table.columns[column];
  if (name == "build_key") return &table == &tables::code_object ? ColumnKind::id : ColumnKind::optional_id;
  if (name == "incumbent" || name == "by_default") return ColumnKind::optional_id;
  if (name == "items" || name == "settings") return ColumnKind::texts;
  if (name == "dimensions") return ColumnKind::extents;
  if (name == "parameters") return ColumnKind::values;
  if (name == "samples") return ColumnKind::samples;
  if (name == "bytes") return ColumnKind::bytes;
  if (among(ids, name)) return ColumnKind::id;
  if (among(id_lists, name)) return ColumnKind::ids;
  if (among(reals, name)) return ColumnKind::real;
  if (among(texts, name)) return ColumnKind::text;
  return ColumnKind::integer;
}

}  // namespace hone::db
