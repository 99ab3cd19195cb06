// What counts as a space that has grown.
#include "tuner/grown_space.hpp"

#include <catch2/catch.hpp>

using namespace hone;
using namespace hone::tuner;

namespace {

Variant variant(const std::string& name, Backend backend, std::vector<db::Parameter> parameters) {
  Variant made;
  made.name = name;
  made.targets = {Target{backend, {}, 0, false}};
  made.parameters = std::move(parameters);
  return made;
}

db::Parameter parameter(const std::string& name, std::vector<std::int64_t> values) {
  return {name, {values.begin(), values.end()}};
}

}  // namespace

TEST_CASE("a space has grown by values and by variants that the device runs, by nothing else") {
  DeviceInfo host;
  host.backend = Backend::host;
  Family before;
  before.variants = {
      variant("simt", Backend::host, {parameter("block", {64, 256}), parameter("unroll", {1, 2})})};
  Family now = before;
  CHECK(!growth(before, now, host));

  // Fewer values, in another order.
  now.variants[0].parameters = {parameter("unroll", {2}), parameter("block", {256, 64})};
  CHECK(!growth(before, now, host));

  now.variants[0].parameters = {parameter("block", {128, 256}), parameter("unroll", {1, 2, 4})};
  const auto values = growth(before, now, host);
  REQUIRE(values);
  CHECK(values->before == "simt block=64,256; simt unroll=1,2");
  CHECK(values->now == "simt block=128,256; simt unroll=1,2,4");

  now = before;
  now.variants.push_back(variant("mma", Backend::cuda, {}));
  CHECK(!growth(before, now, host));
  now.variants.push_back(variant("vector", Backend::host, {}));
  const auto variants = growth(before, now, host);
  REQUIRE(variants);
  CHECK(variants->before.empty());
  CHECK(variants->now == "variant vector");
}
