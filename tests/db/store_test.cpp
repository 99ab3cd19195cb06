// The store: what is put comes back, nothing is lost or changed, and winners are what the decisions say.
#include <fmt/format.h>
#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <fstream>

#include "db/schema.hpp"
#include "db/tables.hpp"
#include "sample_database.hpp"

namespace hone::db {
namespace {

using namespace testing;
using Catch::Matchers::Contains;

bool same(const Measurement& a, const Measurement& b) {
  const auto tie = [](const Measurement& m) {
    return std::tie(m.id, m.run, m.problem, m.configuration, m.source_hash, m.regime, m.stage, m.outcome,
                    m.reason, m.alignment, m.launches, m.statistics.n, m.statistics.minimum, m.statistics.q1,
                    m.statistics.median, m.statistics.q3, m.samples, m.condition.clock_mhz,
                    m.condition.temperature_c, m.condition.throttled, m.condition.discarded, m.build_key,
                    m.taken_us);
  };
  return tie(a) == tie(b);
}

bool same(const Decision& a, const Decision& b) {
  const auto tie = [](const Decision& d) {
    return std::tie(d.id, d.run, d.problem, d.regime, d.alignment, d.chosen, d.incumbent, d.by_default,
                    d.tied, d.tie_bound, d.decided_us);
  };
  return tie(a) == tie(b);
}

void execute(const std::filesystem::path& file, const std::string& sql) {
  sqlite::Connection(file, sqlite::Mode::read_write).execute(sql.c_str());
}

TEST_CASE("records come back as they were put") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  const Run of = run();
  prepare(store, of);
  const Template simt = source("simt", "kernel");
  store.put(simt);
  store.put(problem());
  store.put(configuration());
  Measurement m = measurement(of, problem(), configuration(), simt.source_hash);
  m.regime = Regime::cold;
  m.condition = {1980, 61, true, 3};
  m.reason = "a reason with 'quotes' and \xc3\xa9";
  store.put(m);
  Measurement other = measurement(of, problem(), configuration(), simt.source_hash, {});
  other.regime = Regime::cold;
  other.outcome = Outcome::timed_out;
  other.build_key = {};
  store.put(other);
  Decision d = decision(m, 77);
  d.incumbent = other.id;
  d.by_default = m.id;
  d.tied = {m.id, other.id};
  store.put(d);
  const CodeObject object{m.build_key, "sm_90a", "NVRTC 13.0", "relu", {std::byte{0}, std::byte{255}}};
  store.put(object);

