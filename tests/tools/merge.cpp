// hone db merge: what it shows of databases that disagree.
#include <catch2/catch.hpp>

#include "tests/tools/study.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;

/// A database whose winner for 1024 elements is this configuration, measured so.
void write(const std::filesystem::path& file, std::int64_t block, const std::vector<double>& samples,
           std::int64_t decided_us) {
  db::Store store = db::Store::open(file, db::Access::create);
  const db::Template simt = db::testing::source("simt", "kernel");
  const db::Run run = db::testing::run();
  db::testing::prepare(store, run);
  store.put(simt);
  store.put(db::testing::problem());
  store.put(db::testing::configuration(block));
  const db::Measurement m = db::testing::measurement(
      run, db::testing::problem(), db::testing::configuration(block), simt.source_hash, samples);
  store.put(m);
  store.put(db::testing::decision(m, decided_us));
}

TEST_CASE("a merge shows winners that are not served with both spreads, in every format") {
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return (folder.path / name).string(); };
  write(path("a.db"), 64, {100, 100, 110, 110}, 1);
  write(path("b.db"), 128, {200, 200, 200, 200}, 2);
  const Ended table = run_hone({"db", "merge", path("a.db"), path("b.db"), "-o", path("c.db")}, folder.path,
                               {{"COLUMNS", "200"}});
  INFO(table.err);
  CHECK(table.code == 0);
  CHECK_THAT(table.out, Contains("block=64") && Contains("block=128") && Contains("of 2 databases ") &&
                            Contains("1 winner, 0 bands, 0 portfolios, 1 in conflict"));
  CHECK(run_hone({"db", "check", path("c.db")}, folder.path).code == 0);

  const Ended csv =
      run_hone({"db", "merge", path("b.db"), path("a.db"), "-o", path("d.db"), "--format", "csv", "--columns",
                "shape,alignment,database,median_ns,spread,served_ns,served_spread,tie,configuration,served_"
                "configuration"},
               folder.path);
  CHECK(csv.out ==
        "shape,alignment,database,median_ns,spread,served_ns,served_spread,tie,configuration,"
        "served_configuration\n"
        "numel=1024,16," +
            path("a.db") +
            ",110,0.09090909090909091,200,0,no,simt block=64 load=cs,simt block=128 load=cs\n");
  const Ended json = run_hone(
      {"db", "merge", path("b.db"), path("a.db"), "-o", path("e.db"), "--format", "json"}, folder.path);
  CHECK_THAT(json.out, Contains("\"format\": \"hone/merge\"") && Contains("\"tie\": false"));
  CHECK_THAT(json.notes(), Contains("1 in conflict"));
  CHECK(
      run_hone({"query", "winners", "--db", path("c.db"), "--format", "csv", "--columns", "shape,median_ns"},
               folder.path)
          .out == "shape,median_ns\nnumel=1024,200\n");
}

TEST_CASE("a merge says how many winners newer sources have put out of service, and counts portfolios") {
  Study older, newer;
  for (const std::int64_t numel : {1024, 2048}) older.win(older.add("relu", numel, {}, 1000));
  newer.win(newer.add("copy", 4096, {}, 1000));
  newer.change_source("relu");
  const std::string to = (older.folder() / "c.db").string();
  const Ended merged = run_hone({"db", "merge", older.database(), newer.database(), "-o", to}, older.folder(),
                                {{"COLUMNS", "200"}});
  INFO(merged.out << merged.err);
  CHECK(merged.code == 0);
  CHECK_THAT(merged.out, Contains("1 winner, 0 bands, 0 portfolios, 0 in conflict"));
  CHECK_THAT(merged.notes(), Contains("2 winners were tuned with other sources; `hone query stale --db " +
                                      to + "` lists them"));
}

TEST_CASE("a merge that cannot be made says why in one line") {
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return (folder.path / name).string(); };
  write(path("a.db"), 64, {100}, 1);
  const auto refused = [&](const Words& words, int code, const std::string& told) {
    const Ended ended = run_hone(words, folder.path);
    CHECK(ended.code == code);
    CHECK(ended.out.empty());
    CHECK_THAT(ended.notes(), Contains(told));
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(path("c.db")));
  };
  refused({"db", "merge", path("a.db")}, 2, "hone db merge a.db b.db -o c.db");
  refused({"db", "merge", "-o", path("c.db")}, 2, "db merge");
  refused({"db", "merge", path("a.db"), path("none.db"), "-o", path("c.db")}, 3, "none.db: no such");
  refused({"db", "merge", path("a.db"), "-o", path("a.db")}, 3, "a.db: is one of the databases");
}

}  // namespace
}  // namespace hone::test
