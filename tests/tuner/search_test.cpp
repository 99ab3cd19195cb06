#include "tuner/search.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/tuner/search_rig.hpp"

using namespace hone;
using namespace hone::tuner;
using namespace hone::test;

namespace {

/// A rugged valley with its bottom at (11, 3, 5, 2), where two parameters depend on each other.
double valley(const MadeUp::Point& p) {
  const auto square = [](double x) { return x * x; };
  const auto x = static_cast<double>(p[0]), y = static_cast<double>(p[1]), z = static_cast<double>(p[2]);
  const double rugged = (7 * p[0] + 3 * p[1] + 5 * p[2]) % 4 == 3 ? 0 : 0.2;
  return 100 * std::exp(0.02 * square(x - 11) + 0.1 * square(y - 3) + 0.05 * square(z - y - 2) + rugged +
                        (p[3] == 2 ? 0 : 0.3));
}

std::set<std::size_t> unique(const std::vector<std::size_t>& points) {
  return {points.begin(), points.end()};
}

SearchSettings named(const std::string& name, std::uint64_t seed = 1) {
  SearchSettings settings;
  settings.name = name;
  settings.may_end = false;
  settings.seed = seed;
  return settings;
}

}  // namespace

TEST_CASE("searches ask for every point once, the first ones first") {
  const MadeUp made({4, 5, 6}, [](const auto& p) { return (p[0] + p[1]) % 2 == 0; });
  for (const std::string& name : search_names())
    for (const bool cut : {false, true})
      for (const std::size_t ahead : {1, 7}) {
        INFO(name << (cut ? " cut, " : " whole, ") << ahead << " ahead");
        SearchSpace space = made.space();
        SearchSettings settings = named(name, 42);
        settings.first = {7, 3, 7};
        settings.cut = cut;
        const auto search = make_search(space, settings);
        // Every fifth fails, some before anything passed.
        const auto searched = search_through(
            *search,
            [](std::size_t i) {
              return i % 5 == 3 ? std::nullopt : std::optional(100.0 + static_cast<double>(i * 37 % 60));
            },
            1000, ahead);
        CHECK(searched.asked.size() == space.size());
        CHECK(unique(searched.asked).size() == space.size());
        CHECK(searched.asked[0] == 7);
        CHECK(searched.asked[1] == 3);
        CHECK(search->ended().empty());
      }
}

TEST_CASE("searches live with spaces where everything fails, or of one point, or of none") {
  for (const std::string& name : search_names()) {
    INFO(name);
    const MadeUp made({3, 30});
    SearchSpace space = made.space(), one = MadeUp({1, 1}).space(), none({&made.variant()});
    CHECK(search_through(
              *make_search(space, named(name)), [](std::size_t) { return std::nullopt; }, 1000)
              .asked.size() == 90);
    CHECK(search_through(
              *make_search(one, named(name)), [](std::size_t) { return 5.0; }, 1000)
              .asked.size() == 1);
    CHECK(search_through(
              *make_search(none, named(name)), [](std::size_t) { return 5.0; }, 1000)
              .asked.empty());
  }
}

