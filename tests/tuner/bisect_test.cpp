// Bisecting edges on synthetic curves, whose crossings are known.
#include "tuner/bisect.hpp"

#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "tuner/statistics.hpp"

using namespace hone;
using namespace hone::tuner;

namespace {

constexpr std::int64_t kFirst = 64 << 10, kGrain = 64;
constexpr int kOctaves = 12;

/// Nanoseconds of a configuration at a working set, in octaves above the first point.
using Curve = std::function<double(double octave)>;

/// A device whose times follow curves, with noise; it notes what it was asked.
class Simulated {
 public:
  explicit Simulated(std::vector<Curve> curves, double noise = 0, unsigned seed = 1)
      : curves_(std::move(curves)), noise_(noise), random_(seed) {}

  /// An interference that one take of one point meets in one configuration.
  void disturb(std::int64_t bytes, std::size_t configuration, double factor, int takes = 1) {
    spikes_[bytes] = {configuration, factor, takes};
  }

  db::CostTable::Point measure(std::int64_t bytes) {
    ++measured;
    db::CostTable::Point point{std::max<std::int64_t>(1, bytes / kGrain) * kGrain, {}};
    const double octave = std::log2(static_cast<double>(point.working_set) / kFirst);
    for (std::size_t c = 0; c < curves_.size(); ++c) {
      std::vector<double> samples(15);
      for (double& sample : samples)
        sample = 1000 * curves_[c](octave) * (1 + noise_ * std::normal_distribution<double>()(random_));
      const auto spike = spikes_.find(point.working_set);
      if (spike != spikes_.end() && spike->second.configuration == c && spike->second.takes-- > 0)
        for (double& sample : samples) sample *= spike->second.factor;
      point.costs.emplace_back(summarise(samples));
    }
    return point;
  }

  /// Points doubling, bisected.
  db::CostTable sweep(const BisectSettings& settings = {}) {
    db::CostTable costs;
    costs.alignments.assign(curves_.size(), 1);
    for (int i = 0; i <= kOctaves; ++i) costs.points.push_back(measure(kFirst << i));
    swept = measured;
    REQUIRE(bisect(costs, settings, [&](std::int64_t bytes) { return std::optional(measure(bytes)); }));
    return costs;
  }

  int measured = 0, swept = 0;

 private:
  struct Spike {
    std::size_t configuration;
    double factor;
    int takes;
  };
  std::vector<Curve> curves_;
  double noise_;
  std::mt19937 random_;
  std::map<std::int64_t, Spike> spikes_;
};

/// Best between two octaves and worse by `slope` an octave outside.
Curve best_between(double from, double to, double slope) {
  return [=](double octave) { return 1 + slope * std::max({0.0, from - octave, octave - to}); };
}

double octave_of(std::int64_t bytes) {
  return std::log2(static_cast<double>(bytes) / kFirst);
}

/// Edges at least two points of the sweep apart.
std::vector<double> random_edges(std::mt19937& random) {
  std::vector<double> edges;
  double at = 0;
  for (;;) {
    at += std::uniform_real_distribution<double>(2.1, 4)(random);
    if (at > kOctaves - 2.1) return edges;
    edges.push_back(at);
  }
}

std::vector<Curve> curves_with(const std::vector<double>& edges, double slope) {
  std::vector<Curve> curves;
  for (std::size_t i = 0; i <= edges.size(); ++i)
    curves.push_back(best_between(i == 0 ? -100 : edges[i - 1], i == edges.size() ? 100 : edges[i], slope));
  return curves;
}

}  // namespace

TEST_CASE("edges land within the resolution of where curves cross") {
  rc::prop("sharp or gentle, quiet or noisy", [] {
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    const std::vector<double> edges = random_edges(random);
    const double slope = std::uniform_real_distribution<double>(0.05, 3)(random);
    const double noise = std::uniform_real_distribution<double>(0, 0.004)(random);
    const BisectSettings settings{*rc::gen::element(1.0625, 1.25, 1.02), 3};
    Simulated device(curves_with(edges, slope), noise, random());
    const db::CostTable costs = device.sweep(settings);
    const auto covering = db::cover(costs, 1);
    RC_ASSERT(covering.intervals.size() == edges.size() + 1);
    // Two neighbours tie while the worse one is within 2 %, give or take the noise of the medians.
    const double tie = (0.02 + 2 * noise) / slope;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      RC_ASSERT(covering.intervals[i].configuration == i);
      const double edge = octave_of(covering.intervals[i].hi);
      RC_ASSERT(std::abs(edge - edges[i]) <= tie + std::log2(settings.resolution) + 1e-3);
    }
    const int an_edge = static_cast<int>(std::ceil(std::log2(1 / std::log2(settings.resolution)))) + 2;
    RC_ASSERT(device.measured - device.swept <= an_edge * static_cast<int>(edges.size()));
  });
}

