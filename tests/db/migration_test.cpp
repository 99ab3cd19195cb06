// Migration: a database of every schema version that there ever was becomes one of today with all its rows,
// after a copy was made, or stays as it is.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "db/schema.hpp"
#include "db/tables.hpp"
#include "faulty_vfs.hpp"
#include "sample_database.hpp"

namespace hone::db {
namespace {

using namespace testing;
using Catch::Matchers::Contains;

std::filesystem::path database_of_version(std::int64_t version) {
  return fmt::format(HONE_SOURCE_DIR "/tests/data/schemas/v{}.db", version);
}

std::int64_t newest() {
  return schema::steps().back().version;
}

std::int64_t version_of(const std::filesystem::path& file) {
  return sqlite::Connection(file, sqlite::Mode::read_only).integer("PRAGMA user_version");
}

/// Every row of every table, by table, whatever the schema.
std::map<std::string, std::string> rows_of(const std::filesystem::path& file) {
  sqlite::Connection connection(file, sqlite::Mode::read_only);
  std::map<std::string, std::string> rows;
  sqlite::Statement table(
      connection.get(), connection.file(),
      "SELECT t.name,group_concat('quote('||c.name||')','||'',''||') FROM sqlite_schema t "
      "JOIN pragma_table_info(t.name) c WHERE t.type='table' GROUP BY t.name");
  while (table.step()) {
    std::string& all = rows[std::string(table.text(0))];
    sqlite::Statement row(connection.get(), connection.file(),
                          fmt::format("SELECT {0} FROM {1} ORDER BY {0}", table.text(1), table.text(0)));
    while (row.step()) all.append(row.text(0)).append("\n");
  }
  return rows;
}

/// Every measurement with its samples: of one table or, before version 6, of three (two in version 1).
std::string measurements_of(const std::filesystem::path& file) {
  sqlite::Connection connection(file, sqlite::Mode::read_only);
  const std::int64_t version = connection.integer("PRAGMA user_version");
  std::string columns;
  for (const std::string& column : tables::before_6::measurement.columns)
    columns += "quote(m." + column + ")||','||";
  const std::string conditions =
      version == 1 ? "(SELECT NULL measurement, 0 temperature_c, 0 discarded)" : "condition";
  const std::string sql =
      version >= 6 ? fmt::format(
                         "SELECT {}m.temperature_c||','||m.discarded||','||quote(m.samples) "
                         "FROM measurement m ORDER BY m.id",
                         columns)
                   : fmt::format(
                         "SELECT {}ifnull(c.temperature_c,0)||','||ifnull(c.discarded,0)||','||"
                         "quote(ifnull(s.data,x'')) FROM measurement m LEFT JOIN {} c ON c.measurement=m.id "
                         "LEFT JOIN samples s ON s.measurement=m.id ORDER BY m.id",
                         columns, conditions);
  std::string all;
  sqlite::Statement row(connection.get(), connection.file(), sql);
  while (row.step()) all.append(row.text(0)).append("\n");
  return all;
}

/// A copy to work on.
std::filesystem::path copy_of_version(std::int64_t version, const Folder& folder) {
  std::filesystem::copy_file(database_of_version(version), folder.file());
  std::filesystem::permissions(folder.file(), std::filesystem::perms(0600));
  return folder.file();
}

TEST_CASE("there is a database of every schema version, of that version") {
  for (const schema::Step& step : schema::steps()) {
    const auto file = database_of_version(step.version);
    INFO(file.string() << ": tests/data/schemas/README.md says how such a file is made");
    REQUIRE(std::filesystem::exists(file));
    CHECK(version_of(file) == step.version);
  }
}

TEST_CASE("a database of every version is migrated with all its rows, after a copy was made") {
  for (const schema::Step& step : schema::steps()) {
    INFO("version " << step.version);
    Folder folder;
    const auto file = copy_of_version(step.version, folder);
    const auto before = rows_of(file);
    const std::string measured = measurements_of(file);
    REQUIRE(!measured.empty());
    if (step.version < newest())
      CHECK_THROWS_WITH(Store::open(file, Access::read_only), Contains("older than version"));
    Store store = Store::open(file, Access::read_write);
    CHECK(version_of(file) == newest());
    CHECK(store.check().faults == std::vector<std::string>{});
    CHECK(measurements_of(file) == measured);
    const auto after = rows_of(file);
    // Winners and bands too follow from the records as they did.
    for (const auto& [table, rows] : before) {
      if (table == "measurement" || table == "condition" || table == "samples") continue;  // compared above
      INFO("table " << table);
      CHECK(after.at(table) == rows);
    }
    std::size_t packed = 0;
    for (const auto& [id, device] : store.devices())
      store.winner_blocks(id, Regime::steady, [&](const WinnerBlock& block) { packed += block.size(); });
    const auto winners = store.winners({});
    CHECK(winners.size() >= 2);
    CHECK(packed == winners.size());
    for (const Winner& winner : winners) CHECK(store.code_object(winner.build_key));
    if (step.version >= 3) CHECK(!store.bands({}).empty());
    if (step.version >= 4) CHECK(store.peak(winners.front().device)->per_second == 40'000'000'000);
    const auto copy = folder.file(fmt::format("hone.db.version-{}", step.version));
    CHECK(std::filesystem::exists(copy) == (step.version < newest()));
    if (step.version < newest()) {
      CHECK(rows_of(copy) == before);
      CHECK(version_of(copy) == step.version);
    }
  }
}

/// Has the migration fail at every `stride`-th call that the fault can hit.
void fail_to_migrate(std::int64_t version, Fault fault, std::int64_t stride) {
  for (std::int64_t n = 1;; n += stride) {
    INFO("version " << version << ", fault " << static_cast<int>(fault) << ", call " << n);
    Folder folder;
    const auto file = copy_of_version(version, folder);
    const auto before = rows_of(file);
    const std::string measured = measurements_of(file);
    FaultyVfs disk;
    disk.fail_at(n, fault, true);
    bool failed = false;
    try {
      Store::open(file, Access::read_write);
    } catch (const Error& error) {
      failed = true;
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
    }
    if (!disk.has_failed()) {
      CHECK_FALSE(failed);
      CHECK(n > 1);
      return;
    }
    disk.heal();
    // The first writer after that undoes what was half done.
    sqlite::Connection(file, sqlite::Mode::read_write).integer("SELECT count(*) FROM sqlite_schema");
    // At the very end it may have happened all the same.
    if (version_of(file) == version) {
      CHECK(rows_of(file) == before);
    } else {
      CHECK(Store::open(file, Access::read_only).check().faults == std::vector<std::string>{});
    }
    Store store = Store::open(file, Access::read_write);
    REQUIRE(store.check().faults == std::vector<std::string>{});
    CHECK(measurements_of(file) == measured);
  }
}

TEST_CASE("a migration that fails leaves the old file as it was, and can be done again") {
  for (std::int64_t version = 1; version < newest(); ++version)
    fail_to_migrate(version, Fault::full_disk, 25);
  fail_to_migrate(1, Fault::io_error, 40);
}

TEST_CASE("a migration that fails anywhere leaves the old file as it was", "[long]") {
  for (std::int64_t version = 1; version < newest(); ++version)
    for (const Fault fault : {Fault::io_error, Fault::short_write, Fault::full_disk, Fault::failed_sync})
      fail_to_migrate(version, fault, 1);
}

TEST_CASE("a newer version than the newest is refused by readers and writers and left as it is") {
  Folder folder;
  const auto file = copy_of_version(newest(), folder);
  sqlite::Connection(file, sqlite::Mode::read_write)
      .execute(fmt::format("PRAGMA user_version={}", newest() + 1).c_str());
  const std::string before = contents(file);
  for (const Access access : {Access::read_only, Access::read_write, Access::create})
    CHECK_THROWS_WITH(Store::open(file, access), Contains(fmt::format("version {}, newer", newest() + 1)));
  CHECK(contents(file) == before);
}

}  // namespace
}  // namespace hone::db
