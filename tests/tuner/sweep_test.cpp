// Sweeps with races that are simulated: what is on record is not raced again, and bands follow.
#include "tuner/sweep.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "runtime/family.hpp"
#include "runtime/host_device.hpp"
#include "runtime/plan.hpp"
#include "tests/tuner/simulated_race.hpp"
#include "tuner/problems.hpp"

using namespace hone;
using namespace hone::tuner;

namespace {

constexpr std::int64_t kCrossing = 300 << 10;
const std::pair<std::int64_t, std::int64_t> kRange{64 << 10, 1 << 20};

/// relu f32 on the host with two configurations: the first is the best below the crossing, the second above.
class Rig {
 public:
  Rig() : store(db::Store::open(folder.file(), db::Access::create)) {
    for (const Variant& variant : family.variants)
      store.put(
          db::Template{family.name, variant.name, variant.source_hash, family.manifest, variant.source});
    store.transaction([&] {
      begin();
      for (const std::int64_t bytes : sweep_sizes(kRange, device.last_level_cache_bytes)) {
        const db::Problem problem = at_working_set(evaluator, family, "f32", "", bytes);
        db::testing::decide(store, run, problem, bytes < kCrossing ? below : above, simt.source_hash,
                            ++clock);
      }
    });
  }

  void begin() {
    run = db::testing::run(device.record(), ++clock);
    db::testing::prepare(store, run, device.record());
  }

  /// At most so many races, then told to stop.
  SweepSummary sweep_once(int most = 1000, bool again = false,
                          std::pair<std::int64_t, std::int64_t> range = kRange) {
    const SweepTask task{{family, device, run, db::Regime::steady, "f32", "", again, {}}, range, 1.0625};
    return sweep(store, evaluator, task, [&](const db::Problem& problem, std::vector<Candidate>& candidates) {
      std::optional<std::vector<RaceRow>> rows;
      if (most-- <= 0) return rows;
      rows.emplace();
      const std::int64_t bytes = working_set(evaluator, family, problem);
      for (Candidate& c : candidates) {
        const bool best = (c.configuration == below) == (bytes < kCrossing);
        rows->push_back(simulated_row(run, problem, c, best ? 100 : 120));
        if (c.configuration == above && bytes == wrong_at)
          rows->back().measurement.outcome = db::Outcome::wrong_result;
      }
      return rows;
    });
  }

  db::testing::Folder folder;
  db::Evaluator evaluator;
  Family family = parse_family(HONE_SOURCE_DIR "/kernel_templates/relu/relu.toml");
  const Variant& simt = family.variants.front();
  DeviceInfo device = host_device_info();
  db::Store store;
  db::Run run;
  db::Configuration below{family.name, simt.name, simt.defaults}, above = with_block(64);
  std::int64_t wrong_at = 0;  ///< the working set where `above` computes a wrong result
  std::int64_t clock = 1'700'000'000'000'000;

 private:
  db::Configuration with_block(std::int64_t block) const {
    db::Configuration configuration{family.name, simt.name, simt.defaults};
    configuration.parameters["block"] = block;
    return configuration;
  }
};

}  // namespace

TEST_CASE("a sweep races the finalists along the working set and bisects the edge") {
  Rig rig;
  const SweepSummary swept = rig.sweep_once();
  CHECK(swept.unfinished.empty());
  CHECK(swept.bands == 2);
  CHECK(swept.races == swept.points);
  CHECK(swept.points >= 17 + 2);  // tuned for, between them, and bisecting
  const auto bands = rig.store.bands({});
  REQUIRE(bands.size() == 2);
  CHECK(bands[0].configuration == rig.below);
  CHECK(bands[1].configuration == rig.above);
  CHECK(static_cast<double>(bands[0].hi) == Approx(kCrossing).epsilon(0.0625));
  CHECK(bands[0].resolution == 1.0625);
  CHECK(bands[0].first == 64 << 10);
  CHECK(bands[1].last == 1 << 20);
  for (const db::Band& band : bands) CHECK(rig.store.code_object(band.build_key));
  CHECK(rig.store.check().faults == std::vector<std::string>{});
}

TEST_CASE("a sweep that was stopped goes on where it was, and one that is done measures nothing") {
  Rig whole;
  const std::int64_t all = whole.sweep_once().races;
  for (const int stopped_after : {1, 17, 18}) {
    INFO(stopped_after);
    Rig rig;
    const SweepSummary first = rig.sweep_once(stopped_after);
    CHECK_FALSE(first.unfinished.empty());
    // Once every point of the range was raced there are bands, if with coarser edges.
    CHECK((first.bands > 0) == (stopped_after >= 17));
    if (first.bands > 0) CHECK(rig.store.bands({})[0].resolution > 1.0625);
    rig.begin();
    const SweepSummary second = rig.sweep_once();
    CHECK(second.unfinished.empty());
    CHECK(first.races + second.races == all);
    CHECK(rig.store.bands({})[0].resolution == 1.0625);
    const auto sweeps = rig.store.sweeps({}).size();
    rig.begin();
    CHECK(rig.sweep_once().races == 0);
    CHECK(rig.store.sweeps({}).size() == sweeps);
    CHECK(rig.store.check().faults == std::vector<std::string>{});
  }
}

TEST_CASE("a sweep measures again when told to, and what is new when its range grows") {
  Rig rig;
  const std::int64_t all = rig.sweep_once().races;
  rig.begin();
  CHECK(rig.sweep_once(1000, true).races == all);
  CHECK(rig.store.bands({})[0].run == rig.run.id);
  rig.begin();
  CHECK(rig.sweep_once().races == 0);
  CHECK(rig.store.sweeps({}).size() == 2);
  CHECK(rig.sweep_once(1000, false, {kRange.first, 2 * kRange.second}).races == 4);
  CHECK(rig.store.bands({})[1].last == 2 * kRange.second);
}

TEST_CASE("a configuration that fails a check at one point serves nowhere") {
  Rig rig;
  rig.wrong_at = 512 << 10;
  CHECK(rig.sweep_once().unfinished.empty());
  const auto bands = rig.store.bands({});
  REQUIRE(bands.size() == 1);
  CHECK(bands[0].configuration == rig.below);
  CHECK(rig.store.sweeps({})[0].refused == std::vector<db::Id>{rig.above.id()});
  rig.begin();
  CHECK(rig.sweep_once().races == 0);
  CHECK(rig.store.check().faults == std::vector<std::string>{});
}

TEST_CASE("a sweep without winners has nothing to race") {
  Rig rig;
  const SweepSummary swept = rig.sweep_once(1000, false, {16 << 20, 32 << 20});
  CHECK(swept.races == 0);
  CHECK(swept.unfinished == "none of its problems has a winner");
}
