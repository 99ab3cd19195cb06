#include "tools/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <compare>
#include <stdexcept>

#include "db/csv.hpp"
#include "db/id.hpp"
#include "runtime/bytes.hpp"
#include "runtime/spelling.hpp"
#include "tools/json.hpp"
#include "tools/layout.hpp"
#include "tools/parse.hpp"
#include "tools/terminal.hpp"
#include "tools/units.hpp"

namespace hone::tools {
namespace {

std::string with_unit(double number, Unit unit) {
  switch (unit) {
    case Unit::none:
      return number_text(number);
    case Unit::bytes:
      return bytes_text(number);
    case Unit::nanoseconds:
      return nanoseconds_text(number);
    case Unit::seconds:
      return duration_text(number);
    case Unit::ratio:
      return fmt::format("{:.1f} %", 100 * number);
    case Unit::date:
      return date_text(static_cast<std::int64_t>(number));
    case Unit::id:
      break;  // no number
  }
  return {};
}

std::string people_text(const Cell& cell, Unit unit) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    return unit == Unit::none ? fmt::format("{}", *whole) : with_unit(static_cast<double>(*whole), unit);
  }
  if (const auto* number = std::get_if<double>(&cell)) return with_unit(*number, unit);
  if (const auto* text = std::get_if<std::string>(&cell))
    return unit == Unit::id && db::Id::parse(*text) ? id_text(*text) : *text;
  if (const auto* structured = std::get_if<Structured>(&cell)) return structured->text;
  return {};
}

std::string json_text(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&cell)) return json_number(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) return json_string(*text);
  if (const auto* structured = std::get_if<Structured>(&cell)) return structured->json;
  return "null";
}

std::string csv_text(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell);
  return db::csv_field(number != nullptr ? fmt::format("{}", *number) : people_text(cell, Unit::none));
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Texts in the order people expect: `numel=64` before `numel=1024`.
std::weak_ordering compare_text(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const auto number = [](std::string_view& text) {
        const std::size_t zeros = std::min(text.find_first_not_of('0'), text.size());
        text.remove_prefix(zeros);
        const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
        const std::string_view result = text.substr(0, digits);
        text.remove_prefix(digits);
        return result;
      };
      const std::string_view left = number(a);
      const std::string_view right = number(b);
      if (left.size() != right.size()) return left.size() <=> right.size();
      if (left != right) return left <=> right;
    } else {
      if (a[0] != b[0]) return a[0] <=> b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() <=> b.size();
}

bool is_absent(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell);
}

std::weak_ordering compare(const Cell& a, const Cell& b) {
  const auto number = [](const Cell& cell) -> std::optional<double> {
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    return std::nullopt;
  };
  const auto left = number(a);
  const auto right = number(b);
  if (left && right) {
    return *left < *right   ? std::weak_ordering::less
           : *left > *right ? std::weak_ordering::greater
                            : std::weak_ordering::equivalent;
  }
  return compare_text(people_text(a, Unit::none), people_text(b, Unit::none));
}

}  // namespace

void Table::add(const Row& row, const Marks& marks) {
  Cells cells{std::vector<Cell>(columns_.size()), std::vector<Mark>(columns_.size(), Mark::none)};
  for (const auto& [key, cell] : row) cells.cells[index_of(key)] = cell;
  for (const auto& [key, mark] : marks) cells.marks[index_of(key)] = mark;
  rows_.push_back(std::move(cells));
}

std::size_t Table::index_of(std::string_view key) const {
  const auto found =
      std::find_if(columns_.begin(), columns_.end(), [&](const Column& each) { return each.key == key; });
  if (found == columns_.end()) throw std::logic_error(fmt::format("table {} has no column {}", what_, key));
  return static_cast<std::size_t>(found - columns_.begin());
}

std::size_t Table::column(std::string_view flag, const std::string& key) const {
  for (const auto& name : {&Column::key, &Column::title}) {
    const auto found =
        std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.*name == key; });
    if (found != columns_.end()) return static_cast<std::size_t>(found - columns_.begin());
  }
  std::vector<std::string> known;
  for (const Column& column : columns_) {
    known.push_back(column.key);
    if (!column.title.empty() && column.title != column.key) known.push_back(column.title);
  }
  throw Error(ErrorCode::invalid, fmt::format("{}: no column `{}`{}", flag, key, suggestion(key, known)));
}