  for (const bool reopened : {false, true}) {
    INFO(reopened);
    Store reader = Store::open(folder.file(), Access::read_only);
    Store& from = reopened ? reader : store;
    REQUIRE(from.devices().size() == 1);
    CHECK(from.devices()[0].first == device().id());
    CHECK(from.device(device().id())->architecture == device().architecture);
    CHECK(!from.device(id_of("another")));
    CHECK(from.environment(environment().id())->items == environment().items);
    const Run back = from.run(of.id).value();
    CHECK(back.settings == of.settings);
    CHECK(back.seed == of.seed);
    CHECK(back.command == of.command);
    CHECK(back.started_us == of.started_us);
    CHECK(same(from.measurement(m.id).value(), m));
    CHECK(same(from.measurement(other.id).value(), other));
    CHECK(!from.measurement(id_of("another")));
    CHECK(same(from.decision(d.id).value(), d));
    const CodeObject code = from.code_object(m.build_key).value();
    CHECK(code.bytes == object.bytes);
    CHECK(code.entry == object.entry);
    CHECK(!from.code_object(id_of("another")));
    REQUIRE(from.templates("relu").size() == 1);
    CHECK(from.templates("relu")[0].source == simt.source);
    CHECK(from.templates("relu")[0].manifest == simt.manifest);
    CHECK(from.templates("other").empty());
    const auto winners = from.winners({});
    REQUIRE(winners.size() == 1);
    CHECK(winners[0].problem == problem());
    CHECK(winners[0].configuration == configuration());
    CHECK(winners[0].regime == Regime::cold);
    CHECK(winners[0].measurement == m.id);
    CHECK(winners[0].decision == d.id);
    CHECK(winners[0].build_key == m.build_key);
    CHECK(winners[0].environment == environment().id());
    CHECK(winners[0].tied == 1);
    CHECK(winners[0].statistics.median == m.statistics.median);
    const CheckReport report = from.check();
    CHECK(report.faults == std::vector<std::string>{});
    CHECK(report.rows >= 12);
  }
}

TEST_CASE("any record survives the round trip") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  rc::prop("problems, configurations, environments, measurements", [&] {
    const auto text = [] { return *rc::gen::arbitrary<std::string>(); };
    const auto number = [] { return *rc::gen::arbitrary<std::int64_t>(); };
    Problem p{text(), text(), text(), {}};
    Configuration c{text(), text(), {}};
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
      p.dimensions.emplace_back("d" + std::to_string(i), number());
      c.parameters["p" + std::to_string(i) + text()] =
          *rc::gen::arbitrary<bool>() ? Value(number()) : Value(text());
    }
    Environment e{*rc::gen::arbitrary<std::map<std::string, std::string>>()};
    Device d{text(), text(), text(), number(), number(), number(), text()};
    Run r;
    r.started_us = number();
    r.device = d.id();
    r.environment = e.id();
    r.command = text();
    r.settings = *rc::gen::arbitrary<std::map<std::string, std::string>>();
    std::vector<double> samples;
    for (const std::int64_t sample : *rc::gen::arbitrary<std::vector<std::int64_t>>()) {
      samples.push_back(std::abs(static_cast<double>(sample)) / 3);
    }
    Measurement m = measurement(r, p, c, id_of(text()), samples);
    m.reason = text();
    m.taken_us = number();
    store.transaction([&] {
      store.put(d);
      store.put(e);
      store.put(r);
      store.put(p);
      store.put(c);
      store.put(m);
    });
    RC_ASSERT(store.environment(e.id())->items == e.items);
    RC_ASSERT(store.device(d.id())->name == d.name);
    RC_ASSERT(store.run(r.id)->settings == r.settings);
    RC_ASSERT(same(store.measurement(m.id).value(), m));
    Filter filter;
    filter.run = r.id;
    const auto rows = store.measurements(filter);
    RC_ASSERT(rows.size() == 1u);
    RC_ASSERT(rows[0].problem == p);
    RC_ASSERT(rows[0].configuration == c);
    RC_ASSERT(rows[0].measurement.samples.empty());
  });
  CHECK(store.check().faults == std::vector<std::string>{});
}

TEST_CASE("problems are found by family, element type and what a filter asks of them") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  CHECK(store.problems({}).empty());
  Problem large = problem(4096), other = problem();
  large.element_type = "f32";
  other.family = "copy";
  for (const Problem& each : {problem(), large, other}) store.put(each);
  const auto found = [&](const Filter& filter) {
    std::vector<Problem> problems = store.problems(filter);
    std::sort(problems.begin(), problems.end());
    return problems;
  };
  Filter family, element_type, asked;
  family.family = "relu";
  element_type.element_type = "f16";
  asked.problem = [](const Problem& each) { return each.dimensions[0].second > 1024; };
  CHECK(found({}) == std::vector{other, problem(), large});
  CHECK(found(family) == std::vector{problem(), large});
  CHECK(found(element_type) == std::vector{other, problem()});
  CHECK(found(asked) == std::vector{large});
}

TEST_CASE("putting a record again changes nothing, and another one under its id is refused") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  Run of = run();
  prepare(store, of);
  const Template simt = source("simt", "kernel");
  store.put(simt);
  const Measurement m = decide(store, of, problem(), configuration(), simt.source_hash, 5);
  const auto rows = store.check().rows;
  prepare(store, of);
  store.put(simt);
  store.put(problem());
  store.put(configuration());
  store.put(m);
  CHECK(store.check().rows == rows);
  of.command = "another command";
  CHECK_THROWS_WITH(store.put(of),
                    Contains("another record under the same identity") && Contains(folder.file().string()));
  Measurement changed = m;
  changed.reason = "another";
  CHECK_THROWS_AS(store.put(changed), Error);
  CHECK(same(store.measurement(m.id).value(), m));
}

TEST_CASE("recorded rows are neither changed nor deleted, whoever tries") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  populate(store);
  for (const Table* table : tables::all()) {
    if (tables::is_derived(*table)) continue;
    INFO(table->name);
    CHECK_THROWS_WITH(execute(folder.file(), "UPDATE " + table->name + " SET checksum=1"),
                      Contains("append-only"));
    if (table == &tables::code_object) continue;
    CHECK_THROWS_WITH(execute(folder.file(), "DELETE FROM " + table->name), Contains("append-only"));
  }
  CHECK(store.check().faults == std::vector<std::string>{});
}

