#include "tuner/space.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tuner/candidates.hpp"

using namespace hone;
using namespace hone::tuner;

namespace {

std::vector<db::Configuration> product(const std::vector<std::int64_t>& sizes) {
  std::vector<db::Configuration> all{{"f", "v", {}}};
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    std::vector<db::Configuration> next;
    for (const auto& c : all)
      for (std::int64_t v = 0; v < sizes[p]; ++v) {
        next.push_back(c);
        next.back().parameters["p" + std::to_string(p)] = v;
      }
    all = std::move(next);
  }
  return all;
}

using Pair = std::pair<std::pair<std::string, db::Value>, std::pair<std::string, db::Value>>;

std::set<Pair> pairs_of(const db::Configuration& c) {
  std::set<Pair> result;
  for (auto a = c.parameters.begin(); a != c.parameters.end(); ++a)
    for (auto b = std::next(a); b != c.parameters.end(); ++b) result.insert({*a, *b});
  return result;
}

}  // namespace

TEST_CASE("a covering set holds every pair of values that occurs") {
  rc::prop("over random products with holes", [] {
    const auto sizes =
        *rc::gen::container<std::vector<std::int64_t>>(4, rc::gen::inRange<std::int64_t>(1, 5));
    auto all = product(sizes);
    const auto holes = *rc::gen::inRange<std::size_t>(2, 7);
    for (std::size_t i = all.size(); i-- > 0;)
      if (all.size() > 1 && (i * 2654435761U) % holes == 0)
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    std::set<Pair> wanted, got;
    for (const auto& c : all) wanted.merge(pairs_of(c));
    const Cover cover = covering_set(all, 0);
    for (const std::size_t i : cover.indices) got.merge(pairs_of(all[i]));
    RC_ASSERT(got == wanted);
    RC_ASSERT(cover.covered == cover.pairs);
    RC_ASSERT(cover.pairs == static_cast<std::int64_t>(wanted.size()));
    RC_ASSERT(std::set(cover.indices.begin(), cover.indices.end()).size() == cover.indices.size());
  });
}

TEST_CASE("a limited covering set covers what it can and says how much") {
  const auto all = product({5, 5, 5});
  const Cover cover = covering_set(all, 4);
  CHECK(cover.indices.size() == 4);
  CHECK(cover.pairs == 75);
  CHECK(cover.covered == 12);  // three pairs each, none twice
}

namespace {

/// One variant of `parameters` parameters with values 1 to `values`, which the host runs.
Family made_up(int parameters, std::int64_t values, std::vector<std::string> constraints) {
  Family family;
  family.name = "made_up";
  family.dimensions = {{"n", 1, INT64_MAX, "", ""}};
  family.element_types = {ElementType::f32};
  family.working_set = "8 * n";
  family.arguments.resize(1);
  family.arguments[0].name = "y";
  family.arguments[0].extent = "n";
  family.arguments[0].access = ArgumentAccess::write;
  Variant variant;
  variant.name = "v";
  variant.targets = {{}};
  variant.grid = {"n", "1", "1"};
  variant.block = {"p0 * 100", "1", "1"};
  for (int p = 0; p < parameters; ++p) {
    variant.parameters.push_back({"p" + std::to_string(p), {}});
    for (std::int64_t v = 1; v <= values; ++v) variant.parameters.back().values.emplace_back(v);
    variant.defaults["p" + std::to_string(p)] = std::int64_t{1};
  }
  variant.constraints = std::move(constraints);
  family.variants = {std::move(variant)};
  return family;
}

DeviceInfo host() {
  DeviceInfo device;
  device.max_threads = 750;  // p0 of up to 7
  return device;
}

const db::Problem kProblem{"made_up", "f32", "", {{"n", 1000}}};

std::int64_t value(const Point& point, const std::string& parameter) {
  return std::get<std::int64_t>(point.configuration.parameters.at(parameter));
}

}  // namespace

TEST_CASE("a space that is not too large is taken as a whole") {
  const Family family = made_up(3, 8, {"p1 * p2 <= 20"});
  db::Evaluator evaluator;
  const auto all = space(evaluator, family, kProblem, host());
  const SpaceSample sample = sample_space(evaluator, family, kProblem, host(), 1000, 1);
  CHECK(sample.whole);
  REQUIRE(sample.points.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(sample.points[i].configuration == all[i].configuration);
    CHECK(sample.points[i].excess == all[i].excess);
  }
}

