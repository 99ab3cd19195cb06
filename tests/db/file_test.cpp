// The file: what opens, what is refused with which line, locks, read-only media, interrupted writers,
// migration.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include "contents.hpp"
#include "db/file_system.hpp"
#include "db/schema.hpp"
#include "sample_database.hpp"

namespace hone::db {
namespace {

using namespace testing;
using Catch::Matchers::Contains;

void write(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

// The line that opening gives; empty: it opened.
std::string refusal(const std::filesystem::path& file, Access access,
                    Error::Kind kind = Error::Kind::unusable) {
  try {
    Store::open(file, access);
    return {};
  } catch (const Error& error) {
    const std::string line = error.what();
    CHECK(error.kind() == kind);
    CHECK(line.find('\n') == std::string::npos);
    CHECK_THAT(line, Contains(file.string()));
    return line;
  }
}

std::vector<std::string> names(const Folder& folder) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    found.push_back(entry.path().filename().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Runs `body` in a child process and gives its exit code, -1 for a signal.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    int code = 99;
    try {
      code = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("a missing file says how to make one") {
  Folder folder;
  CHECK_THAT(refusal(folder.file(), Access::read_only), Contains("hone tune FAMILY"));
  CHECK_THAT(refusal(folder.file(), Access::read_write), Contains("hone tune FAMILY"));
  CHECK_THAT(refusal(folder.path() / "no" / "hone.db", Access::read_only), Contains("hone tune FAMILY"));
  CHECK(names(folder).empty());
}

TEST_CASE("create makes the folders and the file, whatever their names") {
  Folder folder;
  const auto file = folder.path() / "a b" / "c%20?x=#&\xc3\xa9" / "file:hone.db?mode=memory";
  populate(*std::make_unique<Store>(Store::open(file, Access::create)));
  CHECK(std::filesystem::file_size(file) > 0);
  CHECK(Store::open(file, Access::read_only).winners({}).size() > 0);
  std::filesystem::current_path(folder.path());
  CHECK(Store::open(":memory:", Access::create).devices().empty());
  CHECK(std::filesystem::exists(folder.path() / ":memory:"));
  std::filesystem::current_path("/");
}

TEST_CASE("what is not a tuning database is refused and left as it is") {
  Folder folder;
  for (const Access access : {Access::read_only, Access::read_write, Access::create}) {
    CHECK_THAT(refusal(folder.path(), access), Contains("is a folder"));
    const std::string garbage(5000, 'x');
    write(folder.file("text"), garbage);
    CHECK_THAT(refusal(folder.file("text"), access), Contains("not an SQLite database"));
    CHECK(contents(folder.file("text")) == garbage);
    write(folder.file("short"), "SQLite");
    CHECK_THAT(refusal(folder.file("short"), access), Contains("not an SQLite database"));
    write(folder.file("a file"), "");
    CHECK_THAT(refusal(folder.file("a file") / "hone.db", access),
               Contains("folder") || Contains("hone tune"));

    std::filesystem::remove(folder.file("other"));
    sqlite::Connection(folder.file("other"), sqlite::Mode::create).execute("CREATE TABLE t(x)");
    CHECK_THAT(refusal(folder.file("other"), access), Contains("not one of hone's"));
    sqlite::Connection(folder.file("other"), sqlite::Mode::read_write).execute("PRAGMA application_id=7");
    CHECK_THAT(refusal(folder.file("other"), access), Contains("application id 0x7"));
  }
  CHECK_THAT(refusal("/dev/null", Access::read_only), Contains("not a regular file"));
  CHECK_THROWS_AS(Store::open("", Access::create), Error);
}

TEST_CASE("an empty file is no database for readers and a new one for writers") {
  Folder folder;
  write(folder.file(), "");
  CHECK_THAT(refusal(folder.file(), Access::read_only), Contains("hone tune FAMILY"));
  CHECK(refusal(folder.file(), Access::create).empty());
  CHECK(refusal(folder.file(), Access::read_only).empty());
}

TEST_CASE("a truncated file is refused, at whatever length") {
  Folder folder;
  populate(*std::make_unique<Store>(Store::open(folder.file(), Access::create)));
  const std::string whole = contents(folder.file());
  for (const std::size_t length : {std::size_t{1}, std::size_t{50}, std::size_t{100}, std::size_t{4096},
                                   whole.size() / 2, whole.size() - 4096, whole.size() - 1}) {
    INFO(length);
    write(folder.file(), whole.substr(0, length));
    CHECK_THAT(refusal(folder.file(), Access::read_only), Contains("damaged") || Contains("not an SQLite"));
    CHECK_THAT(refusal(folder.file(), Access::create), Contains("damaged") || Contains("not an SQLite"));
    CHECK(contents(folder.file()).size() == length);
  }
}

TEST_CASE("a newer schema is refused, a damaged one too") {
  Folder folder;
  Store::open(folder.file(), Access::create);
  const auto set = [&](const char* sql) {
    sqlite::Connection(folder.file(), sqlite::Mode::read_write).execute(sql);
  };
  const std::string current = "PRAGMA user_version=" + std::to_string(schema::steps().back().version);
  for (const Access access : {Access::read_only, Access::create}) {
    set("PRAGMA user_version=999");
    CHECK_THAT(refusal(folder.file(), access), Contains("version 999") && Contains("newer"));
    set("PRAGMA user_version=0");
    CHECK_THAT(refusal(folder.file(), access), Contains("damaged"));
    set(current.c_str());
    CHECK(refusal(folder.file(), access).empty());
  }
  set("DROP INDEX measurement_problem");
  CHECK_THAT(refusal(folder.file(), Access::read_only), Contains("lacks the index measurement_problem"));
  set("CREATE INDEX measurement_problem ON measurement(problem)");
  CHECK_THAT(refusal(folder.file(), Access::create), Contains("another index measurement_problem"));
}

TEST_CASE("a database of the first version is migrated with all its rows") {
  Folder folder;
  {
    sqlite::Connection writer(folder.file(), sqlite::Mode::create);
    schema::create_or_migrate(writer, schema::steps().first(1));
    writer.execute("PRAGMA foreign_keys=ON");
    const Device device = testing::device();
    (Row(tables::device) << device.id() << device.backend << device.name << device.architecture
                         << device.compute_units << device.memory_bytes << device.last_level_cache_bytes
                         << device.partition)
        .insert(writer);
  }
  CHECK_THAT(refusal(folder.file(), Access::read_only), Contains("older than version"));
  Store store = Store::open(folder.file(), Access::create);
  CHECK(store.devices().size() == 1);
  populate(store);
  CHECK(store.bands({}).size() == 6);
  CHECK(store.check().faults == std::vector<std::string>{});
  CHECK(names(folder) == std::vector<std::string>{"hone.db", "hone.db.version-1"});
}

/// The rows of a database of this version in a new one of version 5, where a measurement was in three tables.
void write_version_5(const std::filesystem::path& from, const std::filesystem::path& to) {
  sqlite::Connection reader(from, sqlite::Mode::read_only), writer(to, sqlite::Mode::create);
  schema::create_or_migrate(writer, schema::steps().first(5));
  for (const char* seal : {"winner_seal", "winner_block_seal", "band_seal"})
    writer.execute(fmt::format("DELETE FROM {}", seal).c_str());
  namespace before = tables::before_6;
  sqlite::Transaction transaction(writer, sqlite::Transaction::Kind::write);
  for (const Table* table : tables::all()) {
    if (table == &tables::portfolio || table == &tables::portfolio_seal) continue;  // of version 7
    sqlite::Statement row(reader.get(), reader.file(),
                          fmt::format("SELECT {} FROM {} t", table->select("t"), table->name));
    while (row.step()) {
      const bool measured = table == &tables::measurement;
      Row copy(measured ? before::measurement : *table);
      const int columns = measured ? before::measurement.width() - 1 : table->width() - 1;
      for (int column = 0; column < columns; ++column) copy.append(row, column);
      copy.insert(writer);
      if (!measured) continue;
      if (row.integer(columns) != 0 || row.integer(columns + 1) != 0)
        Row(before::condition).append(row, 0).append(row, columns).append(row, columns + 1).insert(writer);
      if (row.integer(12) > 0) Row(before::samples).append(row, 0).append(row, columns + 2).insert(writer);
    }
  }
  transaction.commit();
}

TEST_CASE("measurements recorded in three tables are joined by the migration, and damaged ones stop it") {
  Folder folder;
  const auto now = folder.file("now.db"), old = folder.file();
  populate(*std::make_unique<Store>(Store::open(now, Access::create)));
  write_version_5(now, old);
  CHECK_THAT(refusal(old, Access::read_only), Contains("older than version"));
  CHECK(Store::open(old, Access::read_write).check().faults == std::vector<std::string>{});
  CHECK(everything(old) == everything(now));
  CHECK(std::filesystem::exists(folder.file("hone.db.version-5")));

  for (const char* table : {"measurement", "samples", "condition"}) {
    INFO(table);
    std::filesystem::remove(old);
    write_version_5(now, old);
    sqlite::Connection(old, sqlite::Mode::read_write)
        .execute(fmt::format("DROP TRIGGER {0}_is_never_changed; UPDATE {0} SET checksum=checksum+1; "
                             "CREATE TRIGGER {0}_is_never_changed BEFORE UPDATE ON {0} BEGIN "
                             "SELECT RAISE(ABORT, 'table {0} is append-only'); END",
                             table)
                     .c_str());
    const std::string before = contents(old);
    CHECK_THAT(refusal(old, Access::read_write), Contains(table) && Contains("checksum"));
    CHECK(contents(old) == before);
  }
}

TEST_CASE("winners recorded before there were blocks of them are packed by the migration") {
  Folder folder;
  const auto now = folder.file("now.db");
  populate(*std::make_unique<Store>(Store::open(now, Access::create)));
  write_version_5(now, folder.file());
  sqlite::Connection(folder.file(), sqlite::Mode::read_write)
      .execute("DROP TABLE winner_block; DROP TABLE winner_block_seal; PRAGMA user_version=4");
  Store store = Store::open(folder.file(), Access::read_write);
  std::size_t packed = 0;
  for (const auto& [id, device] : store.devices())
    store.winner_blocks(id, Regime::steady, [&](const WinnerBlock& block) { packed += block.size(); });
  CHECK(packed == store.winners({}).size());
  CHECK(packed > 10);
  CHECK(store.check().faults == std::vector<std::string>{});
}

TEST_CASE("an older schema is migrated after a backup and a failed step changes nothing") {
  Folder folder;
  populate(*std::make_unique<Store>(Store::open(folder.file(), Access::create)));
  std::vector<schema::Step> steps(schema::steps().begin(), schema::steps().end());
  const auto next = steps.back().version + 1;
  steps.push_back({next, "CREATE TABLE note(line TEXT NOT NULL) STRICT; INSERT INTO nowhere VALUES(1)"});
  const auto rows = [&](const std::filesystem::path& file) {
    return Store::open(file, Access::read_only).check().rows;
  };
  const auto before = rows(folder.file());
  {
    sqlite::Connection reader(folder.file(), sqlite::Mode::read_only);
    CHECK_THROWS_WITH(schema::require_current(reader, steps),
                      Contains(fmt::format("older than version {}", next)));
    sqlite::Connection writer(folder.file(), sqlite::Mode::read_write);
    CHECK_THROWS_AS(schema::create_or_migrate(writer, steps), Error);
  }
  CHECK(rows(folder.file()) == before);
  const std::string copy = fmt::format("hone.db.version-{}", next - 1);
  CHECK(rows(folder.file(copy)) == before);
  steps.back().sql = "CREATE TABLE note(line TEXT NOT NULL) STRICT";
  {
    sqlite::Connection writer(folder.file(), sqlite::Mode::read_write);
    schema::create_or_migrate(writer, steps);
    schema::create_or_migrate(writer, steps);
    CHECK(writer.integer("PRAGMA user_version") == next);
    CHECK(writer.integer("SELECT count(*) FROM note") == 0);
  }
  CHECK(names(folder) == std::vector<std::string>{"hone.db", copy, copy + ".2"});
  CHECK(rows(folder.file(copy + ".2")) == before);
  CHECK_THAT(refusal(folder.file(), Access::create), Contains("newer"));
}

TEST_CASE("reading writes nothing, and sees what is committed only") {
  Folder folder;
  Store writer = Store::open(folder.file(), Access::create);
  populate(writer);
  const auto count = writer.winners({}).size();
  const std::string before = contents(folder.file());
  Store reader = Store::open(folder.file(), Access::read_only);
  CHECK(reader.winners({}).size() == count);
  CHECK(names(folder) == std::vector<std::string>{"hone.db"});
  CHECK(contents(folder.file()) == before);
  CHECK_THROWS_WITH(reader.put(device("x")), Contains("cannot be written"));
  writer.transaction([&] {
    const Run of = run();
    prepare(writer, of);
    decide(writer, of, problem(123), configuration(),
           source("simt", std::string(6000, 's') + "simt").source_hash, 1);
    CHECK(Store::open(folder.file(), Access::read_only).winners({}).size() == count);
  });
  CHECK(reader.winners({}).size() == count + 1);
  CHECK(names(folder) == std::vector<std::string>{"hone.db"});
}

TEST_CASE("a user without the right to write can read, in a folder that nobody may write") {
  Folder folder;
  const auto file = folder.file();
  populate(*std::make_unique<Store>(Store::open(file, Access::create)));
  std::filesystem::permissions(file, std::filesystem::perms(0444));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  const int code = in_child([&] {
    if (getuid() == 0 && setuid(65534) != 0) return 50;
    Store reader = Store::open(file, Access::read_only);
    if (reader.winners({}).empty() || !reader.check().faults.empty()) return 1;
    try {
      Store::open(file, Access::create);
      return 2;
    } catch (const Error& error) {
      if (std::string(error.what()).find("cannot be written") == std::string::npos) return 3;
    }
    try {
      Store::open(file.parent_path() / "new.db", Access::create);
      return 4;
    } catch (const Error& error) {
      if (error.kind() != Error::Kind::unusable) return 5;
    }
    return 0;
  });
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  CHECK(code == 0);
  CHECK(names(folder) == std::vector<std::string>{"hone.db"});
}

TEST_CASE("a file in WAL mode is read where no log can be made") {
  Folder folder;
  const auto file = folder.file();
  populate(*std::make_unique<Store>(Store::open(file, Access::create)));
  sqlite::Connection(file, sqlite::Mode::read_write).execute("PRAGMA journal_mode=WAL");
  REQUIRE(names(folder) == std::vector<std::string>{"hone.db"});
  std::filesystem::permissions(file, std::filesystem::perms(0444));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  const int code = in_child([&] {
    if (getuid() == 0 && setuid(65534) != 0) return 50;
    return Store::open(file, Access::read_only).winners({}).empty() ? 1 : 0;
  });
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  CHECK(code == 0);
}

// Kills a writer in a transaction whose changes have reached the file: its journal is needed to undo them.
void interrupt_writer(const std::filesystem::path& file) {
  const int code = in_child([&]() -> int {
    sqlite::Connection writer(file, sqlite::Mode::read_write);
    writer.execute("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN IMMEDIATE");
    writer.execute(
        "DELETE FROM winner; INSERT INTO code_object SELECT randomblob(16),'a','c','e',randomblob(16),"
        "zeroblob(200000),1 FROM measurement LIMIT 20");
    kill(getpid(), SIGKILL);
    return 0;
  });
  REQUIRE(code == -1);
  REQUIRE(std::filesystem::file_size(file.string() + "-journal") > 512);
}

TEST_CASE("a writer killed in a transaction leaves a sound file, for readers and writers") {
  Folder folder;
  populate(*std::make_unique<Store>(Store::open(folder.file(), Access::create)));
  const auto rows = Store::open(folder.file(), Access::read_only).check().rows;
  for (const Access access : {Access::read_only, Access::read_write}) {
    interrupt_writer(folder.file());
    Store store = Store::open(folder.file(), access);
    const CheckReport report = store.check();
    CHECK(report.faults == std::vector<std::string>{});
    CHECK(report.rows == rows);
  }
  // A reader that is open already meets it too.
  Store reader = Store::open(folder.file(), Access::read_only);
  CHECK(!reader.winners({}).empty());
  interrupt_writer(folder.file());
  CHECK(!reader.winners({}).empty());
  CHECK(reader.check().rows == rows);
}

TEST_CASE("where nothing can be undone, an interrupted writer's file is refused") {
  Folder folder;
  const auto file = folder.file();
  populate(*std::make_unique<Store>(Store::open(file, Access::create)));
  interrupt_writer(file);
  std::filesystem::permissions(file, std::filesystem::perms(0444));
  std::filesystem::permissions(file.string() + "-journal", std::filesystem::perms(0444));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  const int code = in_child([&] {
    if (getuid() == 0 && setuid(65534) != 0) return 50;
    try {
      Store::open(file, Access::read_only);
      return 1;
    } catch (const Error& error) {
      return std::string(error.what()).find("a writer was interrupted") == std::string::npos ? 2 : 0;
    }
  });
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  CHECK(code == 0);
}

TEST_CASE("a writer killed at any moment loses at most its last record") {
  Folder folder;
  const auto file = folder.file();
  const Run of = run();
  {
    Store store = Store::open(file, Access::create);
    prepare(store, of);
    store.put(source("simt", "kernel"));
    store.put(configuration());
  }
  for (int round = 0; round < 5; ++round) {
    int pipe_ends[2];
    REQUIRE(pipe(pipe_ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
      try {
        Store store = Store::open(file, Access::read_write);
        for (std::int64_t i = 0;; ++i) {
          store.put(problem(round * 100'000 + i));
          decide(store, of, problem(round * 100'000 + i), configuration(), id_of("kernel"), i);
          if (::write(pipe_ends[1], "+", 1) != 1) _exit(1);
        }
      } catch (...) {
      }
      _exit(1);
    }
    close(pipe_ends[1]);
    std::this_thread::sleep_for(std::chrono::milliseconds(60 + 37 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::size_t told = 0;
    for (char c; ::read(pipe_ends[0], &c, 1) == 1;) ++told;
    close(pipe_ends[0]);
    Store store = Store::open(file, Access::read_only);
    CHECK(store.check().faults == std::vector<std::string>{});
    std::size_t kept = 0;
    for (const Winner& winner : store.winners({})) {
      kept += winner.problem.dimensions[0].second / 100'000 == round && winner.run == of.id;
    }
    CHECK(kept >= told);
    CHECK(kept <= told + 1);
  }
}

TEST_CASE("a database, its folder, journal, copies and backups are their owner's alone") {
  Folder folder;
  const mode_t before = umask(0);
  const auto file = folder.path() / "new" / "folders" / "hone.db";
  const auto mode = [](const std::filesystem::path& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
  };
  {
    Store store = Store::open(file, Access::create);
    store.transaction([&] {
      store.put(device());
      CHECK(mode(file.string() + "-journal") == 0600);
    });
    store.backup(folder.file("copy.db"));
  }
  const auto old = folder.file("old.db");
  write_version_5(file, old);
  Store::open(old, Access::read_write);
  umask(before);
  CHECK(mode(file) == 0600);
  CHECK(mode(folder.file("copy.db")) == 0600);
  CHECK(mode(old.string() + ".version-5") == 0600);
  CHECK(mode(file.parent_path()) == 0700);
  CHECK(mode(file.parent_path().parent_path()) == 0700);
}

TEST_CASE("triggers, views and indexes that hone did not write make a file refused") {
  Folder folder;
  for (const char* sql : {"CREATE TRIGGER evil AFTER INSERT ON device BEGIN DELETE FROM winner; END",
                          "CREATE VIEW \"a\x1b[2J\nvery evil\" AS SELECT 1", "CREATE VIEW evil AS SELECT 1",
                          "CREATE INDEX evil ON device(name)", "CREATE TABLE evil(x)"}) {
    std::filesystem::remove(folder.file());
    Store::open(folder.file(), Access::create);
    sqlite::Connection(folder.file(), sqlite::Mode::read_write).execute(sql);
    for (const Access access : {Access::read_only, Access::create})
      CHECK_THAT(refusal(folder.file(), access), Contains("evil that hone did not write"));
  }
  std::filesystem::remove(folder.file());
  Store::open(folder.file(), Access::create);
  sqlite::Connection(folder.file(), sqlite::Mode::read_write).execute("ANALYZE");
  CHECK(refusal(folder.file(), Access::read_only).empty());
}

TEST_CASE("opening a database that the process has open already loses it no lock") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  // As another process sees it; SQLite itself would remember the lock across a fork.
  const auto locked = [&] {
    return in_child([&] {
             constexpr off_t reserved_byte = 0x40000001;
             struct flock lock {};
             lock.l_type = F_WRLCK;
             lock.l_whence = SEEK_SET;
             lock.l_start = reserved_byte;
             lock.l_len = 1;
             const int descriptor = ::open(folder.file().c_str(), O_RDWR | O_CLOEXEC);
             return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 1 : 0;
           }) == 1;
  };
  CHECK(!locked());
  store.transaction([&] {
    store.put(device());
    CHECK(locked());
    Store::open(folder.file(), Access::read_only).devices();
    CHECK(locked());
    Store reader = Store::open(folder.file(), Access::read_only);
    CHECK(locked());
  });
  CHECK(!locked());
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A process that runs `body` and tells, by `tell`, the longest that one of its operations took; it fails when
// anything is thrown, a lock that cannot be had above all.
pid_t start_process(int tell, const std::function<double()>& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  int code = 1;
  try {
    const double longest = body();
    code = ::write(tell, &longest, sizeof longest) == sizeof longest ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "process: %s\n", error.what());
  }
  _exit(code);
}

// All of them create the file, and put records one by one.
double write_many(const std::filesystem::path& file, int number, std::int64_t records) {
  double longest = 0;
  const auto timed = [&](const auto& body) {
    const auto start = Clock::now();
    body();
    longest = std::max(longest, seconds_since(start));
  };
  std::optional<Store> store;
  timed([&] { store = Store::open(file, Access::create); });
  const Device on = device("Device " + std::to_string(number));
  const Run of = run(on);
  timed([&] { prepare(*store, of, on); });
  timed([&] {
    store->put(source("simt", "kernel"));
    store->put(configuration());
    store->put(problem());
  });
  for (std::int64_t i = 0; i < records; ++i) {
    const Measurement m = measurement(of, problem(), configuration(), id_of("kernel"));
    timed([&] { store->put(m); });
    if (i % 20 == 0) timed([&] { store->put(decision(m, i)); });
  }
  timed([&] { store->rebuild_derived(); });
  timed([&] { store->finish(of.id, "done"); });
  return longest;
}

// Picks as applications do, each time anew, until `writers_done` can be read.
double pick_throughout(const std::filesystem::path& file, int writers_done) {
  double longest = 0;
  std::map<Id, std::int64_t> newest;
  struct pollfd done {
    writers_done, POLLIN, 0
  };
  while (poll(&done, 1, 0) == 0) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored) || std::filesystem::file_size(file, ignored) == 0) continue;
    const auto start = Clock::now();
    Store store = Store::open(file, Access::read_only);
    for (const auto& [id, device] : store.devices()) {
      std::size_t packed = 0;
      store.winner_blocks(id, Regime::steady, [&](const WinnerBlock& block) { packed += block.size(); });
      if (packed > 1) throw std::runtime_error("a winner is there twice");
    }
    for (const Winner& winner : store.winners({})) {
      if (winner.decided_us < newest[winner.device]) throw std::runtime_error("a winner went back");
      newest[winner.device] = winner.decided_us;
    }
    longest = std::max(longest, seconds_since(start));
  }
  return longest;
}

void write_at_once(int writers, std::int64_t records, int readers) {
  Folder folder;
  const auto file = folder.file();
  int tell[2], done[2];
  REQUIRE(pipe(tell) == 0);
  REQUIRE(pipe(done) == 0);
  std::vector<pid_t> writing, reading;
  for (int i = 0; i < readers; ++i)
    reading.push_back(start_process(tell[1], [&] { return pick_throughout(file, done[0]); }));
  const auto start = Clock::now();
  for (int i = 0; i < writers; ++i)
    writing.push_back(start_process(tell[1], [&] { return write_many(file, i, records); }));
  const auto succeed = [](const std::vector<pid_t>& processes) {
    for (const pid_t process : processes) {
      int status = 0;
      REQUIRE(waitpid(process, &status, 0) == process);
      CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
  };
  succeed(writing);
  const double took = seconds_since(start);
  REQUIRE(::write(done[1], "+", 1) == 1);
  succeed(reading);
  double longest = 0;
  for (int i = 0; i < writers + readers; ++i) {
    double one = 0;
    REQUIRE(::read(tell[0], &one, sizeof one) == sizeof one);
    longest = std::max(longest, one);
  }
  for (const int end : {tell[0], tell[1], done[0], done[1]}) close(end);
  WARN(writers << " writers of " << records << " records and " << readers << " readers: " << took
               << " s, the longest operation " << longest << " s");
  Store store = Store::open(file, Access::read_only);
  CHECK(store.measurements({}).size() == static_cast<std::size_t>(writers * records));
  CHECK(store.winners({}).size() == static_cast<std::size_t>(writers));
  CHECK(store.runs().size() == static_cast<std::size_t>(writers));
  CHECK(store.check().faults == std::vector<std::string>{});
}

TEST_CASE("sixteen writers and two readers at once lose nothing, and none waits until it is refused") {
  write_at_once(16, 20, 2);
}

TEST_CASE("sixteen busy writers and four readers lose nothing, and none waits until it is refused",
          "[long]") {
  write_at_once(16, 400, 4);
}

TEST_CASE("a writer that holds the lock makes others wait, and in the end say so", "[long]") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  Store other = Store::open(folder.file(), Access::read_write);
  const auto start = std::chrono::steady_clock::now();
  store.transaction([&] {
    try {
      other.put(device());
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.kind() == Error::Kind::busy);
      CHECK_THAT(error.what(), Contains("another process") && Contains(folder.file().string()));
    }
  });
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
  CHECK(waited.count() > 4.9);
  CHECK(waited.count() < 30);
  other.put(device());
  CHECK(store.devices().size() == 1);
}

TEST_CASE("a full disk is said to be one, and what was committed stays") {
  Folder folder;
  populate(*std::make_unique<Store>(Store::open(folder.file(), Access::create)));
  const auto rows = Store::open(folder.file(), Access::read_only).check().rows;
  // A file-size limit acts as a full disk does.
  const int code = in_child([&] {
    sqlite::Connection writer(folder.file(), sqlite::Mode::read_write);
    const auto pages = writer.integer("PRAGMA page_count");
    writer.execute(("PRAGMA max_page_count=" + std::to_string(pages)).c_str());
    try {
      writer.execute("INSERT INTO text VALUES(randomblob(16), hex(zeroblob(100000)), 1)");
      return 1;
    } catch (const Error& error) {
      if (error.kind() != Error::Kind::full) return 2;
      return std::string(error.what()).find("disk is full") == std::string::npos ? 3 : 0;
    }
  });
  CHECK(code == 0);
  CHECK(Store::open(folder.file(), Access::read_only).check().rows == rows);
}

TEST_CASE("backup copies one moment of a database that others write") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  populate(store);
  const auto rows = store.check().rows;
  Store::open(folder.file(), Access::read_only).backup(folder.file("copy.db"));
  Store copy = Store::open(folder.file("copy.db"), Access::read_only);
  CHECK(copy.check().faults == std::vector<std::string>{});
  CHECK(copy.check().rows == rows);
  CHECK_THROWS_WITH(store.backup(folder.file("copy.db")), Contains("exists already"));
  CHECK_THROWS_WITH(store.backup(folder.path() / "no" / "copy.db"), Contains("copy.db"));
  CHECK(names(folder) == std::vector<std::string>{"copy.db", "hone.db"});
}

TEST_CASE("network file systems are known by what statfs reports") {
  CHECK(network_file_system(0x6969) == "NFS");
  CHECK(network_file_system(0xff534d42) == "CIFS");
  CHECK(network_file_system(0x0bd00bd0) == "Lustre");
  CHECK(!network_file_system(0xef53));      // ext4
  CHECK(!network_file_system(0x01021994));  // tmpfs
  CHECK_NOTHROW(require_local("/tmp/no/such/folder/hone.db"));
}

TEST_CASE("a file that somebody switched to WAL is switched back by a writer") {
  Folder folder;
  populate(*std::make_unique<Store>(Store::open(folder.file(), Access::create)));
  sqlite::Connection(folder.file(), sqlite::Mode::read_write).execute("PRAGMA journal_mode=WAL");
  CHECK(!Store::open(folder.file(), Access::read_only).winners({}).empty());
  Store store = Store::open(folder.file(), Access::read_write);
  CHECK(contents(folder.file())[18] == 1);
}

TEST_CASE("the database's place: HONE_DB, then XDG, then the home folder") {
  const auto set = [](const char* name, const char* value) {
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  };
  const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  set("HONE_DB", "/a/one.db:/b/two.db");
  CHECK(default_file() == "/a/one.db");
  set("HONE_DB", ":/b/two.db");
  CHECK(default_file() == "/b/two.db");
  set("HONE_DB", "");
  set("XDG_DATA_HOME", "/data");
  CHECK(default_file() == "/data/hone/hone.db");
  set("XDG_DATA_HOME", "relative");
  set("HOME", "/home/me");
  CHECK(default_file() == "/home/me/.local/share/hone/hone.db");
  set("HONE_DB", nullptr);
  set("XDG_DATA_HOME", nullptr);
  CHECK(default_file() == "/home/me/.local/share/hone/hone.db");
  set("HOME", nullptr);
  CHECK_THROWS_AS(default_file(), Error);
  set("HOME", home.c_str());
}

}  // namespace
}  // namespace hone::db
