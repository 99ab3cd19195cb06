#include "db/database.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "db/backup.hpp"
#include "db/file_system.hpp"
#include "db/pack.hpp"
#include "db/private_file.hpp"
#include "db/schema.hpp"
#include "db/winners.hpp"

namespace hone::db {
namespace {

using Kind = Error::Kind;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& why) {
  throw Error(Kind::unusable, file.string() + ": " + why);
}

bool leftovers(const std::filesystem::path& file) {
  std::error_code ignored;
  for (const char* suffix : {"-journal", "-wal"}) {
    const std::filesystem::path beside = file.string() + suffix;
    if (std::filesystem::exists(beside, ignored) && std::filesystem::file_size(beside, ignored) != 0)
      return true;
  }
  return false;
}

// SQLite takes a file of a few bytes for an empty database.
void require_size(const std::filesystem::path& file) {
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(file, ignored);
  constexpr std::uintmax_t smallest_page = 512;
  if (!ignored && size > 0 && size < smallest_page && !leftovers(file)) {
    throw sqlite::error(SQLITE_NOTADB, file.string(), "");
  }
}

void require_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory) {
      fail(file,
           fmt::format("cannot be reached ({}); check the permissions of its folders", error.message()));
    }
    fail(file,
         "no such tuning database; create it with `hone tune FAMILY`, or name another with --db or HONE_DB");
  }
  if (std::filesystem::is_directory(status)) fail(file, "is a folder; name a file in it, such as hone.db");
  if (!std::filesystem::is_regular_file(status)) fail(file, "is not a regular file; name a tuning database");
  require_size(file);
}

// The first read finds out whether the file can be read as it stands.
int probe(sqlite::Connection& connection) {
  return connection.try_execute("SELECT count(*) FROM sqlite_schema");
}

bool half_written(int code) {
  return code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY;
}

// A killed writer's changes are undone by whoever opens the file for writing next, before it reads a page.
void roll_back(const std::filesystem::path& file) {
  int code = SQLITE_CANTOPEN;
  try {
    sqlite::Connection writer(file, sqlite::Mode::read_write);
    code = probe(writer);
  } catch (const Error& error) {
    if (error.kind() == Kind::busy) throw;
  }
  if (code == SQLITE_OK) return;
  if ((code & 0xff) == SQLITE_BUSY) throw sqlite::error(code, file.string(), "");
  fail(
      file,
      "a writer was interrupted, and what it left half done cannot be undone here, where nothing may be "
      "written; open the database once where its folder can be written, or copy it with its -journal file to "
      "such a place");
}

// SQLite reads what is missing of a last page as zeros. In WAL mode, pages may be in the log only.
void require_whole(sqlite::Connection& connection) {
  sqlite::Statement mode(connection.get(), connection.file(), "PRAGMA journal_mode");
  if (mode.step() && mode.text(0) == "wal") return;
  const std::int64_t wanted =
      connection.integer("PRAGMA page_count") * connection.integer("PRAGMA page_size");
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(connection.file(), error);
  if (!error && size < static_cast<std::uintmax_t>(wanted)) {
    throw sqlite::damaged(connection.file(), fmt::format("it has {} bytes of {}", size, wanted));
  }
}

sqlite::Connection open_for_reading(const std::filesystem::path& file) {
  sqlite::Connection connection(file, sqlite::Mode::read_only);
  if (is_pack(connection)) return {file, sqlite::Mode::immutable};
  int code = probe(connection);
  if (half_written(code)) {
    roll_back(file);
    code = probe(connection);
  }
  const int kind = code & 0xff;
  const bool media = kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY || kind == SQLITE_PERM ||
                     code == SQLITE_IOERR_LOCK || code == SQLITE_IOERR_RDLOCK;
  // Read-only media without locks; a journal there would have to be heeded, which `immutable` does not.
  if (media && !leftovers(file)) return {file, sqlite::Mode::immutable};
  if (code != SQLITE_OK) throw sqlite::error(code, file.string(), sqlite3_errmsg(connection.get()));
  return connection;
}

