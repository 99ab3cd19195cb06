// How SQLite goes about what is asked of a large database: every statement that the store runs is looked at.
#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <set>

#include "contents.hpp"
#include "sample_database.hpp"

namespace hone::db {
namespace {

using namespace testing;

std::set<std::string> statements;

int remember(unsigned, void*, void* statement, void*) {
  statements.insert(sqlite3_sql(static_cast<sqlite3_stmt*>(statement)));
  return 0;
}

int watch(sqlite3* connection, char**, const sqlite3_api_routines*) {
  return sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, remember, nullptr);
}

/// What SQLite would do for each statement that `body` runs on connections that it opens.
std::set<std::string> steps_of(const std::filesystem::path& file, const std::function<void()>& body) {
  statements.clear();
  const auto hook = reinterpret_cast<void (*)()>(watch);
  sqlite3_auto_extension(hook);
  body();
  sqlite3_cancel_auto_extension(hook);
  std::set<std::string> steps;
  sqlite::Connection connection(file, sqlite::Mode::read_only);
  for (const std::string& sql : statements) {
    if (!sql.starts_with("SELECT") || sql.find("sqlite_schema") != std::string::npos) continue;
    sqlite::Statement plan(connection.get(), connection.file(), "EXPLAIN QUERY PLAN " + sql);
    while (plan.step()) steps.insert(std::string(plan.text(3)));
  }
  return steps;
}

/// Steps through all of a table that grows with what is measured.
std::vector<std::string> scans(const std::set<std::string>& steps) {
  std::vector<std::string> found;
  for (const std::string& step : steps)
    for (const char* table : {"SCAN m", "SCAN t", "SCAN w"})
      if (step == table || step.starts_with(std::string(table) + " ")) found.push_back(step);
  return found;
}

TEST_CASE("with any one filter, measurements are found through an index") {
  Folder folder;
  populate(*std::make_unique<Store>(Store::open(folder.file(), Access::create)));
  const Id run = Store::open(folder.file(), Access::read_only).runs()[0].first.id;
  struct Asked {
    Filter filter;
    std::string through;
  };
  std::vector<Asked> asked(9);
  asked[0].filter.family = "relu";
  asked[0].through = "SEARCH m USING INDEX measurement_problem (problem=?)";
  asked[1].filter.element_type = "f16";
  asked[1].through = asked[0].through;
  asked[2].filter.problem = [](const Problem& problem) { return problem == testing::problem(); };
  asked[2].through = asked[0].through;
  asked[3].filter.run = run;
  asked[3].through = "SEARCH m USING INDEX measurement_problem (problem=? AND device=? AND run=?)";
  asked[4].filter.failed = true;
  asked[4].through = "SCAN m USING INDEX measurement_failed";
  asked[5].filter.family = "relu";
  asked[5].filter.device = device().id();
  asked[5].through = "SEARCH m USING INDEX measurement_problem (problem=? AND device=?)";
  asked[6].filter.family = "relu";
  asked[6].filter.raced = true;
  asked[6].through = "SEARCH m USING INDEX measurement_raced (problem=?)";
  asked[7].filter = asked[5].filter;
  asked[7].filter.raced = true;
  asked[7].filter.regime = Regime::steady;
  asked[7].through = "SEARCH m USING INDEX measurement_raced (problem=? AND device=? AND regime=?)";
  asked[8].filter = asked[3].filter;
  asked[8].filter.raced = true;
  asked[8].through = asked[3].through;
  for (const Asked& each : asked) {
    INFO(each.through);
    std::size_t rows = 0;
    const auto steps = steps_of(folder.file(), [&] {
      rows = Store::open(folder.file(), Access::read_only).measurements(each.filter).size();
    });
    CHECK(rows > 0);
    CHECK(steps.contains(each.through));
    std::vector<std::string> wanted;
    if (each.filter.failed) wanted.push_back(each.through);
    CHECK(scans(steps) == wanted);
  }
}

TEST_CASE("what came through races is asked for by itself, and runs by their first row that matches") {
  Folder folder;
  populate(*std::make_unique<Store>(Store::open(folder.file(), Access::create)));
  Store store = Store::open(folder.file(), Access::read_only);
  Filter filter;
  filter.family = "relu";
  std::set<Id> raced, all, runs;
  for (const MeasuredRow& row : store.measurements(filter)) {
    all.insert(row.measurement.id);
    runs.insert(row.measurement.run);
    if (row.measurement.stage == Stage::race && row.measurement.outcome == Outcome::ok)
      raced.insert(row.measurement.id);
  }
  filter.raced = true;
  std::set<Id> found;
  store.each_measurement(filter, [&](MeasuredRow&& row) { found.insert(row.measurement.id); });
  CHECK(found == raced);
  CHECK(raced.size() < all.size());

  filter.raced = false;
  CHECK(runs.size() == 2);
  CHECK(store.runs_of(filter) == runs);
  Filter on_device;
  on_device.device = device().id();
  CHECK(store.runs_of(on_device).size() == 1);
  Filter cold;
  cold.regime = Regime::cold;
  CHECK(store.runs_of(cold).empty());
  for (const Filter& each : {filter, cold}) {
    const auto steps =
        steps_of(folder.file(), [&] { Store::open(folder.file(), Access::read_only).runs_of(each); });
    CHECK(steps.contains("SEARCH m USING INDEX measurement_problem (problem=? AND device=? AND run=?)"));
    CHECK(scans(steps) == std::vector<std::string>{});
  }
  // A run is of one device: with another one nothing matches.
  Filter elsewhere;
  elsewhere.run = *runs.begin();
  elsewhere.device = testing::device("elsewhere").id();
  CHECK(store.runs_of(elsewhere).empty());
  CHECK(store.measurements(elsewhere).empty());
  elsewhere.device.reset();
  CHECK(store.runs_of(elsewhere) == std::set<Id>{*runs.begin()});
  CHECK(!store.measurements(elsewhere).empty());
}

TEST_CASE("rows outlive the store that they are of, in the order taken") {
  Folder folder;
  populate(*std::make_unique<Store>(Store::open(folder.file(), Access::create)));
  const auto rows = Store::open(folder.file(), Access::read_only).measurements({});
  REQUIRE(rows.size() > 40);
  CHECK(std::is_sorted(rows.begin(), rows.end(), [](const MeasuredRow& a, const MeasuredRow& b) {
    return a.measurement.taken_us < b.measurement.taken_us;
  }));
  for (const MeasuredRow& row : rows) {
    CHECK(row.problem.id() == row.measurement.problem);
    CHECK(row.configuration.id() == row.measurement.configuration);
    CHECK(row.device.backend == "host");
  }
}

TEST_CASE("winners, bands, choices and what is known of a problem need no measurement but their own") {
  Folder folder;
  populate(*std::make_unique<Store>(Store::open(folder.file(), Access::create)));
  Filter one;
  one.device = device().id();
  one.regime = Regime::steady;
  const Id source_hash = source("simt", std::string(6000, 's') + "simt").source_hash;
  const auto steps = steps_of(folder.file(), [&] {
    Store store = Store::open(folder.file(), Access::read_only);
    CHECK(!store.winners(one).empty());
    CHECK(!store.winners({}).empty());
    store.winner_blocks(*one.device, *one.regime, [](const WinnerBlock&) {});
    CHECK(!store.choices({}).empty());
    CHECK(!store.known(*one.device, problem().id(), source_hash, Regime::steady).empty());
    CHECK(store.measurement(store.winners(one)[0].measurement).has_value());
    CHECK(store.families() == std::vector<std::string>{"relu"});
  });
  CHECK(scans(steps) == std::vector<std::string>{});
  CHECK(steps.contains("SEARCH t USING PRIMARY KEY (device=? AND regime=?)"));
  CHECK(steps.contains("SEARCH m USING INDEX measurement_problem (problem=? AND device=?)"));
  CHECK(steps.contains("SEARCH m USING INDEX sqlite_autoindex_measurement_1 (id=?)"));
  CHECK(steps.contains("SCAN problem USING COVERING INDEX problem_family"));

  const auto bands = steps_of(
      folder.file(), [&] { CHECK(!Store::open(folder.file(), Access::read_only).bands(one).empty()); });
  CHECK(scans(bands) == std::vector<std::string>{});
}

TEST_CASE("a decision and a template that changes look up what they need") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  populate(store);
  const Template simt = source("simt", std::string(6000, 's') + "simt");
  const auto steps = steps_of(folder.file(), [&] {
    Store writer = Store::open(folder.file(), Access::read_write);
    const Run of = run();
    prepare(writer, of);
    decide(writer, of, problem(), configuration(), simt.source_hash, 1000);
  });
  CHECK(scans(steps) == std::vector<std::string>{});
  CHECK(steps.contains(
      "SEARCH d USING INDEX decision_key (device=? AND problem=? AND regime=? AND alignment=?)"));
}

}  // namespace
}  // namespace hone::db
