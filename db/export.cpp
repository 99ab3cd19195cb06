#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <functional>

#include "db/backup.hpp"
#include "db/base64.hpp"
#include "db/canonical.hpp"
#include "db/column_kind.hpp"
#include "db/csv.hpp"
#include "db/folder.hpp"
#include "db/json.hpp"
#include "db/private_file.hpp"
#include "db/schema.hpp"
#include "db/snapshot.hpp"
#include "db/text_format.hpp"
#include "db/utf8.hpp"

namespace hone::db {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

/// The shortest decimal that reads back as the number. JSON's readers take -0 for an integer, which has no
/// sign.
std::string decimal(const sqlite::Statement& row, double number) {
  if (!std::isfinite(number)) throw sqlite::damaged(row.file(), "a time is not finite");
  return number == 0 && std::signbit(number) ? "-0.0" : fmt::format("{}", number);
}

/// Each id, or each sample, of a column that has several.
void each(const sqlite::Statement& row, int column, ColumnKind kind,
          const std::function<void(const std::string&)>& visit) {
  const auto bytes = row.bytes(column);
  const std::size_t width = kind == ColumnKind::ids ? sizeof(Id::bytes) : sizeof(double);
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    const auto one = bytes.subspan(at, width);
    visit(kind == ColumnKind::ids ? hex(one)
                                  : decimal(row, std::bit_cast<double>(canonical::read_word(one.data()))));
  }
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// As a JSON value.
void append_json(std::string& out, const sqlite::Statement& row, int column, ColumnKind kind) {
  switch (kind) {
    case ColumnKind::integer:
      out += fmt::format("{}", row.integer(column));
      return;
    case ColumnKind::real:
      out += decimal(row, row.real(column));
      return;
    case ColumnKind::text:
    case ColumnKind::texts:
    case ColumnKind::extents:
    case ColumnKind::values:
      if (!is_utf8(row.text(column)))
        out += "[\"base64\",\"" + base64(bytes_of(row.text(column))) + "\"]";
      else if (kind == ColumnKind::text)
        json::append_string(out, row.text(column));
      else
        out += row.text(column);
      return;
    case ColumnKind::id:
    case ColumnKind::optional_id:
      out += row.type(column) == SQLITE_NULL ? "null" : '"' + hex(row.bytes(column)) + '"';
      return;
    case ColumnKind::ids:
    case ColumnKind::samples: {
      const char* const quote = kind == ColumnKind::ids ? "\"" : "";
      out += '[';
      const std::size_t start = out.size();
      each(row, column, kind, [&](const std::string& one) {
        if (out.size() > start) out += ',';
        out += quote + one + quote;
      });
      out += ']';
      return;
    }
    case ColumnKind::bytes:
      out += '"' + base64(row.bytes(column)) + '"';
      return;
  }
}

/// As a field of CSV.
void append_csv(std::string& out, const sqlite::Statement& row, int column, ColumnKind kind) {
  switch (kind) {
    case ColumnKind::integer:
      out += fmt::format("{}", row.integer(column));
      return;
    case ColumnKind::real:
      out += decimal(row, row.real(column));
      return;
    case ColumnKind::text:
    case ColumnKind::texts:
    case ColumnKind::extents:
    case ColumnKind::values:
      out += csv_field(row.text(column));
      return;
    case ColumnKind::id:
    case ColumnKind::optional_id:
      if (row.type(column) != SQLITE_NULL) out += hex(row.bytes(column));
      return;
    case ColumnKind::ids:
    case ColumnKind::samples: {
      const std::size_t start = out.size();
      each(row, column, kind, [&](const std::string& one) {
        if (out.size() > start) out += ' ';
        out += one;
      });
      return;
    }
    case ColumnKind::bytes:
      out += base64(row.bytes(column));
      return;
  }
}

/// A file that is complete, and on the disk, once it was closed.
class Output {
 public:
  explicit Output(const std::filesystem::path& file)
      : file_(file), stream_(file, std::ios::binary | std::ios::trunc) {
    std::filesystem::permissions(file,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    require();
  }
  void write(const std::string& text) {
    stream_.write(text.data(), static_cast<std::streamsize>(text.size()));
    require();
  }
  void close() {
    stream_.close();
    require();
    synchronise(file_);
  }

 private:
  void require() const {
    if (!stream_)
      throw Error(Error::Kind::full,
                  fmt::format("{}: cannot be written; make room or check the permissions", file_.string()));
  }
  std::filesystem::path file_;
  std::ofstream stream_;
};

/// Gives each row, verified, in the order of their keys.
std::int64_t each_row(sqlite::Connection& connection, const Table& table,
                      const std::function<void(const sqlite::Statement&)>& visit) {
  sqlite::Statement row(
      connection.get(), connection.file(),
      fmt::format("SELECT {} FROM {} t ORDER BY {}", table.select("t"), table.name, table.key));
  std::int64_t rows = 0;
  for (; row.step(); ++rows) {
    verify(row, table);
    visit(row);
  }
  return rows;
}

std::int64_t write_json_lines(sqlite::Connection& from, const std::filesystem::path& part) {
  Output out(part);
  out.write(fmt::format("{{\"format\":\"hone/records\",\"version\":1,\"schema\":{}}}\n",
                        schema::steps().back().version));
  std::int64_t rows = 0;
  for (const Table* table : tables::all()) {
    if (tables::is_derived(*table)) continue;
    rows += each_row(from, *table, [&](const sqlite::Statement& row) {
      std::string line = "{\"table\":\"" + table->name + '"';
      for (std::size_t column = 0; column < table->columns.size(); ++column) {
        line += ",\"" + table->columns[column] + "\":";
        append_json(line, row, static_cast<int>(column), kind_of(*table, column));
      }
      out.write(line + "}\n");
    });
  }
  out.close();
  return rows;
}

std::int64_t write_csv(sqlite::Connection& from, const std::filesystem::path& part) {
  std::filesystem::remove(part);
  make_private_folders(part);
  std::int64_t rows = 0;
  for (const Table* table : tables::all()) {
    if (tables::is_derived(*table)) continue;
    Output out(part / (table->name + ".csv"));
    std::string line;
    for (const std::string& column : table->columns) line += (line.empty() ? "" : ",") + column;
    out.write(line + "\n");
    rows += each_row(from, *table, [&](const sqlite::Statement& row) {
      line.clear();
      for (std::size_t column = 0; column < table->columns.size(); ++column) {
        if (column > 0) line += ',';
        append_csv(line, row, static_cast<int>(column), kind_of(*table, column));
      }
      out.write(line + "\n");
    });
    out.close();
  }
  return rows;
}

}  // namespace

std::int64_t export_records(const std::filesystem::path& file, TextFormat format,
                            const std::filesystem::path& to) {
  std::int64_t rows = 0;
  publish(to, [&](const std::filesystem::path& part) {
    const PrivateFolder folder(std::filesystem::absolute(to).parent_path());
    const Snapshot snapshot(file, folder.path() / "0.db");
    snapshot.read([&] {
      rows = format == TextFormat::csv ? write_csv(snapshot.connection(), part)
                                       : write_json_lines(snapshot.connection(), part);
    });
  });
  return rows;
}

}  // namespace hone::db
