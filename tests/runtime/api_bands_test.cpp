// The band rung: what a sweep found serves every problem of its band.
#include <catch2/catch.hpp>

#include "runtime/explain.hpp"
#include "tests/runtime/tuned_database.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

namespace {

const db::Values kWide{{"vector", std::int64_t{16}}}, kNarrow{{"vector", std::int64_t{4}}},
    kSmall{{"vector", std::int64_t{16}}, {"block", std::int64_t{64}}};

/// f32, 8 bytes of working set an element: wide is the best to 4096 elements, small from 8192 on, and narrow
/// the only one for pointers of 4 bytes. 65536 was tuned.
struct Rig {
  Rig() : database(scratch.path() / "hone.db") {
    database.sweep({.configurations = {kWide, kSmall, kNarrow},
                    .points = {{1024, {100, 110, 200}},
                               {4096, {101, 120, 200}},
                               {8192, {110, 100, 200}},
                               {65536, {120, 100, 200}}}});
    tuned = database.winner({.dimensions = {{"numel", 65536}}, .changes = kWide});
  }
  Scratch scratch;
  TunedDatabase database;
  db::Id tuned;
};

}  // namespace

TEST_CASE("the band rung answers by working set and alignment class, after exact winners") {
  Rig rig;
  Runtime runtime = Runtime::open(on_host(rig.database.file()));
  const FamilyHandle relu = runtime.family("relu");
  const auto pick = [&](std::int64_t numel, std::size_t alignment = 16) {
    return runtime.pick(relu.problem("f32", {numel}), alignment);
  };
  CHECK(pick(3000).rung() == Rung::band);
  CHECK_THAT(pick(3000).configuration(), Contains("block=256") && Contains("vector=16"));
  CHECK(pick(3000).alignment() == 16);
  CHECK(pick(3000).checked());
  CHECK_THAT(pick(5700).configuration(), Contains("block=256"));  // the edge is at sqrt(4096 * 8192) = 5792
  CHECK_THAT(pick(5800).configuration(), Contains("block=64"));
  CHECK(pick(60000).rung() == Rung::band);
  CHECK(pick(65536).rung() == Rung::exact);
  CHECK(pick(65536).measurement() == rig.tuned.hex());
  CHECK_THAT(pick(3000, 4).configuration(), Contains("vector=4"));
  CHECK(pick(3000, 4).rung() == Rung::band);
  CHECK(pick(3000).statistics().n == 3);
  CHECK(rig.database.store().measurement(*db::Id::parse(pick(3000).measurement()))->statistics.median ==
        pick(3000).statistics().median);

  alignas(16) static float x[5000], y[5000];
  std::fill(std::begin(x), std::end(x), -1.0F);
  std::fill(std::begin(y), std::end(y), 7.0F);
  CHECK(runtime.run(relu.problem("f32", {4999}), {x, y}).rung() == Rung::band);
  runtime.synchronize();
  CHECK(y[4998] == 0);
  CHECK(y[4999] == 7);
}

TEST_CASE("explain says which band, what it accepts, and what is extrapolated") {
  Rig rig;
  Runtime runtime = Runtime::open(on_host(rig.database.file()));
  const FamilyHandle relu = runtime.family("relu");
  const auto why = [&](std::int64_t numel, std::size_t alignment = 16) {
    const Explanation explanation = explain(runtime, relu.problem("f32", {numel}), alignment);
    REQUIRE(explanation.steps.back().answered);
    REQUIRE(explanation.steps.back().rung == Rung::band);
    return explanation.steps.back().why;
  };
  CHECK_THAT(why(3000), Contains("the band of working sets below 45.3 KiB") &&
                            Contains("2 measured from 8 KiB to 32 KiB") && Contains("at most 0.0 % slower") &&
                            !Contains("extrapolated"));
  CHECK_THAT(why(500), Contains("extrapolated below the smallest"));
  CHECK_THAT(why(100000),
             Contains("working sets from 45.3 KiB") && Contains("extrapolated beyond the largest"));
  CHECK_THAT(why(3000, 8), Contains("all working sets"));
}

TEST_CASE("a band that cannot serve gives way to the next rung") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 4096}}, .changes = kNarrow, .alignment = 4});
  Runtime runtime = Runtime::open(on_host(database.file()));
  const Problem problem = runtime.family("relu").problem("f32", {3000});
  CHECK(runtime.pick(problem, 16).rung() == Rung::nearest);
  CHECK_THAT(explain(runtime, problem, 16).steps[1].why, Contains("no bands of relu f32"));

  database.sweep({.configurations = {kWide}, .points = {{1024, {100}}, {4096, {100}}}});
  CHECK(runtime.refresh());
  CHECK(runtime.pick(problem, 16).rung() == Rung::band);
  CHECK(runtime.pick(problem, 4).rung() == Rung::nearest);
  CHECK_THAT(explain(runtime, problem, 4).steps[1].why, Contains("a band for pointers aligned to 16 bytes"));

  Family changed = database.family();
  for (const Variant& variant : changed.variants)
    database.store().put(db::Template{changed.name, variant.name, db::KeyBuilder().add("changed").id(),
                                      changed.manifest, variant.source + "// changed\n"});
  CHECK(runtime.refresh());
  CHECK(runtime.pick(problem, 16).rung() == Rung::none);
}