std::string Table::text(const TableStyle& style, std::size_t width, bool lit) const {
  std::vector<const Cells*> rows;
  rows.reserve(rows_.size());
  for (const Cells& row : rows_) rows.push_back(&row);
  if (!style.sort.empty()) {
    const std::size_t key = column("--sort", style.sort);
    std::stable_sort(rows.begin(), rows.end(), [&](const Cells* a, const Cells* b) {
      const Cell& left = (*a)[key];
      const Cell& right = (*b)[key];
      if (is_absent(left) || is_absent(right)) return !is_absent(left) && is_absent(right);
      return style.descending ? compare(right, left) < 0 : compare(left, right) < 0;
    });
  }
  if (style.limit && static_cast<std::size_t>(*style.limit) < rows.size()) {
    rows.resize(static_cast<std::size_t>(*style.limit));
  }
  std::vector<std::size_t> shown;
  for (const std::string& key : style.columns) shown.push_back(column("--columns", key));
  if (shown.empty()) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (style.format != TableStyle::Format::table || !columns_[i].title.empty()) shown.push_back(i);
    }
  }
  if (style.format == TableStyle::Format::table) {
    return for_people(rows, shown, style.columns.empty(), width, lit);
  }
  std::string text;
  if (style.format == TableStyle::Format::csv) {
    for (std::size_t i = 0; i < shown.size(); ++i) text += (i == 0 ? "" : ",") + columns_[shown[i]].key;
    text += '\n';
    for (const Cells* row : rows) {
      for (std::size_t i = 0; i < shown.size(); ++i) text += (i == 0 ? "" : ",") + csv_text((*row)[shown[i]]);
      text += '\n';
    }
    return text;
  }
  text =
      fmt::format("{{\"format\": {}, \"version\": {}, \"rows\": [", json_string("hone/" + what_), version_);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += r == 0 ? "\n  {" : ",\n  {";
    for (std::size_t i = 0; i < shown.size(); ++i) {
      text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", json_string(columns_[shown[i]].key),
                          json_text((*rows[r])[shown[i]]));
    }
    text += '}';
  }
  return text + (rows.empty() ? "]}\n" : "\n]}\n");
}

std::string Table::for_people(const std::vector<const Cells*>& rows, const std::vector<std::size_t>& shown,
                              bool lift, std::size_t width, bool lit) const {
  std::vector<TextColumn> parts;
  for (const std::size_t index : shown) {
    const Column& column = columns_[index];
    TextColumn part;
    part.title = column.title.empty() ? column.key : column.title;
    part.lifts = lift && column.lifts;
    part.yields = column.yields;
    part.obscure = column.obscure;
    bool number = false;
    bool text = false;
    for (const Cells* row : rows) {
      const Cell& cell = (*row)[index];
      part.texts.push_back(people_text(cell, column.unit));
      part.marks.push_back(row->marks[index]);
      const bool is_number =
          std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
      number = number || is_number;
      text = text || (!is_number && !is_absent(cell));
    }
    part.right = number && !text;
    parts.push_back(std::move(part));
  }
  return lines_of(std::move(parts), width, lit);
}

std::size_t width_for_people(const TableStyle& style) {
  return static_cast<std::size_t>(style.wide ? INT_MAX : width_of(Stream::out));
}

void Table::print(const TableStyle& style) const {
  write_out(text(style, width_for_people(style), wants_colour(Stream::out)));
}

void add_format_flag(Options& options) {
  options.value("format", "F", "table (for people), json or csv")
      .flag("wide",
            "no line of a table is broken to fit the terminal, which counts as 40 columns wide at least");
}

void add_table_flags(Options& options, const std::vector<Column>& columns) {
  add_format_flag(options);
  std::vector<std::string> keys;
  for (const Column& column : columns) keys.push_back(column.key);
  options
      .list("columns", "KEYS", "columns to show, by heading or by name in --format json, separated by commas",
            keys)
      .value("sort", "KEY", "sort by a column, named likewise; KEY:desc for the largest first", keys)
      .value("limit", "N", "show at most N rows");
}

TableStyle format_style(const Options& options) {
  TableStyle style;
  const std::string format =
      parse_choice("--format", options.get("format", "table"), {"table", "json", "csv"});
  style.format = format == "json"  ? TableStyle::Format::json
                 : format == "csv" ? TableStyle::Format::csv
                                   : TableStyle::Format::table;
  style.wide = options.has("wide");
  return style;
}

TableStyle table_style(const Options& options) {
  TableStyle style = format_style(options);
  style.columns = split_list("--columns", options.all("columns"));
  style.sort = options.get("sort", "");
  if (const std::size_t colon = style.sort.rfind(':'); colon != std::string::npos) {
    style.descending = parse_choice("--sort", style.sort.substr(colon + 1), {"asc", "desc"}) == "desc";
    style.sort.resize(colon);
  }
  if (options.has("limit")) style.limit = parse_integer("--limit", options.get("limit", ""), 1);
  return style;
}

}  // namespace hone::tools