TEST_CASE("a space of which constraints leave little is taken as a whole, however large its product") {
  std::vector<std::string> chain;
  for (int p = 1; p < 12; ++p) chain.push_back("p" + std::to_string(p) + " = p" + std::to_string(p - 1));
  const Family family = made_up(12, 10, chain);
  db::Evaluator evaluator;
  const SpaceSample sample = sample_space(evaluator, family, kProblem, host(), 4000, 1);
  CHECK(sample.whole);
  REQUIRE(sample.points.size() == 10);
  for (std::int64_t v = 1; v <= 10; ++v) {
    const Point& point = sample.points[static_cast<std::size_t>(v - 1)];
    for (const auto& [name, each] : point.configuration.parameters) CHECK(each == db::Value(v));
    CHECK(point.excess.empty() == (v < 8));
  }

  // None is left, which is known at the end alone.
  Family nothing = made_up(6, 10, {"p0 + p1 + p2 + p3 + p4 + p5 > 60"});
  const SpaceSample none = sample_space(evaluator, nothing, kProblem, host(), 4000, 1);
  CHECK(none.whole);
  CHECK(none.points.empty());
}

TEST_CASE("where one variant is too large to go through, all are sampled") {
  Family family = made_up(3, 8, {"p1 * p2 <= 20"});
  family.variants.push_back(made_up(12, 10, {"p1 + p2 > 12"}).variants[0]);
  family.variants[1].name = "large";
  db::Evaluator evaluator;
  const SpaceSample sample = sample_space(evaluator, family, kProblem, host(), 500, 1);
  CHECK_FALSE(sample.whole);
  CHECK(sample.points.size() > 250);
  std::set<db::Id> ids;
  for (const Point& point : sample.points) ids.insert(point.configuration.id());
  CHECK(ids.size() == sample.points.size());

  DeviceInfo elsewhere = host();
  elsewhere.backend = Backend::hip;
  elsewhere.architecture = "gfx942";
  const SpaceSample none = sample_space(evaluator, family, kProblem, elsewhere, 500, 1);
  CHECK(none.points.empty());
}

TEST_CASE("a sample of a larger space is uniform, legal and without repetition") {
  // 10^6 points are gone through, 10^12 are not; a quarter and less satisfy the constraints.
  for (const int parameters : {6, 12}) {
    const Family family = made_up(parameters, 10, {"p1 + p2 > 12", "p4 % 2 = 1"});
    db::Evaluator evaluator;
    const SpaceSample sample = sample_space(evaluator, family, kProblem, host(), 4000, 1);
    INFO(parameters << " parameters, " << sample.points.size() << " points");
    CHECK_FALSE(sample.whole);
    CHECK(sample.points.size() > 2500);  // seven tenths are within the device's limit
    CHECK(sample.points.size() <= 4000);
    std::set<db::Id> ids;
    std::map<std::int64_t, int> of_p0, of_p1, of_p3;
    for (const Point& point : sample.points) {
      ids.insert(point.configuration.id());
      CHECK(value(point, "p1") + value(point, "p2") > 12);
      CHECK(value(point, "p4") % 2 == 1);
      ++of_p0[value(point, "p0")];
      ++of_p1[value(point, "p1")];
      ++of_p3[value(point, "p3")];
    }
    CHECK(ids.size() == sample.points.size());
    CHECK(of_p0.size() == 7);
    // Slices have parameters in common, so that their counts scatter more than those of independent points.
    const double slack = parameters == 6 ? 1.25 : 2;
    const auto expect = [&](int count, double share) {
      const double expected = share * static_cast<double>(sample.points.size());
      CHECK(count > expected / slack);
      CHECK(count < expected * slack);
    };
    for (std::int64_t v = 1; v <= 10; ++v) {
      expect(of_p3[v], 0.1);
      // p1 leaves p1 - 2 values to p2, of 36 pairs in all.
      if (v > 6) expect(of_p1[v], static_cast<double>(v - 2) / 36);
    }
  }
}

TEST_CASE("the fastest of a ladder point's values is kept for the race") {
  Family family;
  family.ladder = {{"one", "v", {{"p0", std::int64_t{0}}, {"p1", std::int64_t{0}}}, {}},
                   {"best", "v", {{"p0", std::int64_t{1}}, {"p1", std::int64_t{0}}}, {"p1"}}};
  std::vector<Candidate> candidates;
  for (const db::Configuration& configuration : product({2, 4})) {
    Candidate candidate;
    candidate.configuration = configuration;
    candidate.outcome = db::Outcome::ok;
    candidate.look.minimum = 10 - static_cast<double>(candidates.size());
    candidates.push_back(std::move(candidate));
  }
  candidates.back().outcome = db::Outcome::wrong_result;
  keep_best_of_ladder(family, candidates);
  for (const Candidate& candidate : candidates) {
    INFO(candidate.configuration.text());
    CHECK(candidate.kept == (candidate.configuration.text() == "v p0=1 p1=2"));
  }
}