TEST_CASE("the tables are what the code takes them for") {
  Folder folder;
  Store::open(folder.file(), Access::create);
  sqlite::Connection connection(folder.file(), sqlite::Mode::read_only);
  for (const Table* table : tables::all()) {
    sqlite::Statement info(connection.get(), connection.file(),
                           "SELECT name FROM pragma_table_info('" + table->name + "')");
    std::vector<std::string> columns;
    while (info.step()) columns.emplace_back(info.text(0));
    REQUIRE(!columns.empty());
    CHECK(columns.back() == "checksum");
    columns.pop_back();
    CHECK(columns == table->columns);
    sqlite::Statement strict(connection.get(), connection.file(),
                             "SELECT strict FROM pragma_table_list WHERE name='" + table->name + "'");
    REQUIRE(strict.step());
    CHECK(strict.integer(0) == 1);
  }
}

TEST_CASE("SCHEMA.md names every table and column, and its examples run") {
  std::ifstream in(std::string(HONE_SOURCE_DIR) + "/db/SCHEMA.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  REQUIRE(!page.empty());
  for (const Table* table : tables::all()) {
    const auto start = page.find("**" + table->name + "**");
    INFO(table->name);
    REQUIRE(start != std::string::npos);
    const std::string section = page.substr(start, page.find("\n**", start) - start);
    for (const std::string& column : table->columns) {
      INFO(column);
      CHECK_THAT(section, Contains(column));
    }
  }
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  populate(store);
  sqlite::Connection connection(folder.file(), sqlite::Mode::read_only);
  int examples = 0;
  for (auto at = page.find("```sql"); at != std::string::npos; at = page.find("```sql", at + 1), ++examples) {
    const std::string sql = page.substr(at + 6, page.find("```", at + 6) - at - 6);
    INFO(sql);
    CHECK_NOTHROW(connection.execute(sql.c_str()));
  }
  CHECK(examples == 5);
}

TEST_CASE("records that contradict themselves or others are refused") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  const Run of = run();
  prepare(store, of);
  const Id hash = id_of("kernel");
  store.put(problem());
  store.put(problem(7));
  store.put(configuration());
  Measurement m = measurement(of, problem(), configuration(), hash);
  Measurement bad = m;
  bad.statistics.n = 2;
  CHECK_THROWS_WITH(store.put(bad), Contains("3 samples"));
  bad = m, bad.statistics.minimum = 1;
  CHECK_THROWS_WITH(store.put(bad), Contains("minimum"));
  bad = m, bad.samples[0] = bad.statistics.minimum = -1;
  CHECK_THROWS_WITH(store.put(bad), Contains("below zero"));
  bad = m, bad.statistics.q1 = 1000;
  CHECK_THROWS_WITH(store.put(bad), Contains("out of order"));
  bad = m, bad.statistics.median = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(store.put(bad), Contains("finite"));
  bad = m, bad.samples[0] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(store.put(bad), Contains("finite"));
  bad = m, bad.run = id_of("none");
  CHECK_THROWS_WITH(store.put(bad), Contains("not there"));
  bad = m, bad.problem = id_of("none");
  CHECK_THROWS_AS(store.put(bad), Error);
  bad = m, bad.alignment = 0;
  CHECK_THROWS_AS(store.put(bad), Error);
  CHECK(store.measurements({}).empty());
  store.put(m);
  Measurement failed = measurement(of, problem(), configuration(), hash, {});
  failed.outcome = Outcome::wrong_result;
  store.put(failed);
  CHECK_THROWS_WITH(store.put(decision(failed, 1)), Contains("wrong_result"));
  Decision d = decision(m, 1);
  d.problem = problem(7).id();
  CHECK_THROWS_WITH(store.put(d), Contains("do not have"));
  d = decision(m, 1), d.regime = Regime::cold;
  CHECK_THROWS_AS(store.put(d), Error);
  d = decision(m, 1), d.alignment = 8;
  CHECK_THROWS_WITH(store.put(d), Contains("aligned to 8"));
  d = decision(m, 1), d.tied = {id_of("none")};
  CHECK_THROWS_AS(store.put(d), Error);
  CHECK_THROWS_AS(store.finish(id_of("none"), "done"), Error);
  CHECK_THROWS_WITH(store.put(Problem{"f", "f16", "", {{"n", 1}, {"n", 2}}}), Contains("two dimensions"));
  CHECK(store.check().faults == std::vector<std::string>{});
}

