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

TEST_CASE("levels of two variants become those of one") {
  const auto numbers = [](std::vector<std::int64_t> values) {
    return std::vector<db::Value>(values.begin(), values.end());
  };
  const Variant a = variant_of("a", {{"block", numbers({64, 128})}, {"stages", numbers({2, 3, 4})}},
                               {{"block", std::int64_t{64}}, {"stages", std::int64_t{3}}});
  const Variant b = variant_of("b", {{"block", numbers({128, 256})}, {"groups", numbers({1, 2})}},
                               {{"block", std::int64_t{256}}, {"groups", std::int64_t{2}}});
  SearchSpace space({&a, &b});
  const auto levels = [&](const std::string& variant, const db::Values& parameters) {
    return space.levels_of({"f", variant, parameters}).value();
  };
  using Values = db::Values;
  const Levels of_a = levels("a", Values{{"block", std::int64_t{128}}, {"stages", std::int64_t{4}}});
  const Levels of_b = levels("b", Values{{"block", std::int64_t{256}}, {"groups", std::int64_t{1}}});
  CHECK(space.moved_to(of_a, 0) == of_a);
  CHECK(space.moved_to(of_b, 1) == of_b);
  CHECK(space.moved_to(of_a, 1) ==
        levels("b", Values{{"block", std::int64_t{128}}, {"groups", std::int64_t{2}}}));
  CHECK(space.moved_to(of_b, 0) ==
        levels("a", Values{{"block", std::int64_t{64}}, {"stages", std::int64_t{3}}}));

  // Every child of the two is a configuration of its variant.
  std::size_t asked = 0;
  space.admit_by([&](const Variant& variant, const db::Values& parameters) -> std::optional<std::int64_t> {
    ++asked;
    CHECK(space.levels_of({"f", variant.name, parameters}).has_value());
    return 1;
  });
  for (std::size_t from_b = 0; from_b < std::size_t{1} << of_a.size(); ++from_b) {
    Levels child = of_a;
    for (std::size_t d = 0; d < child.size(); ++d)
      if ((from_b >> d & 1U) != 0) child[d] = of_b[d];
    CHECK(space.find_or_admit(space.moved_to(child, child[0])).has_value());
  }
  CHECK(asked == space.size());
  CHECK(asked > 4);
}
