#include "db/text_row.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "db/base64.hpp"
#include "db/canonical.hpp"
#include "db/json.hpp"
#include "db/one_line.hpp"
#include "db/records.hpp"
#include "db/schema.hpp"

namespace hone::db {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t longest_record = std::size_t{1} << 28;  // a code object takes a few megabytes

const Table* table_named(std::string_view name) {
  for (const Table* table : tables::all())
    if (table->name == name && !tables::is_derived(*table)) return table;
  return nullptr;
}

/// Values of one row on their way into it.
class Values {
 public:
  Values(const Place& place, const Table& table) : place_(place), table_(table), row_(table) {}

  Row take() { return std::move(row_); }

  [[noreturn]] void fail(std::size_t column, const std::string& why) const {
    place_.fail(fmt::format("{}.{}", table_.name, table_.columns[column]), why);
  }

  void integer(std::int64_t number) { row_ << number; }

  void real(std::size_t column, double number) {
    if (!std::isfinite(number)) fail(column, "is not finite");
    row_ << number;
  }

  void text(std::size_t column, std::string_view text) {
    const std::string& name = table_.columns[column];
    const bool known = name == "regime"    ? parse_regime(text).has_value()
                       : name == "stage"   ? parse_stage(text).has_value()
                       : name == "outcome" ? parse_outcome(text).has_value()
                                           : true;
    if (!known) fail(column, fmt::format("`{:.60}` is none of its words", text));
    row_ << text;
  }

  void id(std::size_t column, std::string_view hex) { row_ << parsed(column, hex); }
  void no_id() { row_ << std::optional<Id>(); }

  void ids(std::size_t column, const std::vector<std::string>& hexes) {
    std::string bytes;
    for (const std::string& hex : hexes) canonical::append_id(bytes, parsed(column, hex));
    row_ << std::as_bytes(std::span(bytes));
  }

  void samples(std::size_t column, const std::vector<double>& numbers) {
    std::string bytes;
    for (const double number : numbers) {
      if (!std::isfinite(number)) fail(column, "has a sample that is not finite");
      canonical::append_word(bytes, std::bit_cast<std::uint64_t>(number));
    }
    row_ << std::as_bytes(std::span(bytes));
  }

  void bytes(std::size_t column, std::string_view text) {
    const auto bytes = parse_base64(text);
    if (!bytes) fail(column, "is not base64");
    row_ << std::span<const std::byte>(*bytes);
  }

  /// Names and values of an object as it is stored: in one way only.
  void object(std::size_t column, const json::Members& members) {
    const ColumnKind kind = kind_of(table_, column);
    std::string before;
    bool first = true;
    std::map<std::string_view, int> names;
    for (const auto& [name, value] : members) {
      if (kind == ColumnKind::texts && !std::holds_alternative<std::string>(value))
        fail(column, fmt::format("`{:.60}` is not a text", name));
      if (kind == ColumnKind::extents && !std::holds_alternative<std::int64_t>(value))
        fail(column, fmt::format("`{:.60}` is not an integer", name));
      if (++names[name] > 1) fail(column, fmt::format("has `{:.60}` twice", name));
      if (kind != ColumnKind::extents && !first && name < before)
        fail(column, fmt::format("`{:.60}` is not in the order of the names", name));
      before = name;
      first = false;
    }
    row_ << json::write(members);
  }

  /// The same from the text that is stored.
  void object(std::size_t column, std::string_view stored) {
    json::Members members;
    try {
      members = json::read(stored);
    } catch (const std::invalid_argument& error) {
      fail(column, fmt::format("is {}", error.what()));
    }
    object(column, members);
  }

 private:
  Id parsed(std::size_t column, std::string_view hex) const {
    const auto id = Id::parse(hex);
    if (!id) fail(column, fmt::format("`{:.60}` is no id of 32 hexadecimal digits", hex));
    return *id;
  }

  const Place& place_;
  const Table& table_;
  Row row_;
};

/// What nlohmann::json says, without its number.
std::string told(const Json::exception& error) {
  const std::string line = error.what();
  const auto end = line.find("] ");
  return end == std::string::npos ? line : line.substr(end + 2);
}

// ---- JSON Lines ----

class JsonRow {
 public:
  JsonRow(const Place& place, const Table& table, const Json& line)
      : table_(table), line_(line), values_(place, table) {
    for (const auto& [key, value] : line.items()) {
      const bool known =
          key == "table" || std::find(table.columns.begin(), table.columns.end(), key) != table.columns.end();
      if (!known) place.fail(table.name, fmt::format("has no column `{:.60}`", key));
    }
    for (std::size_t column = 0; column < table.columns.size(); ++column) add(column);
  }

  Row take() { return values_.take(); }

