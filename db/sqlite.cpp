#include "db/sqlite.hpp"

#include <fmt/format.h>

#include "db/one_line.hpp"

namespace hone::db::sqlite {
namespace {

constexpr std::chrono::seconds busy_limit{5};

// SQLite's own handler backs off to 100 ms, at which a waiter may miss every gap between busy writers.
int wait_while_busy(void* deadline_of_writer, int attempt) {
  thread_local std::chrono::steady_clock::time_point deadline;
  const auto now = std::chrono::steady_clock::now();
  const auto& writers =
      *static_cast<std::optional<std::chrono::steady_clock::time_point>*>(deadline_of_writer);
  if (attempt == 0) deadline = writers.value_or(now + busy_limit);
  if (now >= deadline) return 0;
  wait_between_looks();
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

Error error(int code, const std::string& file, const std::string& details) {
  const std::string detail = one_line(details);  // SQLite quotes names of the file
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
      return {Kind::full,
              fmt::format("{}: out of memory; free some and run the same command again, everything "
                          "committed so far is kept",
                          file)};
    case SQLITE_NOTADB:
      return {Kind::unusable, fmt::format("{}: not an SQLite database, or its header is damaged; "
                                          "name another file, or restore a backup",
                                          file)};
    case SQLITE_CORRUPT:
      return {Kind::unusable,
              fmt::format("{}: the database is damaged ({}); run `hone db check`, then restore a "
                          "backup",
                          file, detail),
              detail.empty() ? "SQLite cannot read it" : detail};
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
  const std::string line = one_line(what);
  return {Error::Kind::unusable,
          fmt::format("{}: the database is damaged: {}; run `hone db check`, then restore a backup", file,
                      line),
          line};
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
    : file_(std::make_unique<std::string>(file.string())), deadline_(std::make_unique<Deadline>()) {
  sqlite3* connection = nullptr;
  const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (mode == Mode::read_only || mode == Mode::immutable ? SQLITE_OPEN_READONLY
                     : mode == Mode::read_write                         ? SQLITE_OPEN_READWRITE
                                                : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  const int code = sqlite3_open_v2(uri(file, mode).c_str(), &connection, flags, nullptr);
  handle_.reset(connection);
  if (code != SQLITE_OK)
    throw error(code, *file_, connection != nullptr ? sqlite3_errmsg(connection) : "no memory");
  sqlite3_busy_handler(connection, wait_while_busy, deadline_.get());
  for (const auto& [option, value] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                      {SQLITE_DBCONFIG_DQS_DML, 0},
                                      {SQLITE_DBCONFIG_DQS_DDL, 0},
                                      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                      {SQLITE_DBCONFIG_ENABLE_FKEY, 1}}) {
    const int configured = sqlite3_db_config(connection, option, value, nullptr);
    if (configured != SQLITE_OK) throw error(configured, *file_, "SQLite refused a setting");
  }
  execute("PRAGMA cell_size_check=ON");
  // EXTRA: what a run was told is committed survives a power cut. FULL does not sync the folder after the
  // journal's removal, which is what commits: the journal may come back, and undo what it was written for.
  if (mode != Mode::read_write && mode != Mode::create) return;
  execute("PRAGMA synchronous=EXTRA");
  queue_ = std::make_unique<WriterQueue>(file);
}

void Connection::execute(const char* sql) {
  char* message = nullptr;
  const int code = sqlite3_exec(get(), sql, nullptr, nullptr, &message);
  const std::string detail = message != nullptr ? message : "";
  sqlite3_free(message);
  if (code != SQLITE_OK) throw error(code, *file_, detail);
}

void Connection::begin_writing() {
  *deadline_ = std::chrono::steady_clock::now() + busy_limit;
  struct Leave {
    Connection& connection;
    ~Leave() {
      if (connection.queue_) connection.queue_->leave();
      connection.deadline_->reset();
    }
  } const leave{*this};
  if (queue_ && !queue_->enter(**deadline_)) throw error(SQLITE_BUSY, *file_, "");
  Query(*this, "BEGIN IMMEDIATE")->step();
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

namespace {

Error undone_before(const Connection& connection) {
  return {Error::Kind::unusable,
          fmt::format("{}: a failure before has undone the transaction; run the same command again",
                      connection.file())};
}

}  // namespace

Transaction::Transaction(Connection& connection, Kind kind)
    : connection_(connection), nested_(connection.in_transaction()) {
  // A savepoint outside a transaction would be one, and commit by itself.
  if (nested_ && undone()) throw undone_before(connection_);
  if (!nested_) {
    // Memory was short when the one before was to be rolled back; inside it nothing would be committed.
    if (!undone()) connection_.execute("ROLLBACK");
    connection_.not_undone_ = false;
  }
  if (!nested_ && kind == Kind::write)
    connection_.begin_writing();
  else
    Query(connection_, nested_ ? "SAVEPOINT hone" : "BEGIN")->step();
  ++connection_.transactions_;
}

void Transaction::commit() {
  if (undone() || connection_.not_undone_) throw undone_before(connection_);
  Query(connection_, nested_ ? "RELEASE hone" : "COMMIT")->step();
  open_ = false;
}

Transaction::~Transaction() {
  --connection_.transactions_;
  // SQLite has rolled back on its own after a full disk or an I/O error.
  if (!open_ || undone()) return;
  const int code = connection_.try_execute(nested_ ? "ROLLBACK TO hone; RELEASE hone" : "ROLLBACK");
  connection_.not_undone_ = nested_ ? connection_.not_undone_ || code != SQLITE_OK : code != SQLITE_OK;
}

}  // namespace hone::db::sqlite
