// What changed: between two databases, and since winners were found.
#include <catch2/catch.hpp>
#include <fstream>

#include "runtime/device.hpp"
#include "runtime/host_device.hpp"
#include "tests/tools/study.hpp"
#include "tools/staleness.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;

/// A database in which problems of so many elements have winners of so many nanoseconds.
void write(const std::filesystem::path& file, const std::map<std::int64_t, double>& winners,
           std::int64_t block = 256) {
  db::Store store = db::Store::open(file, db::Access::create);
  const db::Template simt = db::testing::source("simt", "kernel");
  const db::Run run = db::testing::run();
  std::int64_t clock = run.started_us;
  store.transaction([&] {
    db::testing::prepare(store, run);
    store.put(simt);
    for (const auto& [numel, nanoseconds] : winners) {
      const db::Problem problem = db::testing::problem(numel);
      const db::Configuration configuration = db::testing::configuration(block);
      store.put(problem);
      store.put(configuration);
      const db::Measurement m = db::testing::measurement(run, problem, configuration, simt.source_hash,
                                                         {nanoseconds, nanoseconds, nanoseconds});
      store.put(m);
      store.put(db::testing::decision(m, ++clock));
    }
  });
  store.rebuild_derived();
}

TEST_CASE("a diff tells what got faster, slower, appeared and vanished, and fails for what got slower") {
  const TemporaryFolder folder;
  const std::string before = (folder.path / "before.db").string();
  const std::string after = (folder.path / "after.db").string();
  write(before, {{1024, 1000}, {2048, 1000}, {4096, 1000}, {8192, 1000}});
  write(after, {{1024, 1100}, {2048, 800}, {4096, 1019}, {16384, 1000}}, 512);
  const Ended diff =
      run_hone({"db", "diff", before, after, "--format", "csv", "--columns", "shape,change,times_faster"},
               folder.path);
  INFO(diff.err);
  CHECK(diff.code == 1);
  CHECK(diff.out ==
        "shape,change,times_faster\n"
        "numel=1024,slower,0.9090909090909091\n"
        "numel=2048,faster,1.25\n"
        "numel=8192,vanished,\n"
        "numel=16384,appeared,\n");
  const Ended table = run_hone({"db", "diff", before, after, "--all"}, folder.path);
  CHECK_THAT(table.out, Contains("1 faster, 1 slower, 1 same, 1 appeared, 1 vanished") &&
                            Contains("block=512") && Contains("numel=4096"));

  const Ended none = run_hone({"db", "diff", before, before}, folder.path);
  CHECK(none.code == 0);
  CHECK_THAT(none.out, Contains("0 faster, 0 slower, 4 same, 0 appeared, 0 vanished"));
  CHECK(run_hone({"db", "diff", after, before, "--shape", "numel=1024"}, folder.path).code == 0);
  CHECK(run_hone({"db", "diff", before, after, "--shape", "numel=2048"}, folder.path).code == 0);
  CHECK(run_hone({"db", "diff", before, (folder.path / "none.db").string()}, folder.path).code == 3);
  CHECK(run_hone({"db", "diff", before}, folder.path).code == 2);
}

TEST_CASE("a diff in which nothing can be compared is no success") {
  const TemporaryFolder folder;
  const std::string before = (folder.path / "before.db").string();
  const std::string after = (folder.path / "after.db").string();
  write(before, {{1024, 1000}});
  write(after, {{2048, 1000}});
  const Ended other = run_hone({"db", "diff", before, after}, folder.path);
  CHECK(other.code == 1);
  CHECK_THAT(other.out, Contains("0 faster, 0 slower, 0 same, 1 appeared, 1 vanished"));
  CHECK_THAT(other.notes(), Contains("no problem has a winner in both; nothing was compared"));
  CHECK(run_hone({"db", "diff", before, before, "--dtype", "f32"}, folder.path).code == 1);
}

TEST_CASE("winners and bands that another source has put out of service are told, and listed as stale") {
  Study study;
  for (const std::int64_t numel : {1 << 20, 2048, 1 << 22}) study.win(study.add("relu", numel, {}, 1000));
  const Words quiet[] = {{"query", "winners"},
                         {"query", "bands"},
                         {"query", "ladder", "relu"},
                         {"query", "pivot", "relu", "--rows", "load", "--cols", "store"},
                         {"query", "gain", "relu", "--parameter", "store", "--from", "default", "--to", "nt"},
                         {"query", "importance", "relu"}};
  const db::Template simt = study.store().templates("relu").front();
  db::testing::sweep(study.store(), study.run(), db::testing::configuration(64),
                     db::testing::configuration(128), simt.source_hash, simt.source_hash, 500);
  study.store().rebuild_derived();
  for (const Words& words : quiet)
    CHECK_THAT(study.hone(words).notes(), !Contains("tuned with other sources"));
  study.change_source("relu");
  for (const Words& words : quiet)
    CHECK_THAT(
        study.hone(words).notes(),
        Contains("3 winners and the bands of 1 sweep were tuned with other sources; `hone query stale"));
  CHECK(study.csv({"stale"}, "what,shape,alignment,serves,changed") ==
        "what,shape,alignment,serves,changed\n"
        "bands,bands,,no,source\n"
        "winner,numel=2048,16,no,source\n"
        "winner,numel=1048576,16,no,source\n"
        "winner,numel=4194304,16,no,source\n");
  CHECK_THAT(study.csv({"stale"}, "before"), Contains(simt.source_hash.hex()));  // whole, for programs
  // A winner of another run serves all the same.
  study.next_run();
  CHECK(study.csv({"stale", "--run", study.run().id.hex()}, "shape") == "shape\n");
}

