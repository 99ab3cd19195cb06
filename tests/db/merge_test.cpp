// Merging: a union, whatever the order, of everything recorded; what follows is derived again.
#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "contents.hpp"
#include "db/schema.hpp"
#include "sample_database.hpp"

namespace hone::db {
namespace {

using namespace testing;
using Catch::Matchers::Contains;

/// Something happens to a database: out of few devices, problems and configurations, so that several
/// databases have much in common.
void happen(Store& store, std::mt19937& random) {
  const auto any = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  const Device on = device(any(2) == 0 ? "Test CPU" : "Other CPU");
  Run of = run(on, 1'700'000'000'000'000 + any(1'000'000));
  prepare(store, of, on);
  const Template used = source("simt", "source " + std::to_string(any(3)));
  if (any(3) == 0 || store.templates("relu").empty()) store.put(used);
  for (int i = any(6); i > 0; --i) {
    const Configuration with = configuration(32 << any(3));
    const Measurement m =
        decide(store, of, problem(1024 << any(3)), with, used.source_hash, of.started_us + any(1000));
    store.put(CodeObject{m.build_key, "x86-64-v3", "g++", "relu", {std::byte(any(3)), std::byte(7)}});
    store.put_default({"relu", "f16", "", with, 16, used.source_hash, m.build_key, of.device});
    Measurement failed = measurement(of, problem(1024 << any(3)), with, used.source_hash, {});
    store.put(problem(1024 << any(3)));
    failed.problem = problem().id();
    store.put(problem());
    failed.outcome = Outcome::crashed;
    failed.reason = "signal 11";
    store.put(failed);
  }
  if (any(3) == 0)
    sweep(store, of, configuration(32), configuration(64), used.source_hash, used.source_hash,
          of.started_us + any(1000), 4096 << any(2));
  if (any(2) == 0) store.put_peak({of.device, "memory", 1 + any(1'000'000)});
  if (any(2) == 0) store.finish(of.id, "done");
}

/// A database of its own past, or one that goes on from `common`.
void write(const std::filesystem::path& file, const std::filesystem::path& common, std::mt19937& random) {
  if (random() % 2 == 0) Store::open(common, Access::read_only).backup(file);
  Store store = Store::open(file, Access::create);
  store.transaction([&] {
    for (unsigned i = random() % 4; i > 0; --i) happen(store, random);
  });
}

std::set<std::string> lines(const std::filesystem::path& file, bool code_objects) {
  std::set<std::string> found;
  sqlite::Connection connection(file, sqlite::Mode::read_only);
  for (const Table* table : tables::all()) {
    if (tables::is_derived(*table) || (table == &tables::code_object && !code_objects)) continue;
    std::istringstream rows(contents_of(connection, *table));
    for (std::string line; std::getline(rows, line);) found.insert(line);
  }
  return found;
}

void try_algebra(unsigned seed) {
  INFO("seed " << seed);
  std::mt19937 random(seed);
  Folder folder;
  const auto common = folder.file("common");
  {
    Store store = Store::open(common, Access::create);
    store.transaction([&] { happen(store, random); });
  }
  int files = 0;
  const auto merge = [&](const std::vector<std::filesystem::path>& of) {
    const auto to = folder.file("merged-" + std::to_string(files++));
    Store::merge(of, to);
    return to;
  };
  const auto a = folder.file("a"), b = folder.file("b"), c = folder.file("c");
  for (const auto& file : {a, b, c}) write(file, common, random);
  const auto ab = merge({a, b}), abc = merge({a, b, c});
  const std::string all = everything(abc);
  CHECK((everything(ab) == everything(merge({b, a}))));
  CHECK((all == everything(merge({c, a, b}))));
  CHECK((all == everything(merge({ab, c}))));
  CHECK((all == everything(merge({a, merge({b, c})}))));
  CHECK((all == everything(merge({abc, abc}))));
  CHECK((all == everything(merge({abc, b}))));
  CHECK((everything(merge({a, a})) == everything(merge({a}))));
  CHECK(Store::open(abc, Access::read_only).check().faults == std::vector<std::string>{});
  // Nothing is lost and nothing comes in.
  std::set<std::string> wanted;
  for (const auto& file : {a, b, c}) wanted.merge(lines(file, false));
  CHECK((lines(abc, false) == wanted));
  const std::set<std::string> objects = lines(abc, true);
  std::set<std::string> known = wanted;
  for (const auto& file : {a, b, c}) known.merge(lines(file, true));
  CHECK((std::includes(known.begin(), known.end(), objects.begin(), objects.end())));
}

TEST_CASE("a merge is commutative, associative and idempotent, and loses nothing") {
  for (unsigned seed = 0; seed < 6; ++seed) try_algebra(seed);
}

TEST_CASE("a merge is commutative, associative and idempotent, however often it is tried", "[long]") {
  for (unsigned seed = 100; seed < 400; ++seed) try_algebra(seed);
}

TEST_CASE("databases that chose differently are told of with both measurements; the newest decision serves") {
  Folder folder;
  const Template simt = source("simt", "kernel");
  std::vector<Measurement> chosen;
  for (const std::int64_t i : {0, 1}) {
    Store store = Store::open(folder.file(std::to_string(i)), Access::create);
    const Run of = run();
    prepare(store, of);
    store.put(simt);
    chosen.push_back(decide(store, of, problem(1024), configuration(32 << i), simt.source_hash, 100 + i));
    decide(store, of, problem(2048), configuration(32), simt.source_hash, 100 + i);
  }
  const MergeReport report = Store::merge({folder.file("1"), folder.file("0")}, folder.file("both"));
  CHECK(report.winners == 2);
  REQUIRE(report.conflicts.size() == 1);
  const Conflict& conflict = report.conflicts[0];
  CHECK(conflict.file == folder.file("0"));
  CHECK(conflict.winner.problem == problem(1024));
  CHECK(conflict.winner.measurement == chosen[0].id);
  CHECK(conflict.device.name == device().name);
  REQUIRE(conflict.served);
  CHECK(conflict.served->measurement == chosen[1].id);
  CHECK(conflict.served->statistics.q3 == chosen[1].statistics.q3);
  // Both are in it, with their runs.
  Store both = Store::open(folder.file("both"), Access::read_only);
  for (const Measurement& m : chosen) {
    CHECK(both.measurement(m.id)->samples == m.samples);
    CHECK(both.run(m.run));
  }
  CHECK(both.runs().size() == 2);
}

TEST_CASE("a winner whose source another database has replaced serves no longer") {
  Folder folder;
  const auto write_one = [&](const std::string& name, const std::string& text, std::int64_t block) {
    Store store = Store::open(folder.file(name), Access::create);
    const Run of = run();
    prepare(store, of);
    store.put(source("simt", text));
    decide(store, of, problem(), configuration(block), source("simt", text).source_hash, 100);
  };
  write_one("old", "old text", 32);
  write_one("new", "new text", 64);
  Store::merge({folder.file("new"), folder.file("old")}, folder.file("both"));
  Store both = Store::open(folder.file("both"), Access::read_only);
  REQUIRE(both.winners({}).size() == 1);
  CHECK(both.winners({})[0].configuration == configuration(64));
  CHECK(both.measurements({}).size() == 2);
}

TEST_CASE("what cannot be merged is refused with one line, and nothing is left of it") {
  Folder folder;
  const auto a = folder.file("a.db"), b = folder.file("b.db"), to = folder.file("c.db");
  populate(*std::make_unique<Store>(Store::open(a, Access::create)));
  Store::open(a, Access::read_only).backup(b);
  const auto refusal = [&](const std::vector<std::filesystem::path>& files,
                           const std::filesystem::path& into) {
    const std::string before = everything(a);
    std::string line;
    try {
      Store::merge(files, into);
    } catch (const Error& error) {
      line = error.what();
    }
    CHECK(line.find('\n') == std::string::npos);
    CHECK((everything(a) == before));
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      names.insert(entry.path().filename().string());
    CHECK(names == std::set<std::string>{"a.db", "b.db"});
    return line;
  };
  CHECK_THAT(refusal({a, b}, b), Contains("b.db") && Contains("one of the databases to be merged"));
  CHECK_THAT(refusal({a, folder.file("none.db")}, to), Contains("none.db") && Contains("no such"));
  CHECK_THAT(refusal({a, b}, folder.path() / "no" / "c.db"), Contains("no"));
  CHECK_THAT(refusal({a, folder.path()}, to), Contains("is a folder"));

  // Another record under an id that is taken.
  sqlite::Connection writer(b, sqlite::Mode::read_write);
  sqlite::Statement row(writer.get(), writer.file(),
                        "SELECT " + tables::decision.select("t") + " FROM decision t ORDER BY t.id LIMIT 1");
  REQUIRE(row.step());
  Row changed(tables::decision);
  for (int column = 0; column < tables::decision.width() - 2; ++column) changed.append(row, column);
  changed << row.integer(tables::decision.width() - 2) + 1;
  const std::int64_t checksum = changed.checksum();
  row.reset();
  writer.execute(
      ("DROP TRIGGER decision_is_never_changed; UPDATE decision SET decided_us=decided_us+1,checksum=" +
       std::to_string(checksum) +
       " WHERE id=(SELECT min(id) FROM decision); "
       "CREATE TRIGGER decision_is_never_changed BEFORE UPDATE ON decision BEGIN "
       "SELECT RAISE(ABORT, 'table decision is append-only'); END")
          .c_str());
  CHECK_THAT(refusal({a, b}, to),
             Contains("a.db") && Contains("b.db") && Contains("one identity") && Contains("table decision"));
  writer.execute(
      "DROP TRIGGER decision_is_never_changed; UPDATE decision SET checksum=1; "
      "CREATE TRIGGER decision_is_never_changed BEFORE UPDATE ON decision BEGIN "
      "SELECT RAISE(ABORT, 'table decision is append-only'); END");
  CHECK_THAT(refusal({a, b}, to), Contains("b.db") && Contains("table decision") && Contains("checksum"));
}

TEST_CASE("packs and databases of an older schema are merged, and stay as they are") {
  Folder folder;
  const auto a = folder.file("a.db"), pack = folder.file("a.hone"), old = folder.file("old.db");
  {
    Store store = Store::open(a, Access::create);
    populate(store);
    store.pack({device().id()}, pack);
  }
  {
    sqlite::Connection writer(old, sqlite::Mode::create);
    schema::create_or_migrate(writer, schema::steps().first(3));
    const Device other = device("A third CPU");
    (Row(tables::device) << other.id() << other.backend << other.name << other.architecture
                         << other.compute_units << other.memory_bytes << other.last_level_cache_bytes
                         << other.partition)
        .insert(writer);
  }
  Store::merge({old, pack, a}, folder.file("all.db"));
  Store all = Store::open(folder.file("all.db"), Access::read_only);
  CHECK(all.check().faults == std::vector<std::string>{});
  CHECK(all.devices().size() == 3);
  CHECK(all.winners({}).size() == Store::open(a, Access::read_only).winners({}).size());
  CHECK(sqlite::Connection(old, sqlite::Mode::read_only).integer("PRAGMA user_version") == 3);
  Store::merge({pack}, folder.file("unpacked.db"));
  CHECK(Store::open(folder.file("unpacked.db"), Access::read_write).check().faults ==
        std::vector<std::string>{});
}

}  // namespace
}  // namespace hone::db
