#include "db/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "db/canonical.hpp"

namespace hone::db {

Table::Table(std::string table, std::string primary_key, std::vector<std::string> all)
    : name(std::move(table)), key(std::move(primary_key)), columns(std::move(all)) {
  std::string places, equal;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    places += fmt::format("?{},", i + 1);
    equal += fmt::format("{}{} IS ?{}", i == 0 ? "" : " AND ", columns[i], i + 1);
  }
  insert = fmt::format("INSERT INTO {}({},checksum) VALUES({}?{}) ON CONFLICT({}) DO NOTHING", name,
                       fmt::join(columns, ","), places, columns.size() + 1, key);
  same = fmt::format("SELECT count(*) FROM {} WHERE {}", name, equal);
}

std::string Table::select(const std::string& alias) const {
  std::string list;
  for (const std::string& column : columns) list += alias + '.' + column + ',';
  return list + alias + ".checksum";
}

namespace tables {

const Table device{"device",
                   "id",
                   {"id", "backend", "name", "architecture", "compute_units", "memory_bytes",
                    "last_level_cache_bytes", "partition"}};
const Table environment{"environment", "id", {"id", "items"}};
const Table text{"text", "id", {"id", "content"}};
const Table template_{"template", "id", {"id", "family", "variant", "source_hash", "manifest", "source"}};
const Table template_use{
    "template_use", "family,variant,used_us,template", {"family", "variant", "used_us", "template"}};
const Table problem{"problem", "id", {"id", "family", "element_type", "layout", "dimensions"}};
const Table configuration{"configuration", "id", {"id", "family", "variant", "parameters"}};
const Table run{"run",
                "id",
                {"id", "started_us", "device", "environment", "command", "hone_version", "seed", "settings"}};
const Table run_end{"run_end", "run,ended_us", {"run", "ended_us", "how"}};
const Table measurement{"measurement",
                        "id",
                        {"id",
                         "run",
                         "device",
                         "problem",
                         "configuration",
                         "source_hash",
                         "regime",
                         "stage",
                         "outcome",
                         "reason",
                         "alignment",
                         "launches",
                         "n",
                         "minimum",
                         "q1",
                         "median",
                         "q3",
                         "clock_mhz",
                         "throttled",
                         "build_key",
                         "taken_us",
                         "temperature_c",
                         "discarded",
                         "samples"}};
const Table decision{"decision",
                     "id",
                     {"id", "run", "device", "problem", "regime", "alignment", "chosen", "incumbent",
                      "by_default", "tied", "tie_bound", "decided_us"}};
const Table checked_default{"checked_default",
                            "device,family,element_type,layout,checked_us",
                            {"device", "family", "element_type", "layout", "checked_us", "configuration",
                             "needs_alignment", "source_hash", "build_key"}};
const Table sweep_point{
    "sweep_point",
    "id",
    {"id", "run", "device", "problem", "regime", "working_set", "measurements", "taken_us"}};
const Table sweep{"sweep",
                  "id",
                  {"id", "run", "device", "family", "element_type", "layout", "regime", "resolution",
                   "points", "refused", "swept_us"}};
const Table peak{"peak", "device,kind,given_us", {"device", "kind", "given_us", "per_second"}};
const Table code_object{
    "code_object", "build_key", {"build_key", "architecture", "compiler", "entry", "hash", "bytes"}};
const Table winner{"winner",
                   "device,regime,problem,alignment",
                   {"device", "regime", "problem", "alignment", "configuration", "needs_alignment",
                    "source_hash", "build_key", "environment", "run", "measurement", "decision", "n",
                    "minimum", "q1", "median", "q3", "tied", "decided_us"}};
const Table winner_seal{"winner_seal", "id", {"id", "groups"}};
const Table winner_block{
    "winner_block",
    "device,regime,family,element_type,layout,dimensions,first_byte",
    {"device", "regime", "family", "element_type", "layout", "dimensions", "first_byte", "winners"}};
const Table winner_block_seal{"winner_block_seal", "id", {"id", "groups"}};
const Table band{
    "band",
    "device,regime,family,element_type,layout,alignment,lo",
    {"device",      "regime",    "family",       "element_type",  "layout",          "alignment",
     "lo",          "hi",        "extrapolated", "configuration", "needs_alignment", "regret",
     "points",      "first",     "last",         "worst",         "resolution",      "measurement",
     "source_hash", "build_key", "environment",  "run",           "sweep",           "swept_us"}};
const Table band_seal{"band_seal", "id", {"id", "groups"}};
const Table portfolio{"portfolio",
                      "device,regime,family,element_type,layout,alignment,configuration",
                      {"device", "regime", "family", "element_type", "layout", "alignment", "configuration",
                       "needs_alignment", "points", "regret", "costs", "measurement", "source_hash",
                       "build_key", "environment", "run", "sweep", "swept_us"}};
const Table portfolio_seal{"portfolio_seal", "id", {"id", "groups"}};

std::span<const Table* const> all() {
  static const Table* const list[] = {&device,       &environment, &text,          &template_,
                                      &template_use, &problem,     &configuration, &run,
                                      &run_end,      &measurement, &decision,      &checked_default,
                                      &sweep_point,  &sweep,       &peak,          &code_object,
                                      &winner,       &winner_seal, &winner_block,  &winner_block_seal,
                                      &band,         &band_seal,   &portfolio,     &portfolio_seal};
  return list;
}

bool is_derived(const Table& table) {
  for (const Table* derived : {&winner, &winner_seal, &winner_block, &winner_block_seal, &band, &band_seal,
                               &portfolio, &portfolio_seal})
    if (&table == derived) return true;
  return false;
}

namespace before_6 {
const Table measurement{
    "measurement",
    "id",
    {"id",    "run",     "device", "problem",   "configuration", "source_hash", "regime",
     "stage", "outcome", "reason", "alignment", "launches",      "n",           "minimum",
     "q1",    "median",  "q3",     "clock_mhz", "throttled",     "build_key",   "taken_us"}};
const Table condition{"condition", "measurement", {"measurement", "temperature_c", "discarded"}};
const Table samples{"samples", "measurement", {"measurement", "data"}};
}  // namespace before_6

}  // namespace tables