sqlite::Connection open_for_writing(const std::filesystem::path& file, sqlite::Mode mode) {
  sqlite::Connection connection(file, mode);
  if (is_pack(connection))
    fail(file, "is a pack, which nothing writes; name the database that it was made from");
  if (sqlite3_db_readonly(connection.get(), "main") == 1) {
    fail(file, "cannot be written; check the permissions of the file and its folder, or name another file");
  }
  // A rollback journal and not WAL: in SQLite 3.7.0 to 3.51.2 a checkpoint and a reset of the log may race
  // and corrupt the file, and Debian 12 has 3.40.1. Readers read once and hold nothing, so that a writer
  // seldom waits for one, and nothing but the file itself need be writable to read it. DELETE and not
  // PERSIST: a journal beside the file then means that a writer is at work or was interrupted. A no-op unless
  // somebody else has switched the file to WAL.
  connection.execute("PRAGMA journal_mode=DELETE");
  // Random ids touch pages all over their indexes: in SQLite's 2 MB, long transactions spill all the time.
  connection.execute("PRAGMA cache_size=-65536");
  return connection;
}

// SQLite makes files that all can read, and keeps the permissions of one that is there, for its journal too.
void create_private(const std::filesystem::path& file) {
  const std::filesystem::path part = private_file_beside(file);
  if (rename_to_new(part, file)) return;
  const int why = errno;
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
  // Another process may have been quicker.
  if (why != EEXIST) fail(file, fmt::format("cannot be created ({})", std::strerror(why)));
}

sqlite::Connection open(const std::filesystem::path& file, Access access) {
  if (file.empty())
    throw Error(Kind::unusable, "the tuning database's name is empty; give --db or HONE_DB a file");
  if (access == Access::read_only) {
    require_file(file);
    return open_for_reading(file);
  }
  std::error_code error;
  const bool missing = access == Access::create && !std::filesystem::exists(file, error);
  if (!missing) require_file(file);  // before it is read: a pipe would wait for ever
  require_local(file);
  if (missing) {
    try {
      make_private_folders(std::filesystem::absolute(file).parent_path());
    } catch (const std::filesystem::filesystem_error& failed) {
      fail(file, fmt::format("its folder cannot be created ({})", failed.code().message()));
    }
    create_private(file);
    return open_for_writing(file, sqlite::Mode::create);
  }
  return open_for_writing(file, sqlite::Mode::read_write);
}

}  // namespace

Database::Database(const std::filesystem::path& file, Access access)
    : file_(file), connection_(open(file, access)) {
  // Under the lock of a read, since a writer may be adding pages.
  read([&] { require_whole(connection_); });
  if (access == Access::read_only) {
    read([&] { schema::require_current(connection_); });
  } else {
    schema::create_or_migrate(connection_, schema::steps(), [&] { winners::rebuild(*this); });
  }
}

void Database::read(const std::function<void()>& body) {
  if (connection_.in_transaction()) return body();
  std::optional<sqlite::Transaction> transaction(std::in_place, connection_, sqlite::Transaction::Kind::read);
  int code = probe(connection_);
  if (half_written(code)) {
    transaction.reset();
    roll_back(file_);
    transaction.emplace(connection_, sqlite::Transaction::Kind::read);
    code = probe(connection_);
  }
  // After some failures SQLite has ended the transaction: `body` would not see one moment of the database.
  if (code != SQLITE_OK) throw sqlite::error(code, file_.string(), sqlite3_errmsg(connection_.get()));
  body();
  transaction->commit();
}

void Database::write(const std::function<void()>& body) {
  sqlite::Transaction transaction(connection_, sqlite::Transaction::Kind::write);
  body();
  transaction.commit();
}

std::filesystem::path settle(const std::filesystem::path& file, const std::filesystem::path& to) {
  require_file(file);
  sqlite::Connection from = open_for_reading(file);
  if (is_pack(from)) return file;
  {
    const sqlite::Transaction moment(from, sqlite::Transaction::Kind::read);
    require_whole(from);
    if (!schema::is_older(from)) schema::require_current(from);
    sqlite::Connection copy(to, sqlite::Mode::create);
    copy.execute("PRAGMA synchronous=OFF");
    copy_pages(from, copy);
  }
  Database(to, Access::read_write);
  return to;
}

std::int64_t now_us() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace hone::db
