// hone query bands on sweeps that the test writes itself.
#include <catch2/catch.hpp>

#include "tests/tools/study.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("query bands shows intervals, regret and what is extrapolated") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const auto bands = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"query", "bands", "--db", database});
    Ended ended = run_hone(more, folder.path);
    INFO(ended.err);
    CHECK(ended.code == 0);
    return ended;
  };
  {
    db::Store store = db::Store::open(database, db::Access::create);
    const db::Run run = db::testing::run();
    db::testing::prepare(store, run);
    const db::Template simt = db::testing::source("simt", "kernel");
    store.put(simt);
    CHECK_THAT(bands({}).notes(), Contains("no band matches") && Contains("--sweep"));
    db::testing::sweep(store, run, db::testing::configuration(64), db::testing::configuration(128),
                       simt.source_hash, simt.source_hash, 100);
  }
  const std::string table = bands({"relu", "--dtype", "f16", "--device", "Test CPU"}).out;
  INFO(table);
  CHECK_THAT(table, Contains("from") && Contains("22.6 KiB") && Contains("no end") && Contains("block=128") &&
                        Contains("0.0 %") && Contains("below") && Contains("above") && Contains("both"));
  CHECK(bands({"--format", "csv", "--columns",
               "alignment,lo_bytes,hi_bytes,extrapolated,points,first_bytes,last_bytes"})
            .out ==
        "alignment,lo_bytes,hi_bytes,extrapolated,points,first_bytes,last_bytes\n"
        "4,0,no end,both,7,4096,262144\n"
        "16,0,23170,below,3,4096,16384\n"
        "16,23170,no end,above,4,32768,262144\n");
  CHECK_THAT(bands({"--format", "json"}).out, Contains("\"format\": \"hone/bands\"") &&
                                                  Contains("\"hi_bytes\": null") &&
                                                  Contains("\"regret\": 0"));
  CHECK(bands({"--dtype", "f32", "--format", "csv", "--columns", "run"}).out == "run\n");
  CHECK_THAT(run_hone({"query", "bands", "other", "--db", database}, folder.path).err,
             Contains("family `other` was never tuned here"));
}

TEST_CASE("bands are chosen by the shapes that they serve") {
  Study study;
  const db::Id source = study.store().templates("relu").front().source_hash;
  db::testing::sweep(study.store(), study.run(), db::testing::configuration(64),
                     db::testing::configuration(128), source, source, 500);
  const auto of_shapes = [&](Words words) {
    words.insert(words.begin(), "bands");
    return study.csv(words, "alignment,lo_bytes").substr(std::string("alignment,lo_bytes\n").size());
  };
  CHECK(of_shapes({"--shape", "numel=1024"}) == "4,0\n16,0\n");
  CHECK(of_shapes({"--shape", "numel=1000000"}) == "4,0\n16,23170\n");
  CHECK(of_shapes({"--shape", "numel=1024:1000000"}) == "4,0\n16,0\n16,23170\n");
  CHECK(of_shapes({"--shape", "numel=5792", "--shape", "numel=5793"}) == "4,0\n16,0\n16,23170\n");
  const Ended unknown = study.hone({"query", "bands", "relu", "--shape", "M=4"});
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.notes(), Contains("no problem of relu has a dimension `M`"));
}

}  // namespace
}  // namespace hone::test