Row& Row::operator<<(std::int64_t number) {
  cells_.emplace_back(number);
  return *this;
}

Row& Row::operator<<(double number) {
  cells_.emplace_back(number);
  return *this;
}

Row& Row::operator<<(std::string_view text) {
  cells_.emplace_back(std::string(text));
  return *this;
}

Row& Row::operator<<(std::span<const std::byte> bytes) {
  cells_.emplace_back(Blob{bytes.empty()
                               ? std::string()
                               : std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
  return *this;
}

Row& Row::operator<<(const Id& id) {
  return *this << std::as_bytes(std::span(id.bytes));
}

Row& Row::operator<<(const std::optional<Id>& id) {
  if (id) return *this << *id;
  cells_.emplace_back();
  return *this;
}

Row& Row::append(const sqlite::Statement& row, int column) {
  switch (row.type(column)) {
    case SQLITE_INTEGER:
      return *this << row.integer(column);
    case SQLITE_FLOAT:
      return *this << row.real(column);
    case SQLITE_TEXT:
      return *this << row.text(column);
    case SQLITE_BLOB:
      return *this << row.bytes(column);
    default:
      return *this << std::optional<Id>();
  }
}

void Row::bind_all(sqlite::Statement& statement) const {
  bind(statement);
  statement.bind(table_.width(), checksum());
}

namespace {

std::span<const std::byte> as_span(const std::string& bytes) {
  return std::as_bytes(std::span(bytes));
}

}  // namespace

std::int64_t Row::checksum() const {
  std::string form;
  canonical::append_text(form, table_.name);
  for (const Cell& cell : cells_) {
    if (const auto* number = std::get_if<std::int64_t>(&cell)) {
      canonical::append_integer(form, *number);
    } else if (const auto* real = std::get_if<double>(&cell)) {
      canonical::append_real(form, *real);
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
      canonical::append_text(form, *text);
    } else if (const auto* blob = std::get_if<Blob>(&cell)) {
      canonical::append_bytes(form, as_span(blob->bytes));
    } else {
      canonical::append_null(form);
    }
  }
  return canonical::hash64(form);
}

void Row::bind(sqlite::Statement& statement) const {
  int index = 0;
  for (const Cell& cell : cells_) {
    ++index;
    if (const auto* number = std::get_if<std::int64_t>(&cell)) {
      statement.bind(index, *number);
    } else if (const auto* real = std::get_if<double>(&cell)) {
      statement.bind(index, *real);
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
      statement.bind(index, std::string_view(*text));
    } else if (const auto* blob = std::get_if<Blob>(&cell)) {
      statement.bind(index, as_span(blob->bytes));
    } else {
      statement.bind(index, nullptr);
    }
  }
}

bool Row::insert(sqlite::Connection& connection) const {
  if (!connection.in_transaction()) {
    // A statement by itself would not wait in the writers' queue.
    sqlite::Transaction transaction(connection, sqlite::Transaction::Kind::write);
    const bool added = insert(connection);
    transaction.commit();
    return added;
  }
  {
    sqlite::Query insert(connection, table_.insert);
    bind_all(*insert);
    insert->step();
    if (sqlite3_changes(connection.get()) == 1) return true;
  }
  // The key is taken. An identity is only as good as its hash, so the contents are compared.
  sqlite::Query same(connection, table_.same);
  bind(*same);
  same->step();
  if (same->integer(0) == 1) return false;
  throw Error(Error::Kind::unusable,
              fmt::format("{}: table {} holds another record under the same identity; run `hone db check`",
                          connection.file(), table_.name));
}

bool sound(const sqlite::Statement& row, const Table& table, int first) {
  // Not one a thread: its destructor would keep a library that holds this code from being unloaded.
  std::string form;
  form.reserve(512);
  canonical::append_text(form, table.name);
  const int last = first + static_cast<int>(table.columns.size());
  for (int column = first; column < last; ++column) {
    switch (row.type(column)) {
      case SQLITE_INTEGER:
        canonical::append_integer(form, row.integer(column));
        break;
      case SQLITE_FLOAT:
        canonical::append_real(form, row.real(column));
        break;
      case SQLITE_TEXT:
        canonical::append_text(form, row.text(column));
        break;
      case SQLITE_BLOB:
        canonical::append_bytes(form, row.bytes(column));
        break;
      default:
        canonical::append_null(form);
        break;
    }
  }
  return row.type(last) == SQLITE_INTEGER && row.integer(last) == canonical::hash64(form);
}

void require(bool holds, const sqlite::Statement& row, const char* otherwise) {
  if (!holds) throw sqlite::damaged(row.file(), otherwise);
}

void verify(const sqlite::Statement& row, const Table& table, int first) {
  if (!sound(row, table, first)) {
    throw sqlite::damaged(row.file(),
                          fmt::format("a row of table {} does not match its checksum", table.name));
  }
}

}  // namespace hone::db