TEST_CASE("searches of variants that share few parameters ask for configurations of one variant") {
  const auto variant_of = [](const std::string& name, const std::vector<std::string>& parameters) {
    Variant variant;
    variant.name = name;
    for (const std::string& parameter : parameters) {
      variant.parameters.push_back({parameter, {}});
      for (std::int64_t v = name == "a" ? 0 : 2; v < (name == "a" ? 6 : 8); ++v)
        variant.parameters.back().values.emplace_back(v);
      variant.defaults[parameter] = std::int64_t{3};
    }
    return variant;
  };
  const Variant a = variant_of("a", {"p", "q", "r"}), b = variant_of("b", {"p", "groups", "stages"});
  for (const std::string& name : search_names()) {
    INFO(name);
    SearchSpace space({&a, &b});
    bool own = true;
    space.admit_by([&](const Variant& variant, const db::Values& parameters) -> std::optional<std::int64_t> {
      own = own && space.levels_of({"f", variant.name, parameters}).has_value();
      return 1;
    });
    // A sample of both, which searches go beyond.
    std::mt19937_64 random(1);
    for (int i = 0; i < 60; ++i) {
      const Variant& variant = i % 2 == 0 ? a : b;
      db::Configuration configuration{"f", variant.name, {}};
      for (const db::Parameter& parameter : variant.parameters)
        configuration.parameters[parameter.name] = parameter.values[random() % parameter.values.size()];
      if (!space.find(*space.levels_of(configuration))) space.add(configuration, 1);
    }
    SearchSettings settings = named(name);
    settings.cut = true;
    std::set<std::size_t> variants;
    const auto searched = search_through(
        *make_search(space, settings),
        [&](std::size_t i) {
          variants.insert(space.levels(i)[0]);
          double sum = 100;
          for (std::size_t d = 1; d < space.levels(i).size(); ++d) sum += space.levels(i)[d];
          return std::optional(sum);
        },
        200);
    CHECK(own);
    CHECK(unique(searched.asked).size() == searched.asked.size());
    CHECK(variants.size() == 2);
  }
}

TEST_CASE("what was known before is not asked for, and is learned from") {
  const MadeUp made({16, 8, 8, 3});
  for (const std::string& name : search_names()) {
    INFO(name);
    SearchSpace space = made.space();
    const auto search = make_search(space, named(name));
    std::set<std::size_t> known;
    for (std::size_t i = 0; i < space.size(); i += 16) {
      search->tell(i, i % 3 == 0 ? std::nullopt : std::optional(valley(made.points()[i])));
      known.insert(i);
    }
    const auto searched = search_through(
        *search, [&](std::size_t i) { return valley(made.points()[i]); }, 60);
    for (const std::size_t point : searched.asked) CHECK(known.count(point) == 0);
  }
}

TEST_CASE("searches that learn find what random search does not") {
  const MadeUp made({16, 8, 8, 3}, [](const auto& p) { return p[0] * p[1] < 90; });
  const auto takes = [&](std::size_t i) {
    return i % 3 == 1 && i % 7 == 0 ? std::nullopt : std::optional(valley(made.points()[i]));
  };
  std::map<std::string, double> sum;
  for (const std::string name : {"random", "local", "evolutionary", "guided"})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SearchSpace space = made.space();
      sum[name] +=
          std::log(search_through(*make_search(space, named(name, seed)), takes, 80, 4).fastest / 100) / 5;
    }
  CHECK(sum["guided"] < 0.05);
  CHECK(sum["guided"] < sum["local"]);
  CHECK(sum["guided"] < sum["evolutionary"]);
  CHECK(sum["local"] < sum["random"]);
  CHECK(sum["evolutionary"] < sum["random"]);
}

TEST_CASE("the guided search serves every alignment class") {
  // Points that need less are slower, and their best are elsewhere.
  const MadeUp made({12, 12, 3});
  SearchSpace space({&made.variant()});
  std::vector<double> times;
  for (const auto& p : made.points()) {
    space.add(MadeUp::configuration_of(p), 1 << p[2]);
    const auto x = static_cast<double>(p[0]), y = static_cast<double>(p[1]),
               best = static_cast<double>(2 + 4 * p[2]);
    times.push_back((40 - 10 * static_cast<double>(p[2])) *
                    std::exp(0.05 * ((x - best) * (x - best) + (y - best) * (y - best))));
  }
  const auto search = make_search(space, named("guided"));
  const auto searched = search_through(
      *search, [&](std::size_t i) { return times[i]; }, 90, 3);
  std::map<std::int64_t, double> best;
  for (const std::size_t i : searched.asked) {
    const auto [at, is_new] = best.try_emplace(space.alignment(i), times[i]);
    if (!is_new) at->second = std::min(at->second, times[i]);
  }
  CHECK(best[1] < 42);
  CHECK(best[2] < 31.5);
  CHECK(best[4] < 21);
}

