// What parameters are worth: the way from default to winner, and shares of the variance.
#include "tools/importance.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/tools/study.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;
using tools::Timed;

db::Configuration at(std::int64_t a, std::int64_t b, const std::string& c = "x") {
  return {"f", "simt", {{"a", a}, {"b", b}, {"c", c}}};
}

/// A grid on which `a` changes the time by `by_a` from one value to the next, `b` by `by_b`, `c` not at all.
std::vector<Timed> grid(double by_a, double by_b) {
  std::vector<Timed> measured;
  for (std::int64_t a = 0; a < 3; ++a)
    for (std::int64_t b = 0; b < 3; ++b)
      for (const char* c : {"x", "y"})
        measured.push_back({at(a, b, c), 1000 * std::pow(by_a, a) * std::pow(by_b, b)});
  return measured;
}

TEST_CASE("a way takes the largest gain first") {
  const auto steps = tools::way(at(2, 2), at(0, 0), grid(1.5, 1.1));
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].parameter == "a");
  CHECK(steps[0].from == db::Value(std::int64_t{2}));
  CHECK(steps[0].to == db::Value(std::int64_t{0}));
  CHECK(*steps[0].gain == Approx(1.5 * 1.5 - 1));
  CHECK(steps[1].parameter == "b");
  CHECK(*steps[1].gain == Approx(1.1 * 1.1 - 1));
  CHECK(*steps[1].nanoseconds == Approx(1000));
  CHECK(tools::way(at(0, 0), at(0, 0), {}).empty());
}

TEST_CASE("a configuration that nobody measured is a hole of the way") {
  std::vector<Timed> measured{{at(2, 2), 400}, {at(0, 0), 100}};
  auto steps = tools::way(at(2, 2), at(0, 0), measured);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].parameter == "a");
  CHECK_FALSE(steps[0].nanoseconds);
  CHECK_FALSE(steps[0].gain);
  CHECK(*steps[1].gain == Approx(3));  // of both together

  measured.push_back({at(2, 0), 500});
  steps = tools::way(at(2, 2), at(0, 0), measured);
  CHECK(steps[0].parameter == "b");  // a loss that is known, before a hole
  CHECK(*steps[0].gain == Approx(-0.2));
  CHECK(*steps[1].gain == Approx(4));

  db::Configuration other = at(0, 0);
  other.variant = "wide";
  measured.push_back({other, 50});
  steps = tools::way(at(2, 2), other, measured);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].parameter == "variant");
  CHECK(*steps[0].gain == Approx(7));
}

TEST_CASE("shares of a grid without interactions are the parameters' own, and sum to the whole") {
  const auto shares = tools::shares(grid(2, std::sqrt(2)));
  REQUIRE(shares.size() == 3);
  CHECK(shares[0].parameter == "a");
  CHECK(shares[0].explained == Approx(0.8));  // the variance of a logarithm goes with the square of its step
  CHECK(shares[1].parameter == "b");
  CHECK(shares[1].explained == Approx(0.2));
  CHECK(shares[2].parameter == "c");
  CHECK(shares[2].explained == Approx(0).margin(1e-12));
}

TEST_CASE("two parameters that matter only together have no shares, and equal times none at all") {
  const std::vector<Timed> crossed{{at(0, 0), 100}, {at(1, 1), 100}, {at(0, 1), 200}, {at(1, 0), 200}};
  for (const tools::Share& share : tools::shares(crossed)) CHECK(share.explained == Approx(0).margin(1e-12));
  CHECK(tools::shares({{at(0, 0), 100}, {at(1, 1), 100}}).empty());
  CHECK(tools::shares({}).empty());
}

TEST_CASE("importance is asked for by family, problem and format") {
  constexpr std::int64_t mebi = 1 << 20;
  Study study;
  study.add("relu", mebi, {}, 2000);
  study.add("relu", mebi, {{"block", std::int64_t{512}}}, 1500);
  study.add("relu", mebi, {{"block", std::int64_t{512}}, {"store", "nt"}}, 1000);
  CHECK(study.csv({"importance", "relu"}, "what,parameter,from,to,median_ns,gain,explained") ==
        "what,parameter,from,to,median_ns,gain,explained\n"
        "step,block,256,512,1500,0.33333333333333326,\n"
        "step,store,default,nt,1000,0.5,\n"
        "share,store,,,,,0.829386005798664\n"
        "share,block,,,,,0.6610809131651711\n");
  const std::string table = study.hone({"query", "importance", "relu"}).out;
  CHECK_THAT(table, Contains("measured: 3") && Contains("33.3 %"));
  CHECK_THAT(study.hone({"query", "importance", "relu", "--dtype", "f32"}).err, Contains("`hone tune relu`"));
  CHECK_THAT(study.hone({"query", "importance", "relo"}).err, Contains("never tuned here"));
}

}  // namespace
}  // namespace hone::test