TEST_CASE("an explanation says what was never tuned, and what was with other sources") {
  Study study;
  const db::Device host = host_device_info().record();
  study.next_run(host);
  const Words call{"explain", "relu", "--device", "host", "--dtype", "f16", "--shape", "numel=1024"};
  Words other = call;
  other[5] = "f32";
  study.win(study.add("relu", 1024, {}, 1000));
  study.change_source("relu");
  const Ended outdated = study.hone(call);
  INFO(outdated.out << outdated.err);
  CHECK(outdated.code == 1);
  CHECK_THAT(outdated.out, Contains("none       no       no winner of relu f16 is of the newest sources\n") &&
                               Contains("\nanswer:         none\n"));
  CHECK_THAT(outdated.notes(),
             Contains("1 winner was tuned with other sources; `hone query stale relu --db " +
                      study.database() + "` lists them"));
  const Ended never = study.hone(other);
  INFO(never.out << never.err);
  CHECK_THAT(never.out, Contains("no       relu f32 was never tuned on this device in the steady regime\n") &&
                            !Contains("no checked configuration"));
  CHECK(never.out.find("hone tune") == never.out.rfind("hone tune"));
  CHECK(never.err.empty());
}

TEST_CASE("what one run did, or what is new, is asked for alone") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  write(database, {{1024, 1000}});
  const auto said = [&](Words more) {
    Words words{"query", "winners", "--format", "csv", "--columns", "shape", "--db", database};
    words.insert(words.end(), more.begin(), more.end());
    return run_hone(words, folder.path);
  };
  const std::string run = db::Store::open(database, db::Access::read_only).runs().front().first.id.hex();
  CHECK(said({"--run", run.substr(0, 6)}).out == "shape\nnumel=1024\n");
  CHECK_THAT(said({"--run", "zz"}).notes(), Contains("has no run `zz`; `hone query runs"));
  CHECK(said({"--since", "2020-01-01"}).out == "shape\nnumel=1024\n");
  CHECK(said({"--since", "1h"}).out == "shape\n");  // the run is of 2023
  CHECK_THAT(said({"--since", "soon"}).notes(), Contains("--since"));
}

TEST_CASE("a winner is stale once its source has changed, hard, and once its compiler has, softly") {
  const TemporaryFolder folder;
  const auto mine = folder.path / "mine";
  std::filesystem::create_directories(mine);
  std::filesystem::copy(HONE_SOURCE_DIR "/tests/templates/saxpy", mine / "saxpy",
                        std::filesystem::copy_options::recursive);
  const std::string database = (folder.path / "a.db").string();
  const Words templates{"--templates", mine.string(), "--trust", "--db", database};
  const auto hone_with = [&](Words words) {
    words.insert(words.end(), templates.begin(), templates.end());
    return run_hone(words, folder.path);
  };
  const Ended tuned = hone_with(
      {"tune", "saxpy", "--device", "host", "--dtype", "f32", "--shape", "n=4096", "--budget", "2"});
  INFO(tuned.err);
  REQUIRE(tuned.code == 0);
  CHECK_THAT(hone_with({"query", "stale"}).notes(), Contains("nothing is stale"));

  std::ofstream(mine / "saxpy" / "saxpy.cpp", std::ios::app) << "// changed\n";
  const Ended stale =
      hone_with({"query", "stale", "saxpy", "--format", "csv", "--columns", "shape,serves,changed"});
  CHECK_THAT(stale.out, Contains("n=4096,no,source\n"));

  db::Store store = db::Store::open(database, db::Access::read_write);
  db::Environment older;
  older.items = {{"compiler", "g++ 1.0"}, {"driver", host_device_info().driver}};
  const db::Id device = store.put(host_device_info().record());
  tools::Staleness staleness(store, {});
  const auto changed = staleness.of_environment(device, store.put(older));
  const auto compiler = std::find_if(changed.begin(), changed.end(),
                                     [](const tools::Changed& each) { return each.what == "compiler"; });
  REQUIRE(compiler != changed.end());
  CHECK(compiler->before == "g++ 1.0");
  CHECK_FALSE(compiler->now.empty());
  CHECK(staleness.of_environment(db::testing::device().id(), store.put(older)).empty());  // not here
}

TEST_CASE("an explanation tells who came next, and what faster ones the call excludes") {
  const TemporaryFolder folder;
  const Words call = explain_what_is_tuned(folder, (folder.path / "a.db").string());
  const Ended people = run_hone(call, folder.path);
  INFO(people.out);
  CHECK_THAT(people.out, Contains("runner-up:      simt ") && !Contains("changed since:"));
  Words csv = call;
  csv.insert(csv.end(), {"--format", "csv"});
  CHECK_THAT(run_hone(csv, folder.path).out,
             Contains("x1x1,1x1x1,0,0,no,"));  // block, cluster, shared bytes, workspace, overlaps
  Words json = call;
  json.insert(json.end(), {"--format", "json"});
  CHECK_THAT(run_hone(json, folder.path).out,
             Contains("\"rivals\": [{\"configuration\": \"simt ") && Contains("\"barrier\": null"));
  Words narrow = call;
  narrow.insert(narrow.end(), {"--alignment", "4", "--format", "json"});
  CHECK_THAT(run_hone(narrow, folder.path).out,
             Contains("\"barrier\": \"it needs pointers aligned to 16 bytes\""));
}

}  // namespace
}  // namespace hone::test
