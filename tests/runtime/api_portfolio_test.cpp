// The portfolio rung: what a sweep across problems of several dimensions found serves those never tuned.
#include <catch2/catch.hpp>

#include "runtime/explain.hpp"
#include "tests/runtime/tuned_database.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

namespace {

const db::Values kFew{{"fault", std::string("none")}}, kMany{{"fault", std::string("into_gap")}},
    kNever{{"fault", std::string("left_out_row_nan")}};

std::vector<std::pair<std::string, std::int64_t>> shape(std::int64_t rows, std::int64_t columns) {
  return {{"rows", rows}, {"columns", columns}, {"ldy", columns + 3}};
}

/// One configuration is the best for few rows, another for many, a third for none. 128 x 64 was tuned.
struct Rig {
  Rig()
      : database(scratch.path() / "hone.db",
                 parse_family(HONE_SOURCE_DIR "/tests/templates/strided/strided.toml")) {
    tuned = database.winner({.dimensions = shape(128, 64), .changes = kFew, .alignment = 4});
    across();
  }
  void across() {
    database.sweep(TunedDatabase::Across{"f32",
                                         {kFew, kMany, kNever},
                                         {{shape(128, 64), {100, 150, 300}},
                                          {shape(64, 128), {100, 150, 300}},
                                          {shape(256, 512), {110, 130, 0}},
                                          {shape(4096, 64), {400, 200, 900}},
                                          {shape(8192, 512), {900, 400, 0}}}});
  }
  Scratch scratch;
  TunedDatabase database;
  db::Id tuned;
};

}  // namespace

TEST_CASE("a sweep across problems gives those that tie with the best somewhere, with their costs") {
  Rig rig;
  const auto members = rig.database.store().portfolio({});
  REQUIRE(members.size() == 2);
  CHECK(members[0].configuration.parameters.at("fault") == kFew.at("fault"));
  CHECK(members[0].points == 3);
  CHECK(members[0].costs.size() == 5);
  CHECK(members[0].alignment == 4);
  CHECK(members[0].needs_alignment == 4);
  CHECK(members[0].regret == 0);
  CHECK(members[1].configuration.parameters.at("fault") == kMany.at("fault"));
  CHECK(members[1].points == 2);
  const db::Problem large{"strided", "f32", "", shape(8192, 512)};
  CHECK(members[1].costs.back().problem == large.id());
  CHECK(members[1].costs.back().median == 400);
  CHECK(rig.database.store().bands({}).empty());
  CHECK(rig.database.store().check().faults == std::vector<std::string>{});

  db::Filter other;
  other.element_type = "f16";
  CHECK(rig.database.store().portfolio(other).empty());
}

TEST_CASE("the portfolio rung answers problems never tuned, after exact winners and before the nearest") {
  Rig rig;
  Runtime runtime = Runtime::open(on_host(rig.database.file()));
  const FamilyHandle strided = runtime.family("strided");
  const auto pick = [&](std::int64_t rows, std::int64_t columns) {
    return runtime.pick(strided.problem("f32", {rows, columns}), 16);
  };
  CHECK(pick(128, 64).rung() == Rung::exact);
  CHECK(pick(128, 64).measurement() == rig.tuned.hex());
  CHECK(pick(100, 100).rung() == Rung::portfolio);
  CHECK(pick(100, 100).checked());
  CHECK_THAT(pick(100, 100).configuration(), Contains("fault=none"));
  CHECK_THAT(pick(6000, 200).configuration(), Contains("fault=into_gap"));
  const Explanation explanation = explain(runtime, strided.problem("f32", {6000, 200}), 16);
  CHECK(explanation.steps.back().rung == Rung::portfolio);
  CHECK_THAT(explanation.steps.back().why, Contains("expected to take") && Contains("legal one of 2") &&
                                               Contains("by what it took at 5 problems"));
}

TEST_CASE("a portfolio whose source changed answers no more, and a newer one does") {
  Rig rig;
  Runtime runtime = Runtime::open(on_host(rig.database.file()));
  const Problem problem = runtime.family("strided").problem("f32", {6000, 200});
  CHECK(runtime.pick(problem, 16).rung() == Rung::portfolio);
  const Variant& simt = rig.database.family().variants.front();
  db::Template changed{"strided", simt.name, db::KeyBuilder().add("changed").id(),
                       rig.database.family().manifest, simt.source + "\n"};
  rig.database.store().put(changed);
  CHECK(rig.database.store().portfolio({}).empty());
  CHECK(runtime.refresh());
  CHECK(runtime.pick(problem, 16).rung() == Rung::none);
  CHECK(rig.database.store().check().faults == std::vector<std::string>{});
}

TEST_CASE("a pack and a merge carry a portfolio whole") {
  Rig rig;
  const auto pack = rig.scratch.path() / "strided.hone";
  rig.database.store().pack({rig.database.device().record().id()}, pack);
  const auto merged = rig.scratch.path() / "merged.db";
  CHECK(db::Store::merge({rig.database.file(), pack}, merged).portfolios == 1);
  for (const auto& file : {pack, merged}) {
    db::Store store = db::Store::open(file, db::Access::read_only);
    CHECK(store.portfolio({}).size() == 2);
    CHECK(store.check().faults == std::vector<std::string>{});
    Runtime runtime = Runtime::open(on_host(file));
    CHECK(runtime.pick(runtime.family("strided").problem("f32", {6000, 200}), 16).rung() == Rung::portfolio);
  }
}