TEST_CASE("the newest decision with current source wins, for each device, problem, regime and alignment") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  const Run of = run(), later = run(device(), of.started_us + 1),
            elsewhere = run(device("Other"), of.started_us);
  prepare(store, of);
  prepare(store, later);
  prepare(store, elsewhere, device("Other"));
  const Template old = source("simt", "old"), young = source("simt", "young");
  const auto served = [&](const Problem& on = problem()) -> std::optional<Id> {
    std::optional<Id> found;
    Filter filter;
    filter.device = device().id();
    for (const Winner& w : store.winners(filter)) {
      if (w.problem == on) found = w.measurement;
    }
    CHECK(store.check().faults == std::vector<std::string>{});
    return found;
  };

  const Measurement a = decide(store, of, problem(), configuration(64), old.source_hash, 100);
  CHECK(!served());  // its source is not known to be current
  store.put(old);
  CHECK(served() == a.id);
  const Measurement b = decide(store, later, problem(), configuration(128), old.source_hash, 200);
  CHECK(served() == b.id);
  decide(store, later, problem(), configuration(256), old.source_hash, 150);  // older than what serves
  CHECK(served() == b.id);
  decide(store, elsewhere, problem(), configuration(32), old.source_hash, 999);
  CHECK(served() == b.id);

  store.put(young);
  CHECK(!served());
  CHECK(store.templates("relu").size() == 1);
  CHECK(store.templates("relu")[0].source == "young");
  const Measurement c = decide(store, of, problem(), configuration(64), young.source_hash, 50);
  CHECK(served() == c.id);
  store.put(old);  // somebody went back to the older source
  CHECK(served() == b.id);
  CHECK(store.templates("relu")[0].source == "old");
  store.put(young);
  CHECK(served() == c.id);
  store.put(source("buffer", "another variant's source"));
  CHECK(served() == c.id);

  const Measurement tie = decide(store, later, problem(9), configuration(64), young.source_hash, 70);
  const Measurement tied = decide(store, of, problem(9), configuration(64), young.source_hash, 70);
  CHECK(served(problem(9)) == (later.id > of.id ? tie.id : tied.id));

  Decision wide = decision(c, 60);
  wide.alignment = 32;
  store.put(wide);
  Filter filter;
  filter.device = device().id();
  CHECK(store.winners(filter).size() == 3);
  store.rebuild_derived();
  CHECK(store.winners(filter).size() == 3);
  filter.device.reset();
  filter.regime = Regime::cold;
  CHECK(store.winners(filter).empty());
  filter.regime = Regime::steady;
  filter.element_type = "f32";
  CHECK(store.winners(filter).empty());
  filter.element_type = "f16";
  filter.family = "relu";
  filter.run = of.id;
  for (const Winner& w : store.winners(filter)) CHECK(w.run == of.id);
}