 private:
  void add(std::size_t column) {
    const auto found = line_.find(table_.columns[column]);
    if (found == line_.end()) values_.fail(column, "is missing");
    const Json& value = *found;
    switch (kind_of(table_, column)) {
      case ColumnKind::integer:
        return values_.integer(integer(column, value));
      case ColumnKind::real:
        if (!value.is_number()) values_.fail(column, "is not a number");
        return values_.real(column, value.get<double>());
      case ColumnKind::text:
        return values_.text(column, text(column, value));
      case ColumnKind::optional_id:
        if (value.is_null()) return values_.no_id();
        return values_.id(column, string(column, value));
      case ColumnKind::id:
        return values_.id(column, string(column, value));
      case ColumnKind::ids: {
        std::vector<std::string> hexes;
        for (const Json& each : array(column, value)) hexes.push_back(string(column, each));
        return values_.ids(column, hexes);
      }
      case ColumnKind::samples: {
        std::vector<double> numbers;
        for (const Json& each : array(column, value)) {
          if (!each.is_number()) values_.fail(column, "has a sample that is not a number");
          numbers.push_back(each.get<double>());
        }
        return values_.samples(column, numbers);
      }
      case ColumnKind::bytes:
        return values_.bytes(column, string(column, value));
      case ColumnKind::texts:
      case ColumnKind::extents:
      case ColumnKind::values:
        return object(column, value);
    }
  }

  std::int64_t integer(std::size_t column, const Json& value) {
    const bool fits =
        value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
    if (!fits) values_.fail(column, "is not an integer of 64 bits");
    return value.get<std::int64_t>();
  }

  const std::string& string(std::size_t column, const Json& value) {
    if (!value.is_string()) values_.fail(column, "is not a text");
    return value.get_ref<const std::string&>();
  }

  const Json& array(std::size_t column, const Json& value) {
    if (!value.is_array()) values_.fail(column, "is not an array");
    return value;
  }

  /// Of ["base64", "…"].
  std::string decoded(std::size_t column, const Json& value) {
    if (!value.is_array() || value.size() != 2 || value[0] != "base64")
      values_.fail(column, "is neither a text nor [\"base64\", …]");
    const auto bytes = parse_base64(string(column, value[1]));
    if (!bytes) values_.fail(column, "is not base64");
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  }

  std::string text(std::size_t column, const Json& value) {
    return value.is_string() ? value.get<std::string>() : decoded(column, value);
  }

  void object(std::size_t column, const Json& value) {
    if (value.is_array()) return values_.object(column, decoded(column, value));
    if (!value.is_object()) values_.fail(column, "is not an object");
    json::Members members;
    for (const auto& [name, member] : value.items()) {
      if (member.is_string())
        members.emplace_back(name, member.get<std::string>());
      else
        members.emplace_back(name, integer(column, member));
    }
    values_.object(column, members);
  }

  const Table& table_;
  const Json& line_;
  Values values_;
};

Json parsed(const Place& place, const std::string& line) {
  try {
    return Json::parse(line);
  } catch (const Json::exception& error) {
    place.fail("the line", "is not JSON: " + told(error));
  }
}

void require_header(const Place& place, const Json& header) {
  const auto is = [&](const char* key, const Json& wanted) {
    const auto found = header.find(key);
    return found != header.end() && *found == wanted;
  };
  if (!header.is_object() || !is("format", "hone/records") || !is("version", 1))
    place.fail("format", "is not hone/records of version 1; `hone db export` writes such files");
  if (!is("schema", schema::steps().back().version))
    place.fail(
        "schema",
        fmt::format("is not {}; export with the hone that wrote the database, migrate it by `hone tune`, "
                    "and export it again",
                    schema::steps().back().version));
}

bool read_line(std::istream& in, const Place& place, std::string& line) {
  line.clear();
  std::streambuf& buffer = *in.rdbuf();
  for (int c = buffer.sbumpc(); c != std::char_traits<char>::eof(); c = buffer.sbumpc()) {
    if (c == '\n') return true;
    if (line.size() == longest_record) place.fail("the line", "is longer than 256 MiB");
    line += static_cast<char>(c);
  }
  return !line.empty();
}

std::ifstream open(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::error_code ignored;
  if (!in || !std::filesystem::is_regular_file(file, ignored))
    throw Error(Error::Kind::invalid,
                fmt::format("{}: cannot be read; name a file that `hone db export` wrote", file.string()));
  return in;
}

// ---- CSV ----

/// Reads records of RFC 4180.
class Csv {
 public:
  explicit Csv(const std::filesystem::path& file) : in_(open(file)), place_{file.string(), 0} {}

