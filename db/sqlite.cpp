#include "db/sqlite.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <random>
#include <thread>

namespace hone::db::sqlite {
namespace {

constexpr std::chrono::seconds busy_limit{5};

// SQLite's own handler backs off to 100 ms, at which a waiter may miss every gap between busy writers.
int wait_while_busy(void*, int attempt) {
  thread_local std::chrono::steady_clock::time_point deadline;
  thread_local std::minstd_rand random{static_cast<std::minstd_rand::result_type>(getpid())};
  const auto now = std::chrono::steady_clock::now();
  if (attempt == 0) deadline = now + busy_limit;
  if (now >= deadline) return 0;
  std::this_thread::sleep_for(std::chrono::microseconds(200 + random() % 2800));
  return 1;
}

// A path may hold any character, so it is given to SQLite as an escaped URI.
std::string uri(const std::filesystem::path& file, Mode mode) {
  if (mode == Mode::memory) return "file::memory:";
  static constexpr const char* modes[] = {"mode=ro", "mode=ro&immutable=1", "mode=rw", "mode=rwc"};
  std::string text = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '_' || c == '-';
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text + '?' + modes[static_cast<int>(mode)];
}

}  // namespace

Error error(int code, const std::string& file, const std::string& detail) {
  using Kind = Error::Kind;
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Kind::busy, fmt::format("{}: another process has kept the database locked for 5 s; "
                                      "wait until it is done, or give each writer its own file",
                                      file)};
    case SQLITE_FULL:
      return {Kind::full, fmt::format("{}: the disk is full; make room and run the same command again, "
                                      "everything committed so far is kept",
                                      file)};
    case SQLITE_NOMEM:
      return {Kind::full, fmt::format("{}: out of memory", file)};
    case SQLITE_NOTADB:
      return {Kind::unusable, fmt::format("{}: not an SQLite database, or its header is damaged; "
                                          "name another file, or restore a backup",
                                          file)};
    case SQLITE_CORRUPT:
      return {Kind::unusable,
              fmt::format("{}: the database is damaged ({}); run `hone db check`, then restore a "
                          "backup",
                          file, detail),
              true};
    case SQLITE_READONLY:
      return {Kind::unusable,
              fmt::format("{}: the database cannot be written ({}); check the permissions of the "
                          "file and its folder, or name another file",
                          file, detail)};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {Kind::unusable,
              fmt::format("{}: cannot be opened ({}); check that the file and its folder exist and "
                          "their permissions",
                          file, detail)};
    case SQLITE_IOERR:
      return {Kind::unusable,
              fmt::format("{}: reading or writing failed ({}); check the disk", file, detail)};
    default:
      return {Kind::internal, fmt::format("{}: {} (SQLite code {})", file, detail, code)};
  }
}

Error damaged(const std::string& file, const std::string& what) {
  return {
      Error::Kind::unusable,
      fmt::format("{}: the database is damaged: {}; run `hone db check`, then restore a backup", file, what),
      true};
}

Statement::Statement(sqlite3* connection, const std::string& file, std::string_view sql) : file_(&file) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(connection, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  handle_.reset(statement);
  if (code != SQLITE_OK) throw error(code, file, sqlite3_errmsg(connection));
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) throw error(code, *file_, sqlite3_errmsg(sqlite3_db_handle(get())));
}

Statement& Statement::bind(int index, std::int64_t number) {
  check(sqlite3_bind_int64(get(), index, number));
  return *this;
}

