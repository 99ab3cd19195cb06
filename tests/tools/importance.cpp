// What parameters are worth: the way from default to winner, and shares of the variance.
#include "tools/importance.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>

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

/// The way among configurations that were all taken alike.
std::vector<tools::Step> way(const db::Configuration& start, const db::Configuration& goal,
                             const std::vector<Timed>& measured, const db::Values& entry = {}) {
  std::vector<db::Configuration> configurations;
  for (const Timed& timed : measured) configurations.push_back(timed.configuration);
  const auto time = [&](const db::Configuration& of) {
    const auto found = std::find_if(measured.begin(), measured.end(),
                                    [&](const Timed& timed) { return timed.configuration == of; });
    return found == measured.end() ? 0 : found->nanoseconds;
  };
  const auto compare = [&](const db::Configuration& a, const db::Configuration& b) {
    return time(a) > 0 && time(b) > 0 ? std::optional(tools::Pair{time(a), time(b), false, "race", {}, {}})
                                      : std::nullopt;
  };
  return tools::way(start, goal, entry, configurations, compare);
}

TEST_CASE("a way takes the largest gain first") {
  const auto steps = way(at(2, 2), at(0, 0), grid(1.5, 1.1));
  REQUIRE(steps.size() == 2);
  REQUIRE(steps[0].changes.size() == 1);
  CHECK(steps[0].changes[0].parameter == "a");
  CHECK(steps[0].changes[0].from == db::Value(std::int64_t{2}));
  CHECK(steps[0].changes[0].to == db::Value(std::int64_t{0}));
  CHECK(steps[0].pair->gain() == Approx(1.5 * 1.5 - 1));
  CHECK(steps[1].changes[0].parameter == "b");
  CHECK(steps[1].pair->gain() == Approx(1.1 * 1.1 - 1));
  CHECK(steps[1].pair->after == Approx(1000));
  CHECK(way(at(0, 0), at(0, 0), {}).empty());
}

TEST_CASE("what nobody measured between are holes, whose gain is that of all of them together") {
  std::vector<Timed> measured{{at(2, 2), 400}, {at(0, 0), 100}};
  auto steps = way(at(2, 2), at(0, 0), measured);
  REQUIRE(steps.size() == 1);
  REQUIRE(steps[0].changes.size() == 2);
  CHECK(steps[0].changes[0].parameter == "a");
  CHECK(steps[0].changes[1].parameter == "b");
  CHECK(steps[0].pair->gain() == Approx(3));

  measured.push_back({at(2, 0), 500});
  steps = way(at(2, 2), at(0, 0), measured);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].changes[0].parameter == "b");  // a loss that is known, before a hole
  CHECK(steps[0].pair->gain() == Approx(-0.2));
  CHECK(steps[1].pair->gain() == Approx(4));

  steps = way(at(2, 2, "y"), at(0, 0), measured);  // the start itself was not measured
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].changes.size() == 1);
  CHECK_FALSE(steps[0].pair);
  CHECK(steps[1].pair->gain() == Approx(-0.2));
}

TEST_CASE("a way into another variant goes by its defaults, where they were measured") {
  const db::Configuration start{"f", "simt", {{"a", std::int64_t{1}}}};
  const auto wide = [](std::int64_t a, std::int64_t d) {
    return db::Configuration{"f", "wide", {{"a", a}, {"d", d}}};
  };
  const db::Values entry = wide(1, 1).parameters;
  std::vector<Timed> measured{{start, 800}, {wide(2, 2), 100}};
  auto steps = way(start, wide(2, 2), measured, entry);
  REQUIRE(steps.size() == 1);
  REQUIRE(steps[0].changes.size() == 3);
  CHECK(steps[0].changes[0].parameter == "variant");
  CHECK(steps[0].changes[2].parameter == "d");
  CHECK(steps[0].changes[2].from == db::Value(std::int64_t{1}));
  CHECK(steps[0].pair->gain() == Approx(7));

  measured.push_back({wide(1, 1), 400});
  measured.push_back({wide(1, 2), 300});
  measured.push_back({wide(3, 2), 1});  // not on the way
  steps = way(start, wide(2, 2), measured, entry);
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].changes.size() == 1);
  CHECK(steps[0].pair->gain() == Approx(1));
  CHECK(steps[1].changes[0].parameter == "d");
  CHECK(steps[2].pair->gain() == Approx(2));
}

/// The share of a parameter, of a variant where one is given; 0 where it has none.
double share_of(const std::vector<tools::Share>& shares, const std::string& parameter,
                const std::string& variant = "simt") {
  for (const tools::Share& share : shares)
    if (share.parameter == parameter && share.variant == variant) return share.explained;
  return 0;
}

double sum_of(const std::vector<tools::Share>& shares) {
  double sum = 0;
  for (const tools::Share& share : shares) sum += share.explained;
  return sum;
}

TEST_CASE("shares of a grid without interactions are the parameters' own, and sum to the whole") {
  const auto shares = tools::shares(grid(2, std::sqrt(2)));
  REQUIRE(shares.size() == 4);
  CHECK(shares[0].parameter == "a");
  CHECK(shares[0].explained == Approx(0.8));  // the variance of a logarithm goes with the square of its step
  CHECK(shares[1].parameter == "b");
  CHECK(shares[1].explained == Approx(0.2));
  CHECK(shares[2].parameter == "c");
  CHECK(shares[2].explained == Approx(0).margin(1e-9));
  CHECK(shares[3].parameter.empty());
  CHECK(shares[3].explained == Approx(0).margin(1e-9));
}