  /// The next record's fields; false: there is none. Its place is where it begins.
  bool next(std::vector<std::string>& fields) {
    place_.line = line_;
    fields.clear();
    std::size_t size = 0;
    std::streambuf& buffer = *in_.rdbuf();
    if (buffer.sgetc() == eof) return false;
    std::string field;
    bool quoted = false, was_quoted = false;
    while (true) {
      const int c = buffer.sbumpc();
      if (++size > longest_record) place_.fail("the record", "is longer than 256 MiB");
      if (c == eof && quoted) place_.fail("the record", "ends within quotes");
      if (c == '\n') ++line_;
      if (quoted) {
        if (c != '"') {
          field += static_cast<char>(c);
        } else if (buffer.sgetc() == '"') {
          field += static_cast<char>(buffer.sbumpc());
        } else {
          quoted = false;
        }
        continue;
      }
      if (c == '\r' && buffer.sgetc() == '\n') continue;
      if (c == ',' || c == '\n' || c == eof) {
        fields.push_back(std::move(field));
        field.clear();
        was_quoted = false;
        if (c != ',') return true;
        continue;
      }
      if (c == '"' && field.empty() && !was_quoted) {
        quoted = was_quoted = true;
        continue;
      }
      if (c == '"' || was_quoted) place_.fail("the record", "has quotes within a field");
      field += static_cast<char>(c);
    }
  }

  const Place& place() const { return place_; }

 private:
  static constexpr int eof = std::char_traits<char>::eof();
  std::ifstream in_;
  Place place_;
  std::int64_t line_ = 1;
};

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    found.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

class CsvRow {
 public:
  CsvRow(const Place& place, const Table& table, const std::vector<std::string>& fields,
         const std::vector<std::size_t>& field_of)
      : table_(table), values_(place, table) {
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      add(column, fields[field_of[column]]);
  }

  Row take() { return values_.take(); }

 private:
  template <typename Number>
  Number number(std::size_t column, const std::string& text, const char* what) {
    Number result{};
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, result);
    if (error != std::errc() || at != end)
      values_.fail(column, fmt::format("`{:.60}` is not {}", text, what));
    return result;
  }

  void add(std::size_t column, const std::string& text) {
    switch (kind_of(table_, column)) {
      case ColumnKind::integer:
        return values_.integer(number<std::int64_t>(column, text, "an integer of 64 bits"));
      case ColumnKind::real:
        return values_.real(column, number<double>(column, text, "a number"));
      case ColumnKind::text:
        return values_.text(column, text);
      case ColumnKind::optional_id:
        if (text.empty()) return values_.no_id();
        return values_.id(column, text);
      case ColumnKind::id:
        return values_.id(column, text);
      case ColumnKind::ids:
        return values_.ids(column, words(text));
      case ColumnKind::samples: {
        std::vector<double> numbers;
        for (const std::string& word : words(text))
          numbers.push_back(number<double>(column, word, "a number"));
        return values_.samples(column, numbers);
      }
      case ColumnKind::bytes:
        return values_.bytes(column, text);
      case ColumnKind::texts:
      case ColumnKind::extents:
      case ColumnKind::values:
        return values_.object(column, text);
    }
  }

  const Table& table_;
  Values values_;
};

/// Which field each of the table's columns is.
std::vector<std::size_t> fields_of(const Place& place, const Table& table,
                                   const std::vector<std::string>& names) {
  std::vector<std::size_t> fields;
  for (const std::string& column : table.columns) {
    const auto found = std::find(names.begin(), names.end(), column);
    if (found == names.end()) place.fail(table.name, fmt::format("the column `{}` is missing", column));
    fields.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  if (names.size() != table.columns.size()) place.fail(table.name, "has other columns than its own");
  return fields;
}

}  // namespace

void Place::fail(const std::string& field, const std::string& why) const {
  throw Error(Error::Kind::invalid, one_line(fmt::format("{}:{}: {}: {}", file, line, field, why)));
}

void read_json_lines(const std::filesystem::path& file, const Visit& visit) {
  std::ifstream in = open(file);
  Place place{file.string(), 1};
  std::string line;
  read_line(in, place, line);
  require_header(place, parsed(place, line));
  for (++place.line; read_line(in, place, line); ++place.line) {
    const Json json = parsed(place, line);
    if (!json.is_object()) place.fail("the line", "is not an object");
    const auto name = json.find("table");
    if (name == json.end() || !name->is_string()) place.fail("table", "is missing or no text");
    const Table* table = table_named(name->get_ref<const std::string&>());
    if (table == nullptr)
      place.fail("table", fmt::format("there is none `{:.60}`", name->get<std::string>()));
    visit(place, *table, JsonRow(place, *table, json).take());
  }
}

void read_csv(const std::filesystem::path& folder, const Visit& visit) {
  for (const Table* table : tables::all()) {
    if (tables::is_derived(*table)) continue;
    Csv csv(folder / (table->name + ".csv"));
    std::vector<std::string> fields;
    csv.next(fields);
    const std::vector<std::size_t> field_of = fields_of(csv.place(), *table, fields);
    while (csv.next(fields)) {
      if (fields.size() != table->columns.size())
        csv.place().fail(table->name,
                         fmt::format("has {} fields, not {}", fields.size(), table->columns.size()));
      visit(csv.place(), *table, CsvRow(csv.place(), *table, fields, field_of).take());
    }
  }
}

}  // namespace hone::db
