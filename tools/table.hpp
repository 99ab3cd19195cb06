// Rows with named columns, printed for people (aligned, with units), as CSV or as JSON.
//
// JSON is one object: {"format": "hone/<what>", "version": 1, "rows": [{...}, ...]}. A row has every column
// by its key; numbers are plain (bytes, nanoseconds, ratios) and absent values null. Keys are added without a
// new version; a version changes when one is removed or changes its meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tools/layout.hpp"
#include "tools/options.hpp"

namespace hone::tools {

/// A value with structure: an object or array in JSON, a text elsewhere.
struct Structured {
  std::string json;
  std::string text;
};

using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Structured>;

/// `true` in JSON, `yes` elsewhere.
inline Structured yes_no(bool value) {
  return value ? Structured{"true", "yes"} : Structured{"false", "no"};
}

/// `id`: of a record, of which people are shown the first digits.
enum class Unit { none, bytes, nanoseconds, seconds, ratio, date, id };

struct Column {
  std::string key;    ///< in JSON, in CSV and for --columns and --sort
  std::string title;  ///< above the column, for people; empty: shown to them only when asked for
  Unit unit = Unit::none;
  bool lifts = false;    ///< said once above rows that share it: see tools/layout.hpp
  bool yields = false;   ///< the first to give way where the terminal is too narrow
  bool obscure = false;  ///< its texts do not tell what they are, and keep their title wherever they go
};

struct TableStyle {
  enum class Format { table, json, csv } format = Format::table;
  std::vector<std::string> columns;  ///< by key or title; empty: the usual ones
  std::string sort;                  ///< a key or title; empty: as added
  bool descending = false;
  std::optional<std::int64_t> limit;
  bool wide = false;  ///< for people too: as wide as it comes
};

/// Columns of stdout that texts for people have.
std::size_t width_for_people(const TableStyle& style);

class Table {
 public:
  using Row = std::vector<std::pair<std::string_view, Cell>>;

  /// `what` names the rows: `winners` gives the format `hone/winners`.
  Table(std::string what, std::vector<Column> columns, int version = 1)
      : what_(std::move(what)), version_(version), columns_(std::move(columns)) {}

  using Marks = std::vector<std::pair<std::string_view, Mark>>;

  /// Columns not named are absent. `marks` are of cells, by their keys, for people's eyes alone.
  void add(const Row& row, const Marks& marks = {});
  bool empty() const noexcept { return rows_.empty(); }

  /// The whole output. No line of people's tables is longer than `width`; `lit` makes their titles bold
  /// and colours marked cells.
  std::string text(const TableStyle& style, std::size_t width, bool lit) const;
  /// To stdout.
  void print(const TableStyle& style) const;

 private:
  struct Cells {
    std::vector<Cell> cells;
    std::vector<Mark> marks;
    const Cell& operator[](std::size_t column) const { return cells[column]; }
  };
  std::size_t index_of(std::string_view key) const;
  std::size_t column(std::string_view flag, const std::string& key) const;
  std::string for_people(const std::vector<const Cells*>& rows, const std::vector<std::size_t>& shown,
                         bool lift, std::size_t width, bool lit) const;

  std::string what_;
  int version_;
  std::vector<Column> columns_;
  std::vector<Cells> rows_;
};

/// --format and --wide alone, for verbs whose rows are few.
void add_format_flag(Options& options);
TableStyle format_style(const Options& options);

/// Those, --columns, --sort, --limit; `columns` are the table's.
void add_table_flags(Options& options, const std::vector<Column>& columns);
TableStyle table_style(const Options& options);

}  // namespace hone::tools