TEST_CASE("blocks hold every winner of a device and regime") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  populate(store);
  const auto packed = [&](const Id& device, Regime regime) {
    std::vector<std::string> found;
    store.winner_blocks(device, regime, [&](const WinnerBlock& block) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        const auto record = block[i];
        Problem on{std::string(block.family), std::string(block.element_type), std::string(block.layout), {}};
        for (std::size_t at = 0; at < block.dimensions.size(); ++at)
          on.dimensions.emplace_back(block.dimensions[at], record.extent(at));
        const Statistics& s = record.statistics;
        found.push_back(fmt::format("{} {} {} {} {} {} {} {} {} {} {}", on.text(), record.alignment,
                                    record.configuration.hex(), record.source_hash.hex(),
                                    record.build_key.hex(), record.measurement.hex(), s.n, s.minimum, s.q1,
                                    s.median, s.q3));
      }
    });
    std::sort(found.begin(), found.end());
    return found;
  };
  for (const Device& on : {device(), device("Other CPU")}) {
    Filter filter;
    filter.device = on.id();
    filter.regime = Regime::steady;
    std::vector<std::string> wanted;
    for (const Winner& w : store.winners(filter)) {
      const Statistics& s = w.statistics;
      wanted.push_back(fmt::format("{} {} {} {} {} {} {} {} {} {} {}", w.problem.text(), w.alignment,
                                   w.configuration.id().hex(), w.source_hash.hex(), w.build_key.hex(),
                                   w.measurement.hex(), s.n, s.minimum, s.q1, s.median, s.q3));
    }
    std::sort(wanted.begin(), wanted.end());
    CHECK(wanted.size() >= 5);
    CHECK(packed(on.id(), Regime::steady) == wanted);
    CHECK(packed(on.id(), Regime::cold).empty());
  }
  execute(folder.file(),
          "DELETE FROM winner_block WHERE first_byte=(SELECT max(first_byte) FROM winner_block)");
  CHECK_THROWS_WITH(
      packed(device().id(), Regime::steady).size() + packed(device("Other CPU").id(), Regime::steady).size(),
      Contains("winner_blocks are missing"));
  CHECK(store.check().faults.size() == 2);
  store.rebuild_derived();
  CHECK(store.check().faults.empty());
}

TEST_CASE("a template with the same source hash and another manifest is current without losing winners") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  const Run of = run();
  prepare(store, of);
  Template simt = source("simt", "kernel");
  store.put(simt);
  decide(store, of, problem(), configuration(), simt.source_hash, 1);
  simt.manifest += "# a comment\n";
  store.put(simt);
  REQUIRE(store.templates("relu").size() == 1);
  CHECK(store.templates("relu")[0].manifest == simt.manifest);
  CHECK(store.winners({}).size() == 1);
}

TEST_CASE("defaults: the newest with current source, one an element type and layout") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  store.put(device());
  const Template simt = source("simt", "kernel"), next = source("simt", "next");
  store.put(simt);
  CheckedDefault checked{"relu",           "f16",          "",           configuration(64), 4,
                         simt.source_hash, id_of("build"), device().id()};
  store.put_default(checked);
  store.put_default(checked);
  checked.configuration = configuration(128);
  checked.build_key = {};
  store.put_default(checked);
  checked.element_type = "f32";
  store.put_default(checked);
  auto defaults = store.defaults(device().id());
  REQUIRE(defaults.size() == 2);
  CHECK(defaults[0].element_type == "f16");
  CHECK(defaults[0].configuration == configuration(128));
  CHECK(defaults[0].needs_alignment == 4);
  CHECK(defaults[0].build_key == Id{});
  CHECK(defaults[1].element_type == "f32");
  CHECK(store.defaults(id_of("another")).empty());
  store.put(next);
  CHECK(store.defaults(device().id()).empty());
  checked.source_hash = next.source_hash;
  store.put_default(checked);
  CHECK(store.defaults(device().id()).size() == 1);
  store.put(simt);
  CHECK(store.defaults(device().id()).size() == 2);
  CHECK(store.check().faults == std::vector<std::string>{});
}

TEST_CASE("known() gives what a resumed run need not do again, newest run first") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  const Run old = run(), young = run(device(), old.started_us + 9);
  prepare(store, old);
  prepare(store, young);
  store.put(problem());
  store.put(problem(5));
  store.put(configuration());
  const Id hash = id_of("kernel");
  std::vector<Measurement> wanted;
  for (const Run& of : {young, old}) {
    for (const std::int64_t taken : {3, 8}) {
      wanted.push_back(measurement(of, problem(), configuration(), hash));
      wanted.back().taken_us = taken;
    }
  }
  for (const std::size_t i : {3u, 0u, 2u, 1u}) store.put(wanted[i]);
  store.put(measurement(old, problem(5), configuration(), hash));
  store.put(measurement(old, problem(), configuration(), id_of("other")));
  Measurement cold = measurement(old, problem(), configuration(), hash);
  cold.regime = Regime::cold;
  store.put(cold);
  const auto known = store.known(device().id(), problem().id(), hash, Regime::steady);
  REQUIRE(known.size() == wanted.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    wanted[i].samples.clear();  // known() leaves them out
    CHECK(same(known[i], wanted[i]));
  }
  CHECK(store.known(id_of("no device"), problem().id(), hash, Regime::steady).empty());
}