Statement& Statement::bind(int index, double number) {
  check(sqlite3_bind_double(get(), index, number));
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  // A null pointer would bind NULL.
  const char* const data = text.data() == nullptr ? "" : text.data();
  check(sqlite3_bind_text64(get(), index, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(int index, std::span<const std::byte> bytes) {
  const void* const data = bytes.data() == nullptr ? "" : static_cast<const void*>(bytes.data());
  check(sqlite3_bind_blob64(get(), index, data, bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind(int index, const Id& id) {
  return bind(index, std::as_bytes(std::span(id.bytes)));
}

Statement& Statement::bind(int index, std::nullptr_t) {
  check(sqlite3_bind_null(get(), index));
  return *this;
}

Statement& Statement::bind_value(int index, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return bind(index, *number);
  return bind(index, std::string_view(std::get<std::string>(value)));
}

bool Statement::step() {
  const int code = sqlite3_step(get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const Error failure = error(code, *file_, sqlite3_errmsg(sqlite3_db_handle(get())));
  sqlite3_reset(get());
  throw failure;
}

void Statement::reset() noexcept {
  sqlite3_reset(get());
}

void Statement::expect(int column, int wanted) const {
  if (type(column) != wanted) {
    throw damaged(
        *file_, fmt::format("column {} holds a value of the wrong type", sqlite3_column_name(get(), column)));
  }
}

std::int64_t Statement::integer(int column) const {
  expect(column, SQLITE_INTEGER);
  return sqlite3_column_int64(get(), column);
}

double Statement::real(int column) const {
  expect(column, SQLITE_FLOAT);
  return sqlite3_column_double(get(), column);
}

std::string_view Statement::text(int column) const {
  expect(column, SQLITE_TEXT);
  const auto* const data = reinterpret_cast<const char*>(sqlite3_column_text(get(), column));
  if (data == nullptr) throw error(SQLITE_NOMEM, *file_, "");
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(get(), column))};
}

std::span<const std::byte> Statement::bytes(int column) const {
  expect(column, SQLITE_BLOB);
  const void* const data = sqlite3_column_blob(get(), column);  // null where the blob is empty
  const int size = sqlite3_column_bytes(get(), column);
  return {static_cast<const std::byte*>(data), data == nullptr ? 0 : static_cast<std::size_t>(size)};
}

Id Statement::id(int column) const {
  const auto blob = bytes(column);
  Id id;
  if (blob.size() != id.bytes.size()) {
    throw damaged(*file_, fmt::format("column {} holds no id", sqlite3_column_name(get(), column)));
  }
  for (std::size_t i = 0; i < blob.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(blob[i]);
  return id;
}

std::optional<Id> Statement::optional_id(int column) const {
  if (type(column) == SQLITE_NULL) return std::nullopt;
  return id(column);
}

Connection::Connection(const std::filesystem::path& file, Mode mode)
    : file_(std::make_unique<std::string>(file.string())) {
  sqlite3* connection = nullptr;
  const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (mode == Mode::read_only || mode == Mode::immutable ? SQLITE_OPEN_READONLY
                     : mode == Mode::read_write                         ? SQLITE_OPEN_READWRITE
                                                : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  const int code = sqlite3_open_v2(uri(file, mode).c_str(), &connection, flags, nullptr);
  handle_.reset(connection);
  if (code != SQLITE_OK)
    throw error(code, *file_, connection != nullptr ? sqlite3_errmsg(connection) : "no memory");
  sqlite3_busy_handler(connection, wait_while_busy, nullptr);
  for (const auto& [option, value] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                      {SQLITE_DBCONFIG_DQS_DML, 0},
                                      {SQLITE_DBCONFIG_DQS_DDL, 0},
                                      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                      {SQLITE_DBCONFIG_ENABLE_FKEY, 1}}) {
    const int configured = sqlite3_db_config(connection, option, value, nullptr);
    if (configured != SQLITE_OK) throw error(configured, *file_, "SQLite refused a setting");
  }
  execute("PRAGMA cell_size_check=ON");
  // FULL: what a run was told is committed survives a power cut.
  if (mode == Mode::read_write || mode == Mode::create) execute("PRAGMA synchronous=FULL");
}

void Connection::execute(const char* sql) {
  char* message = nullptr;
  const int code = sqlite3_exec(get(), sql, nullptr, nullptr, &message);
  const std::string detail = message != nullptr ? message : "";
  sqlite3_free(message);
  if (code != SQLITE_OK) throw error(code, *file_, detail);
}

int Connection::try_execute(const char* sql) noexcept {
  return sqlite3_exec(get(), sql, nullptr, nullptr, nullptr);
}

std::int64_t Connection::integer(const char* sql) {
  Statement statement(get(), *file_, sql);
  if (!statement.step()) throw damaged(*file_, "a value is missing");
  return statement.integer(0);
}

Statement& Connection::cached(const std::string& sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) found = statements_.emplace(sql, Statement(get(), *file_, sql)).first;
  found->second.reset();
  sqlite3_clear_bindings(found->second.get());
  return found->second;
}

Transaction::Transaction(Connection& connection, Kind kind)
    : connection_(connection), nested_(connection.in_transaction()) {
  Query(connection_, nested_ ? "SAVEPOINT hone" : kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN")->step();
}

void Transaction::commit() {
  Query(connection_, nested_ ? "RELEASE hone" : "COMMIT")->step();
  open_ = false;
}

Transaction::~Transaction() {
  // SQLite has rolled back on its own after a full disk or an I/O error.
  if (!open_ || !connection_.in_transaction()) return;
  if (nested_) connection_.try_execute("ROLLBACK TO hone; RELEASE hone");
  if (!nested_) connection_.try_execute("ROLLBACK");
}

}  // namespace hone::db::sqlite
