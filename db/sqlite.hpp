// A thin RAII wrapper over SQLite's C interface: connection, statement, transaction. Failures become
// db::Error.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "db/error.hpp"
#include "db/id.hpp"
#include "db/value.hpp"
#include "db/writer_queue.hpp"

namespace hone::db::sqlite {

/// Turns a result code into an Error whose line names the file and the remedy.
Error error(int code, const std::string& file, const std::string& detail);

/// What a row whose bytes are not what was written makes of the reader.
Error damaged(const std::string& file, const std::string& what);

/// A prepared statement. Getters are strict: a column of another type means a damaged file.
class Statement {
 public:
  Statement(sqlite3* connection, const std::string& file, std::string_view sql);

  Statement& bind(int index, std::int64_t number);
  Statement& bind(int index, double number);
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, std::span<const std::byte> bytes);
  Statement& bind(int index, const Id& id);
  Statement& bind(int index, std::nullptr_t);
  Statement& bind_value(int index, const Value& value);

  /// True: there is a row. False: done.
  bool step();
  void reset() noexcept;

  int columns() const { return sqlite3_column_count(get()); }
  int type(int column) const { return sqlite3_column_type(get(), column); }
  std::int64_t integer(int column) const;
  double real(int column) const;
  /// Views are valid until the next step.
  std::string_view text(int column) const;
  std::span<const std::byte> bytes(int column) const;
  Id id(int column) const;
  std::optional<Id> optional_id(int column) const;

  sqlite3_stmt* get() const { return handle_.get(); }
  const std::string& file() const { return *file_; }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  void check(int code) const;
  void expect(int column, int wanted) const;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  const std::string* file_;
};

enum class Mode { read_only, immutable, read_write, create, memory };

/// An open file with hone's settings: extended codes, waiting up to 5 s for locks, writers in a queue,
/// foreign keys, no trust in the file's schema, rollback journal, extra synchronisation.
class Connection {
 public:
  Connection(const std::filesystem::path& file, Mode mode);

  sqlite3* get() const { return handle_.get(); }
  const std::string& file() const { return *file_; }

  /// Runs statements that return no rows of interest.
  void execute(const char* sql);
  /// The same, but gives the extended result code back.
  int try_execute(const char* sql) noexcept;
  /// The first column of the first row.
  std::int64_t integer(const char* sql);
  /// Whether a Transaction lives.
  bool in_transaction() const { return transactions_ > 0; }

  /// A statement prepared once and kept; it comes reset.
  Statement& cached(const std::string& sql);

 private:
  friend class Transaction;
  struct Close {
    void operator()(sqlite3* connection) const noexcept { sqlite3_close(connection); }
  };
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  /// As the head of those who want to write. Together within the limit.
  void begin_writing();
  std::unique_ptr<std::string> file_;   // statements point to it, wherever the connection moves
  std::unique_ptr<Deadline> deadline_;  // of who begins to write; SQLite's busy handler points to it
  std::unique_ptr<WriterQueue> queue_;  // null: the file is only read
  std::unique_ptr<sqlite3, Close> handle_;
  std::unordered_map<std::string, Statement> statements_;
  int transactions_ = 0;     ///< that live, one inside another
  bool not_undone_ = false;  ///< what one of them wrote could not be rolled back yet
};

/// A cached statement for one use: reset when it goes out of scope, so that no read lock stays behind.
class Query {
 public:
  Query(Connection& connection, const std::string& sql) : statement_(connection.cached(sql)) {}
  ~Query() { statement_.reset(); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  Statement* operator->() { return &statement_; }
  Statement& operator*() { return statement_; }

 private:
  Statement& statement_;
};

/// Rolled back unless committed. Inside another one it is a savepoint. What SQLite has undone as a whole
/// after a failure, or could not undo in part, is not committed any more.
class Transaction {
 public:
  enum class Kind { read, write };
  Transaction(Connection& connection, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  bool undone() const { return sqlite3_get_autocommit(connection_.get()) != 0; }
  Connection& connection_;
  const bool nested_;
  bool open_ = true;
};

}  // namespace hone::db::sqlite