TEST_CASE("the peak given last counts") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  const Id of = store.put(device()), other = store.put(device("Other CPU"));
  CHECK(!store.peak(of));
  CHECK_THROWS_WITH(store.put_peak({of, "memory", 0}), Contains("above zero"));
  store.put_peak({of, "memory", 100});
  store.put_peak({of, "memory", 90});
  CHECK(store.peak(of)->per_second == 90);
  CHECK(!store.peak(of, "another"));
  CHECK(!store.peak(other));
  CHECK(store.check().faults == std::vector<std::string>{});
}

TEST_CASE("runs come newest first with their ends") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  const Run first = run(), second = run(device(), first.started_us + 1);
  prepare(store, first);
  prepare(store, second);
  store.finish(first.id, "interrupted");
  store.finish(first.id, "done");
  const auto runs = store.runs();
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].first.id == second.id);
  CHECK(runs[0].second.empty());
  CHECK(runs[1].second == "done");
}

TEST_CASE("a transaction that throws leaves nothing, an inner one only loses its own") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  CHECK_THROWS_WITH(store.transaction([&] {
    store.put(device());
    throw std::runtime_error("mine");
  }),
                    "mine");
  CHECK(store.devices().empty());
  store.transaction([&] {
    store.put(device("kept"));
    try {
      store.transaction([&] {
        store.put(device("lost"));
        throw std::runtime_error("mine");
      });
    } catch (const std::runtime_error&) {
    }
  });
  REQUIRE(store.devices().size() == 1);
  CHECK(store.devices()[0].second.name == "kept");
}

TEST_CASE("lookups go through an index that has the whole key") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  sqlite::Connection connection(folder.file(), sqlite::Mode::read_only);
  const auto plan = [&](const std::string& sql) {
    sqlite::Statement statement(connection.get(), connection.file(), "EXPLAIN QUERY PLAN " + sql);
    std::string text;
    while (statement.step()) text += std::string(statement.text(3)) + '\n';
    return text;
  };
  CHECK_THAT(plan("SELECT * FROM winner WHERE device=?1 AND regime=?2 AND problem=?3"),
             Contains("PRIMARY KEY (device=? AND regime=? AND problem=?)"));
  CHECK_THAT(
      plan("SELECT * FROM measurement WHERE device=?1 AND problem=?2 AND source_hash=?3 AND regime=?4"),
      Contains("measurement_problem (problem=? AND device=?)"));
  CHECK_THAT(plan("SELECT * FROM code_object WHERE build_key=?1"), Contains("(build_key=?)"));
  CHECK_THAT(plan("SELECT * FROM decision WHERE device=?1 AND problem=?2 AND regime=?3 AND alignment=?4"),
             Contains("decision_key (device=? AND problem=? AND regime=? AND alignment=?)"));
}

TEST_CASE("winners of ten thousand decisions among a hundred thousand measurements", "[long]") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  const Run of = run();
  prepare(store, of);
  const Template simt = source("simt", "kernel");
  store.put(simt);
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  auto start = Clock::now();
#ifdef HONE_SANITIZED
  constexpr int measurements = 2000;
#else
  constexpr int measurements = 100'000;
#endif
  store.transaction([&] {
    for (int i = 0; i < measurements; ++i) {
      store.put(problem(i % 5000));
      store.put(configuration(i % 512));
      const Measurement m = measurement(of, problem(i % 5000), configuration(i % 512), simt.source_hash,
                                        std::vector<double>(15, 100.0 + i));
      store.put(m);
      if (i % 10 == 0) store.put(decision(m, i));
    }
  });
  const double put = seconds(start);
  start = Clock::now();
  store.rebuild_derived();
  const double rebuild = seconds(start);
  start = Clock::now();
  CHECK(store.winners({}).size() == static_cast<std::size_t>(std::min(measurements, 5000) / 10));
  const double read = seconds(start);
  start = Clock::now();
  CHECK(store.measurements({}).size() == static_cast<std::size_t>(measurements));
  const double all = seconds(start);
  start = Clock::now();
  CHECK(store.check().faults == std::vector<std::string>{});
  WARN("put " << put << " s, rebuild " << rebuild << " s, winners " << read << " s, measurements " << all
              << " s, check " << seconds(start) << " s, "
              << static_cast<double>(std::filesystem::file_size(folder.file())) / 1e6 << " MB");
}

}  // namespace
}  // namespace hone::db
