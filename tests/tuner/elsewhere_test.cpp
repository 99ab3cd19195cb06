// What the database offers a search besides the problem at hand.
#include "tuner/elsewhere.hpp"

#include <catch2/catch.hpp>

#include "tests/db/sample_database.hpp"
#include "tests/tuner/search_rig.hpp"

using namespace hone;
using namespace hone::tuner;

namespace {

namespace records = db::testing;

/// A space of 20 blocks, as the sample records have them.
struct Rig {
  Rig() : store(db::Store::open(folder.file(), db::Access::create)) {
    variant.name = "simt";
    variant.parameters = {{"block", {}}, {"load", {"cs"}}};
    for (std::int64_t b = 1; b <= 20; ++b) variant.parameters[0].values.emplace_back(b);
    store.put(records::source("simt", "simt"));
    here.name = "Here";
    here.compute_units = 2;
  }

  /// A run on `device` that measured the first `measured` blocks for `numel`; the last of them failed.
  void tune(const db::Device& device, const std::string& type, std::int64_t numel, std::int64_t measured) {
    const db::Run run = records::run(device, ++clock);
    records::prepare(store, run, device);
    const db::Problem problem{"relu", type, "", {{"numel", numel}}};
    const db::Id hash = records::id_of("simt");
    records::decide(store, run, problem, records::configuration(1), hash, ++clock);
    for (std::int64_t b = 2; b <= measured; ++b) {
      store.put(records::configuration(b));
      const bool failed = b == measured;
      auto m = records::measurement(
          run, problem, records::configuration(b), hash,
          failed ? std::vector<double>{} : std::vector<double>{100.0 * static_cast<double>(b)});
      if (failed) m.outcome = db::Outcome::launch_failed;
      store.put(m);
    }
  }

  std::vector<Elsewhere> ask(std::int64_t numel) {
    store.rebuild_derived();
    const SearchSpace space({&variant});
    return elsewhere(store, space, {"relu", "f16", "", {{"numel", numel}}}, here, db::Regime::steady);
  }

  db::testing::Folder folder;
  db::Store store;
  Variant variant;
  DeviceInfo here;
  std::int64_t clock = 1'700'000'000'000'000;
};

}  // namespace

TEST_CASE("the nearest places come first, and the problem itself is none of them") {
  Rig rig;
  const db::Device here = rig.here.record();
  rig.tune(here, "f16", 1000, 15);  // the problem itself
  rig.tune(here, "f16", 64000, 15);
  rig.tune(here, "f16", 2000, 15);
  rig.tune(here, "f32", 1000, 15);
  rig.tune(records::device("Another CPU"), "f16", 1000, 15);
  db::Device gpu = records::device("A GPU");
  gpu.backend = "cuda";
  rig.tune(gpu, "f16", 1000, 15);  // its times rank no host configuration
  auto places = rig.ask(1000);
  REQUIRE(places.size() == 3);
  CHECK_THAT(places[0].what, Catch::Contains("f16 numel=2000") && Catch::Contains("Here"));
  CHECK_THAT(places[1].what, Catch::Contains("f16 numel=64000"));
  CHECK_THAT(places[2].what, Catch::Contains("f32 numel=1000"));
  REQUIRE(places[0].measured.size() == 15);
  CHECK(places[0].measured[1].second == 200.0);
  CHECK_FALSE(places[0].measured[14].second.has_value());
}

TEST_CASE("another device serves where there is nothing nearer, few rows never") {
  Rig rig;
  CHECK(rig.ask(1000).empty());
  rig.tune(records::device("Another CPU"), "f16", 1000, 15);
  rig.tune(rig.here.record(), "f16", 2000, 4);
  const auto places = rig.ask(1000);
  REQUIRE(places.size() == 1);
  CHECK_THAT(places[0].what, Catch::Contains("Another CPU"));
}