TEST_CASE("the guided search ends when there is nothing to gain, and says so") {
  const MadeUp made({40, 40});
  SearchSpace space = made.space();
  SearchSettings settings = named("guided");
  settings.may_end = true;
  const auto search = make_search(space, settings);
  const auto searched = search_through(
      *search,
      [](std::size_t i) { return 100 + 0.5 * static_cast<double>(i % 3) + static_cast<double>(i / 40); },
      1600, 2);
  CHECK(searched.asked.size() < 400);
  CHECK(searched.fastest < 102);
  CHECK_THAT(search->ended(), Catch::Contains("tie bound"));
}

TEST_CASE("what was measured elsewhere comes first, and misleads no one for long") {
  const MadeUp made({16, 8, 8, 3});
  const auto evaluations_to = [&](const std::function<double(const MadeUp::Point&)>& other) {
    std::size_t sum = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SearchSpace space = made.space();
      SearchSettings settings = named("guided", seed);
      if (other != nullptr) {
        settings.elsewhere.push_back({"elsewhere", {}});
        for (std::size_t i = 0; i < space.size(); i += 5)
          settings.elsewhere[0].measured.emplace_back(space.levels(i), other(made.points()[i]));
      }
      const auto search = make_search(space, settings);
      const auto searched = search_through(
          *search, [&](std::size_t i) { return valley(made.points()[i]); }, 120);
      for (const std::size_t point : searched.asked) {
        ++sum;
        if (valley(made.points()[point]) < 105) break;
      }
    }
    return sum / 3;
  };
  const std::size_t cold = evaluations_to(nullptr);
  // Slower by a factor, and the valley a little aside.
  const std::size_t alike = evaluations_to([](MadeUp::Point p) {
    p[0] = std::max<std::int64_t>(0, p[0] - 2);
    return 3 * valley(p);
  });
  const std::size_t opposite = evaluations_to([](const MadeUp::Point& p) { return 1e4 / valley(p); });
  INFO("cold " << cold << ", alike " << alike << ", opposite " << opposite);
  CHECK(alike < cold);
  CHECK(opposite <= 2 * cold);
}

TEST_CASE("searches reach beyond a sample of the space by its neighbours") {
  const MadeUp made({16, 8, 8, 3});
  const auto legal = [](const MadeUp::Point& p) { return (p[0] + p[1] + p[2]) % 2 == 0; };
  for (const std::string name : {"local", "evolutionary", "guided"}) {
    INFO(name);
    SearchSpace space({&made.variant()});
    std::vector<MadeUp::Point> points;
    for (std::size_t i = 0; i < made.points().size(); i += 61)
      if (legal(made.points()[i])) {
        space.add(MadeUp::configuration_of(made.points()[i]), 1);
        points.push_back(made.points()[i]);
      }
    const std::size_t sample = points.size();
    space.admit_by([&](const Variant&, const db::Values& parameters) -> std::optional<std::int64_t> {
      const auto point = MadeUp::point_of(parameters);
      if (!legal(point)) return std::nullopt;
      points.push_back(point);
      return 1;
    });
    const auto search = make_search(space, named(name));
    const auto searched = search_through(
        *search,
        [&](std::size_t i) {
          REQUIRE(i < points.size());
          CHECK(legal(points[i]));
          return valley(points[i]);
        },
        200, 3);
    CHECK(unique(searched.asked).size() == searched.asked.size());
    CHECK(points.size() > sample);
    CHECK(space.size() == points.size());
    CHECK(searched.best >= sample);
  }
}

TEST_CASE("a search's name is one of those there are") {
  SearchSpace space = MadeUp({2}).space();
  CHECK_THROWS_WITH(make_search(space, named("annealing")),
                    Catch::Contains("annealing") && Catch::Contains("evolutionary"));
  CHECK(search_named("auto", 2900, false) == "exhaustive");
  CHECK(search_named("auto", 2900, true) == "guided");
  CHECK(search_named("auto", 100000, false) == "guided");
  CHECK(search_named("random", 10, false) == "random");
}
