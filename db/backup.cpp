#include "db/backup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "db/private_file.hpp"

namespace hone::db {

void synchronise(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = descriptor >= 0 && fsync(descriptor) == 0;
  const int why = errno;
  if (descriptor >= 0) close(descriptor);
  if (!done)
    throw Error(Error::Kind::unusable,
                fmt::format("{}: cannot be written ({}); check the disk", file.string(), std::strerror(why)));
}

void copy_pages(sqlite::Connection& from, sqlite::Connection& to) {
  sqlite3_backup* const backup = sqlite3_backup_init(to.get(), "main", from.get(), "main");
  if (backup == nullptr)
    throw sqlite::error(sqlite3_extended_errcode(to.get()), to.file(), sqlite3_errmsg(to.get()));
  // All pages in one step: one moment of the database, and writers wait no longer than it takes to read it.
  const int copied = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (copied != SQLITE_DONE) throw sqlite::error(copied, to.file(), "the copy failed");
  if (finished != SQLITE_OK) throw sqlite::error(finished, to.file(), "the copy failed");
}

void publish(const std::filesystem::path& to,
             const std::function<void(const std::filesystem::path& part)>& write) {
  const auto fail = [&](const std::string& why) {
    throw Error(Error::Kind::unusable, fmt::format("{}: {}", to.string(), why));
  };
  if (std::filesystem::exists(to)) fail("exists already; name a new file");
  const std::filesystem::path part = private_file_beside(to);
  std::error_code ignored;
  try {
    write(part);
    synchronise(part);
  } catch (...) {
    std::filesystem::remove_all(part, ignored);
    throw;
  }
  // Somebody else may have taken the name meanwhile.
  if (!rename_to_new(part, to)) {
    const int why = errno;
    std::filesystem::remove_all(part, ignored);
    fail(fmt::format("cannot be created ({})", std::strerror(why)));
  }
}

void copy_database(sqlite::Connection& from, const std::filesystem::path& to) {
  publish(to, [&](const std::filesystem::path& part) {
    sqlite::Connection copy(part, sqlite::Mode::create);
    copy_pages(from, copy);
  });
}

}  // namespace hone::db
