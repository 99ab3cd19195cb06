#include "tuner/search_space.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>

#include "tests/tuner/search_rig.hpp"

using namespace hone;
using namespace hone::tuner;
using namespace hone::test;

namespace {

std::size_t differing(const Levels& a, const Levels& b) {
  std::size_t count = 0;
  for (std::size_t d = 0; d < a.size(); ++d) count += a[d] != b[d] ? 1 : 0;
  return count;
}

Variant variant_of(const std::string& name, std::vector<db::Parameter> parameters, db::Values defaults) {
  Variant variant;
  variant.name = name;
  variant.parameters = std::move(parameters);
  variant.defaults = std::move(defaults);
  return variant;
}

}  // namespace

TEST_CASE("neighbours are the points that differ in one parameter") {
  rc::prop("over random products with holes", [] {
    const auto sizes =
        *rc::gen::container<std::vector<std::int64_t>>(3, rc::gen::inRange<std::int64_t>(1, 5));
    const auto holes = *rc::gen::inRange<std::int64_t>(2, 7);
    const MadeUp made(sizes, [&](const auto& p) { return (p[0] * 31 + p[1] * 17 + p[2] * 5) % holes != 1; });
    if (made.points().empty()) return;
    SearchSpace space = made.space();
    const auto of = *rc::gen::inRange<std::size_t>(0, space.size());
    const auto neighbours = space.neighbours(of);
    const std::set<std::size_t> got(neighbours.begin(), neighbours.end());
    RC_ASSERT(got.size() == neighbours.size());
    for (std::size_t i = 0; i < space.size(); ++i)
      RC_ASSERT(got.contains(i) == (differing(space.levels(i), space.levels(of)) == 1));
  });
}

TEST_CASE("variants share the parameters of one name") {
  const Variant a =
      variant_of("a", {{"block", {std::int64_t{256}, std::int64_t{64}}}, {"load", {"nt", "default"}}},
                 {{"block", std::int64_t{64}}, {"load", "default"}});
  const Variant b = variant_of(
      "b", {{"block", {std::int64_t{64}, std::int64_t{128}}}, {"stages", {std::int64_t{2}, std::int64_t{3}}}},
      {{"block", std::int64_t{128}}, {"stages", std::int64_t{3}}});
  SearchSpace space({&a, &b});
  REQUIRE(space.dimensions().size() == 4);
  CHECK(space.dimensions()[1].values ==
        std::vector<db::Value>{std::int64_t{64}, std::int64_t{128}, std::int64_t{256}});
  CHECK(space.dimensions()[2].values == std::vector<db::Value>{"nt", "default"});
  CHECK(space.dimensions()[2].may_be_absent);
  CHECK_FALSE(space.dimensions()[1].may_be_absent);

  const db::Configuration of_a{"f", "a", {{"block", std::int64_t{64}}, {"load", "nt"}}};
  const std::size_t point = space.add(of_a, 16);
  CHECK(space.alignment(point) == 16);
  CHECK(space.find(*space.levels_of(of_a)) == point);
  for (const db::Configuration& foreign : std::vector<db::Configuration>{
           {"f", "c", of_a.parameters},
           {"f", "a", {{"block", std::int64_t{128}}, {"load", "nt"}}},  // b's value
           {"f", "a", {{"block", std::int64_t{64}}}},
           {"f", "a", {{"block", std::int64_t{64}}, {"load", "nt"}, {"stages", std::int64_t{2}}}}})
    CHECK_FALSE(space.levels_of(foreign).has_value());

  // To the other variant: block stays, stages has its default.
  std::vector<std::string> asked;
  space.admit_by([&](const Variant& variant, const db::Values& parameters) -> std::optional<std::int64_t> {
    asked.push_back(variant.name + " " + db::to_string(parameters));
    if (variant.name == "b") return 4;
    return std::nullopt;
  });
  const auto neighbours = space.neighbours(point);
  REQUIRE(neighbours.size() == 1);
  CHECK(space.alignment(neighbours[0]) == 4);
  CHECK(asked ==
        std::vector<std::string>{"b block=64 stages=3", "a block=256 load=nt", "a block=64 load=default"});
  CHECK(space.neighbours(point) == neighbours);
  CHECK(asked.size() == 3);  // what was refused is not asked for again
}
