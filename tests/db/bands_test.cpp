// Bands are what the newest sweep with current sources says.
#include <catch2/catch.hpp>

#include "db/cover.hpp"
#include "sample_database.hpp"

namespace hone::db {
namespace {

using namespace testing;
using Catch::Matchers::Contains;

struct Rig {
  Rig() : store(Store::open(folder.file(), Access::create)) {
    prepare(store, of);
    store.put(simt);
    store.put(buffer);
  }
  Sweep swept(std::int64_t when, std::int64_t crossing = 8192) {
    return sweep(store, of, narrow, wide, simt.source_hash, buffer.source_hash, when, crossing);
  }
  Folder folder;
  Store store;
  Run of = run();
  Template simt = source("simt", "one"), buffer = source("buffer", "two");
  Configuration narrow = configuration(64), wide = configuration(128, "buffer");
};

TEST_CASE("a finished sweep gives bands for each alignment class") {
  Rig rig;
  const Sweep swept = rig.swept(100);
  const std::vector<Band> bands = rig.store.bands({});
  REQUIRE(bands.size() == 3);
  CHECK(bands[0].alignment == 4);
  CHECK(bands[0].configuration == rig.narrow);
  CHECK(bands[0].lo == 0);
  CHECK(bands[0].hi == no_end);
  CHECK((bands[0].extrapolated_below && bands[0].extrapolated_above));
  CHECK(bands[0].points == 7);

  const Band &low = bands[1], &high = bands[2];
  CHECK(low.alignment == 16);
  CHECK(low.configuration == rig.narrow);
  CHECK(high.configuration == rig.wide);
  CHECK(low.lo == 0);
  CHECK(low.hi == middle(4 * 4096, 4 * 8192));
  CHECK(high.lo == low.hi);
  CHECK(high.hi == no_end);
  CHECK((low.extrapolated_below && !low.extrapolated_above));
  CHECK((!high.extrapolated_below && high.extrapolated_above));
  CHECK(low.first == 4 * 1024);
  CHECK(low.last == 4 * 4096);
  CHECK(high.first == 4 * 8192);
  CHECK(high.points == 4);
  CHECK(high.regret == 0);
  CHECK(high.worst == high.first);
  CHECK(high.needs_alignment == 16);
  CHECK(high.sweep == swept.id);
  CHECK(high.run == rig.of.id);
  CHECK(high.environment == environment().id());
  CHECK(high.source_hash == rig.buffer.source_hash);
  CHECK(high.build_key == id_of("build" + rig.wide.text()));
  CHECK(high.resolution == 2);
  const auto behind = rig.store.measurement(high.measurement);
  REQUIRE(behind);
  CHECK(behind->configuration == rig.wide.id());
  CHECK(rig.store.check().faults == std::vector<std::string>{});

  Filter filter;
  filter.element_type = "f32";
  CHECK(rig.store.bands(filter).empty());
  filter.element_type = "f16";
  filter.device = device().id();
  CHECK(rig.store.bands(filter).size() == 3);
  CHECK(rig.store.sweeps(filter).size() == 1);
  CHECK(rig.store.sweep_points(device().id(), problem().id(), Regime::steady).size() == 1);
  CHECK(rig.store.sweep_points(device().id(), problem().id(), Regime::cold).empty());
}

TEST_CASE("the newest sweep serves") {
  Rig rig;
  const Sweep newer = rig.swept(200);
  rig.swept(100, 4096);
  CHECK(rig.store.bands({})[1].sweep == newer.id);
  const Sweep newest = rig.swept(300, 2048);
  CHECK(rig.store.bands({})[1].hi == middle(4 * 1024, 4 * 2048));
  CHECK(rig.store.bands({})[1].sweep == newest.id);
  CHECK(rig.store.sweeps({})[0].id == newest.id);
  CHECK(rig.store.check().faults == std::vector<std::string>{});
}

TEST_CASE("a configuration that its sweep refused serves no band") {
  Rig rig;
  Sweep swept = rig.swept(100);
  swept.id = Id::random();
  swept.swept_us = 200;
  swept.refused = {rig.wide.id()};
  rig.store.put(swept);
  REQUIRE(rig.store.bands({}).size() == 1);
  CHECK(rig.store.bands({})[0].configuration == rig.narrow);
  CHECK(rig.store.sweeps({})[0].refused == swept.refused);
  CHECK(rig.store.check().faults == std::vector<std::string>{});
}

TEST_CASE("what was measured with a source that has changed drops out, and comes back with it") {
  Rig rig;
  rig.swept(100);
  rig.store.put(source("buffer", "changed"));
  const std::vector<Band> bands = rig.store.bands({});
  REQUIRE(bands.size() == 1);
  CHECK(bands[0].configuration == rig.narrow);
  CHECK(rig.store.check().faults == std::vector<std::string>{});
  rig.store.put(source("simt", "changed"));
  CHECK(rig.store.bands({}).empty());
  CHECK(rig.store.check().faults == std::vector<std::string>{});
  rig.store.put(rig.simt);
  rig.store.put(rig.buffer);
  CHECK(rig.store.bands({}).size() == 3);
}

TEST_CASE("an older sweep serves where the newest has no current source") {
  Rig rig;
  const Sweep older = rig.swept(100);
  const Template simt = source("simt", "changed"), buffer = source("buffer", "changed");
  rig.store.put(simt);
  rig.store.put(buffer);
  sweep(rig.store, rig.of, rig.narrow, rig.wide, simt.source_hash, buffer.source_hash, 200);
  rig.store.put(rig.simt);
  rig.store.put(rig.buffer);
  REQUIRE(rig.store.bands({}).size() == 3);
  CHECK(rig.store.bands({})[0].sweep == older.id);
}

TEST_CASE("sweeps that contradict what they rest on are refused") {
  Rig rig;
  const Sweep swept = rig.swept(100);
  Sweep bad = swept;
  bad.id = Id::random();
  std::swap(bad.points[0], bad.points[1]);
  CHECK_THROWS_WITH(rig.store.put(bad), Contains("next larger"));
  bad.points = swept.points;
  bad.element_type = "f32";
  CHECK_THROWS_AS(rig.store.put(bad), Error);
  SweepPoint point = rig.store.sweep_points(device().id(), problem().id(), Regime::steady)[0];
  point.id = Id::random();
  point.problem = problem(2048).id();
  CHECK_THROWS_WITH(rig.store.put(point), Contains("no race of its device"));
  point.problem = problem().id();
  point.measurements.push_back(point.measurements[0]);
  CHECK_THROWS_WITH(rig.store.put(point), Contains("two measurements"));
}

}  // namespace
}  // namespace hone::db
