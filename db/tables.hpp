// The tables by name and column, and rows that carry a checksum over their canonical form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "db/sqlite.hpp"

namespace hone::db {

/// A table whose last column, after these, is `checksum`.
struct Table {
  Table(std::string name, std::string key, std::vector<std::string> columns);

  std::string name;
  std::string key;                   ///< its primary key, comma-separated
  std::vector<std::string> columns;  ///< in the order that the checksum covers
  std::string insert;                ///< adds a row unless its key is taken
  std::string same;                  ///< counts the rows that have all these values

  /// `m.id,m.run,…,m.checksum`.
  std::string select(const std::string& alias) const;
  /// Columns in select().
  int width() const { return static_cast<int>(columns.size()) + 1; }
};

namespace tables {
extern const Table device, environment, text, template_, template_use, problem, configuration, run, run_end,
    measurement, decision, checked_default, sweep_point, sweep, peak, code_object, winner, winner_seal,
    winner_block, winner_block_seal, band, band_seal, portfolio, portfolio_seal;
/// All of them, referenced ones first.
std::span<const Table* const> all();
/// Those that follow from the others, with their seals.
bool is_derived(const Table& table);

/// What version 6 made one table of.
namespace before_6 {
extern const Table measurement, condition, samples;
}
}  // namespace tables

/// A row to be written, column by column in the table's order.
class Row {
 public:
  explicit Row(const Table& table) : table_(table) {}
  Row& operator<<(std::int64_t number);
  Row& operator<<(double number);
  Row& operator<<(std::string_view text);
  Row& operator<<(std::span<const std::byte> bytes);
  Row& operator<<(const Id& id);
  Row& operator<<(const std::optional<Id>& id);

  /// A column's value, of whatever type it is.
  Row& append(const sqlite::Statement& row, int column);

  std::int64_t checksum() const;

  /// Binds the columns and the checksum, from the first parameter on.
  void bind_all(sqlite::Statement& statement) const;

  /// Writes the row. False: the very row is there already. Another row with its key is an Error.
  bool insert(sqlite::Connection& connection) const;

 private:
  struct Blob {
    std::string bytes;
  };
  using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;
  void bind(sqlite::Statement& statement) const;
  const Table& table_;
  std::vector<Cell> cells_;
};

/// Whether the columns from `first` on, which are select() of `table`, match their checksum.
bool sound(const sqlite::Statement& row, const Table& table, int first = 0);
/// Throws the Error of a damaged file where they do not.
void verify(const sqlite::Statement& row, const Table& table, int first = 0);
/// Throws it unless `holds`: whoever writes a file can make its checksums right, and its values nonsense.
void require(bool holds, const sqlite::Statement& row, const char* otherwise);

}  // namespace hone::db