TEST_CASE("where both sides tie for a stretch, its middle is the edge and nothing more is measured") {
  Simulated device({best_between(-100, 8, 1), best_between(4, 100, 1)});
  const auto covering = db::cover(device.sweep(), 1);
  REQUIRE(covering.intervals.size() == 2);
  CHECK(octave_of(covering.intervals[0].hi) == Approx(6).margin(0.01));
  CHECK(device.measured == device.swept);
}

TEST_CASE("one configuration that ties everywhere is one band") {
  Simulated device({best_between(-100, 6, 1), best_between(6, 100, 1), [](double) { return 1.015; }});
  const auto covering = db::cover(device.sweep(), 1);
  REQUIRE(covering.intervals.size() == 1);
  CHECK(covering.intervals[0].configuration == 2);
  CHECK(covering.intervals[0].regret == Approx(0.015));
  CHECK(device.measured == device.swept);
}

TEST_CASE("an interference at one point splits no band") {
  rc::prop("wherever it hits", [] {
    const int at = *rc::gen::inRange(0, kOctaves + 1);
    const int takes = *rc::gen::inRange(1, 3);
    Simulated device({best_between(-100, 100, 1), [](double) { return 1.1; }}, 0.002);
    device.disturb(kFirst << at, 0, 1.5, takes);
    const auto covering = db::cover(device.sweep(), 1);
    RC_ASSERT(covering.intervals.size() == 1U);
    RC_ASSERT(covering.intervals[0].configuration == 0U);
    RC_ASSERT(device.measured == device.swept + takes);
  });
}

TEST_CASE("what every take says splits a band, and its edges are bisected") {
  // Fastest but from 5.6 to 6.4 octaves, where a single point of the sweep lies.
  const Curve dip = [](double octave) { return octave > 5.6 && octave < 6.4 ? 1.3 : 1.0; };
  Simulated device({dip, [](double) { return 1.1; }});
  const auto covering = db::cover(device.sweep(), 1);
  REQUIRE(covering.intervals.size() == 3);
  CHECK(octave_of(covering.intervals[0].hi) == Approx(5.6).margin(std::log2(1.0625)));
  CHECK(octave_of(covering.intervals[1].hi) == Approx(6.4).margin(std::log2(1.0625)));
  CHECK(covering.intervals[1].configuration == 1);
}

TEST_CASE("bisecting ends where extents are too coarse for the resolution") {
  std::vector<Curve> curves{best_between(-100, 0.5, 9), best_between(0.5, 100, 9)};
  Simulated device(curves);
  db::CostTable costs;
  costs.alignments = {1, 1};
  costs.points = {device.measure(kFirst), device.measure(2 * kFirst)};
  // A family whose extents are multiples of the first point's.
  const bool done = bisect(
      costs, {}, [&](std::int64_t bytes) { return std::optional(device.measure(bytes / kFirst * kFirst)); });
  CHECK(done);
  CHECK(costs.points.size() == 2);
  CHECK_FALSE(bisect(costs, {}, [](std::int64_t) { return std::optional<db::CostTable::Point>(); }));
}

TEST_CASE("bisecting ends where nothing can be measured between two points") {
  Simulated device({best_between(-100, 0.5, 9), best_between(0.5, 100, 9)});
  db::CostTable costs;
  costs.alignments = {1, 1};
  costs.points = {device.measure(kFirst), device.measure(2 * kFirst)};
  CHECK(bisect(costs, {1.0625, 1}, [&](std::int64_t bytes) {
    return std::optional(db::CostTable::Point{bytes, std::vector<std::optional<db::Statistics>>(2)});
  }));
  CHECK(costs.points.size() == 3);
  CHECK(db::cover(costs, 1).intervals.size() == 2);
}

TEST_CASE("each alignment class has edges of its own") {
  // The wide one is best to 3 octaves, then the narrower ones; without it, those cross at 8.
  Simulated device({best_between(-100, 3, 1), best_between(3, 7.5, 1), best_between(7.5, 100, 1)});
  db::CostTable costs;
  costs.alignments = {16, 4, 4};
  for (int i = 0; i <= kOctaves; ++i) costs.points.push_back(device.measure(kFirst << i));
  REQUIRE(bisect(costs, {}, [&](std::int64_t bytes) { return std::optional(device.measure(bytes)); }));
  CHECK(db::cover(costs, 16).intervals.size() == 3);
  const auto narrow = db::cover(costs, 4).intervals;
  REQUIRE(narrow.size() == 2);
  CHECK(octave_of(narrow[0].hi) == Approx(7.5).margin(std::log2(1.0625)));
}
