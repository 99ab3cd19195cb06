// The optimistic bound prunes what cannot win, and nothing when its ceilings turn out too low.
#include "tuner/bound.hpp"

#include <catch2/catch.hpp>

#include "tests/db/sample_database.hpp"

using namespace hone;
using namespace hone::tuner;

namespace {

/// 1 GB to move, and as many operations as its tile pads the problem to.
struct Rig {
  explicit Rig(std::int64_t bytes_per_second, std::int64_t operations_per_second = 0)
      : store(db::Store::open(folder.file(), db::Access::create)) {
    family.name = "f";
    family.dimensions = {{"n", 1, INT64_MAX, "", ""}};
    family.working_set = "n";
    family.work = "n";
    Variant variant;
    variant.name = "v";
    variant.parameters = {{"tile", {std::int64_t{1}, std::int64_t{4}}}};
    variant.work = "n * tile";
    family.variants = {variant};
    device.name = "made up";
    device.last_level_cache_bytes = 100'000'000;
    const db::Id id = store.put(device.record());
    if (bytes_per_second > 0) store.put_peak({id, "memory", bytes_per_second});
    if (operations_per_second > 0) store.put_peak({id, peak_of_work("f16"), operations_per_second});
    bound.emplace(store, evaluator, family, device, db::Problem{"f", "f16", "", {{"n", 1'000'000'000}}});
  }
  db::Configuration tile(std::int64_t size) const { return {"f", "v", {{"tile", size}}}; }
  static db::Statistics took(double milliseconds) {
    const double ns = milliseconds * 1e6;
    return {3, ns, ns, ns, ns * 1.01};
  }

  db::testing::Folder folder;
  db::Store store;
  db::Evaluator evaluator;
  Family family;
  DeviceInfo device;
  std::optional<OptimisticBound> bound;
};

}  // namespace

TEST_CASE("without a given peak nothing is pruned") {
  Rig rig(0);
  rig.bound->measured(rig.tile(1), 1, Rig::took(1e-6));
  CHECK(rig.bound->least_nanoseconds(rig.tile(4)) == 0);
  CHECK_FALSE(rig.bound->prunes(rig.tile(4), 1).has_value());
}

TEST_CASE("what needs longer than the fastest by the peaks is pruned, with the reason") {
  Rig rig(1'000'000'000'000, 1'000'000'000'000);
  CHECK(rig.bound->least_nanoseconds(rig.tile(1)) ==
        Approx(1e6));  // operations; memory without the cache: 0.9 ms
  CHECK(rig.bound->least_nanoseconds(rig.tile(4)) == Approx(4e6));
  CHECK_FALSE(rig.bound->prunes(rig.tile(4), 16).has_value());  // nothing was measured
  rig.bound->measured(rig.tile(1), 16, Rig::took(3.95));
  CHECK_FALSE(rig.bound->prunes(rig.tile(4), 16).has_value());  // may tie
  rig.bound->measured(rig.tile(1), 16, Rig::took(3));
  CHECK_THAT(rig.bound->prunes(rig.tile(4), 16).value(), Catch::Contains("4000.00 us at least"));
  CHECK_FALSE(
      rig.bound->prunes(rig.tile(4), 4).has_value());  // it would serve pointers that the other does not
  CHECK_FALSE(rig.bound->prunes(rig.tile(1), 16).has_value());
  CHECK(rig.bound->take_contradiction().empty());
}

TEST_CASE("a peak that something passes prunes nothing any more") {
  Rig rig(100'000'000'000);
  CHECK(rig.bound->least_nanoseconds(rig.tile(1)) == Approx(9e6));
  rig.bound->measured(rig.tile(1), 1, Rig::took(5));
  CHECK_THAT(rig.bound->take_contradiction(), Catch::Contains("hone db peak"));
  CHECK(rig.bound->take_contradiction().empty());
  CHECK_FALSE(rig.bound->prunes(rig.tile(4), 1).has_value());
}