TEST_CASE("what two parameters explain is not counted twice where they changed together") {
  std::vector<Timed> measured;
  for (std::int64_t a = 0; a < 4; ++a) measured.push_back({at(a, a), 1000 * std::pow(2, a)});
  const auto shares = tools::shares(measured);
  CHECK(share_of(shares, "a") == Approx(1));
  CHECK(share_of(shares, "b") == Approx(0).margin(1e-9));
  CHECK(sum_of(shares) == Approx(1));
}

TEST_CASE("parameters of several variants have shares within their own, and all shares sum to the whole") {
  std::vector<Timed> measured;
  for (std::int64_t value = 0; value < 2; ++value) {
    measured.push_back({{"f", "one", {{"p", value}, {"only", value}}}, value == 0 ? 100.0 : 400.0});
    measured.push_back({{"f", "two", {{"p", value}, {"q", std::int64_t{1}}}}, 1600});
  }
  // Logarithms, in powers of two: 0, 2, 4, 4. Around 2.5 the sum of squares is 11, within `one` 2, within
  // `two` 0.
  const auto shares = tools::shares(measured);
  CHECK(share_of(shares, "variant", "") == Approx(9.0 / 11));
  CHECK(share_of(shares, "only", "one") + share_of(shares, "p", "one") == Approx(2.0 / 11));
  CHECK(share_of(shares, "p", "two") == Approx(0).margin(1e-9));
  CHECK(share_of(shares, "q", "two") == 0);
  CHECK(sum_of(shares) == Approx(1));
}

TEST_CASE("two parameters that matter only together are the rest, and equal times have no shares") {
  const std::vector<Timed> crossed{{at(0, 0), 100}, {at(1, 1), 100}, {at(0, 1), 200}, {at(1, 0), 200}};
  const auto shares = tools::shares(crossed);
  CHECK(share_of(shares, "a") == Approx(0).margin(1e-9));
  CHECK(share_of(shares, "b") == Approx(0).margin(1e-9));
  CHECK(share_of(shares, "", "") == Approx(1));
  CHECK(tools::shares({{at(0, 0), 100}, {at(1, 1), 100}}).empty());
  CHECK(tools::shares({}).empty());
}

TEST_CASE("importance leads from the default to the winner, by figures taken alike") {
  constexpr std::int64_t mebi = 1 << 20;
  constexpr db::Stage look = db::Stage::first_look;
  const db::Values block{{"block", std::int64_t{512}}};
  db::Values both = block;
  both["store"] = "nt";
  Study study;
  study.add("relu", mebi, {}, 2200, look);
  study.add("relu", mebi, block, 2000, look);
  study.add("relu", mebi, both, 1900, look);
  study.add("relu", mebi, {{"vector", std::int64_t{8}}}, 1800, look);
  study.add("relu", mebi, {}, 1800);
  const db::Id winner = study.add("relu", mebi, both, 1500);
  study.add("relu", mebi, {{"vector", std::int64_t{8}}}, 1490);  // ties: not the winner
  const std::string columns = "what,parameter,before_ns,median_ns,gain,samples,goal_is";
  const auto way = [&] {
    const std::string csv = study.csv({"importance", "relu"}, columns);
    return csv.substr(0, csv.find("share,"));
  };
  CHECK_THAT(way(), Contains("step,vector,1800,1490,") && Contains("the fastest measured"));
  study.win(winner);
  // The middle was not raced: its step is one of first looks, whatever the race made of the default.
  CHECK(way() ==
        columns +
            "\nstep,block,2200,2000,0.10000000000000009,looks,the winner for pointers aligned to 16\n"
            "step,store,2000,1900,0.05263157894736836,looks,the winner for pointers aligned to 16\n"
            "total,,1800,1500,0.19999999999999996,race,the winner for pointers aligned to 16\n");
  const std::string json = study.hone({"query", "importance", "relu", "--format", "json"}).out;
  CHECK_THAT(json, Contains("\"goal_is\": \"winner\"") && Contains("\"decision\": \"") &&
                       Contains("\"measurement\": \"" + winner.hex() + '"'));
}

TEST_CASE("importance is asked for by family, problem and format") {
  constexpr std::int64_t mebi = 1 << 20;
  Study study;
  study.add("relu", mebi, {}, 2000);
  study.add("relu", mebi, {{"block", std::int64_t{512}}}, 1500);
  study.add("relu", mebi, {{"block", std::int64_t{512}}, {"store", "nt"}}, 1000);
  const std::string csv =
      study.csv({"importance", "relu"}, "what,parameter,from,to,median_ns,gain,explained");
  CHECK(csv.substr(0, csv.find("0.829")) ==
        "what,parameter,from,to,median_ns,gain,explained\n"
        "step,block,256,512,1500,0.33333333333333326,\n"
        "step,store,default,nt,1000,0.5,\n"
        "total,,,,1000,1,\n"
        "share,store,,,,,");
  CHECK_THAT(csv, Contains("\nshare,block,,,,,0.1706") && Contains("\nrest,,,,,,"));
  const std::string table = study.hone({"query", "importance", "relu"}).out;
  CHECK_THAT(table, Contains("measured: 3") && Contains("33.3 %") && Contains("\nsamples: race\nwhat"));
  CHECK_THAT(study.hone({"query", "importance", "relu", "--dtype", "f32"}).notes(),
             Contains("`hone tune relu`"));
  CHECK_THAT(study.hone({"query", "importance", "relo"}).notes(), Contains("never tuned here"));
}

}  // namespace
}  // namespace hone::test
