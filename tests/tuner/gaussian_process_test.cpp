#include "tuner/gaussian_process.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/tuner/search_rig.hpp"

using namespace hone;
using namespace hone::tuner;
using namespace hone::test;

namespace {

double surface(const Levels& levels) {
  const double x = levels[1] / 15.0, y = levels[2] / 7.0;
  return std::sin(4 * x) + (x - 0.5) * y * 2 + (levels[3] == 1 ? 0.5 : 0);
}

struct Sample {
  std::vector<Observed> rows;
  std::vector<Levels> others;
  std::vector<double> values() const {
    std::vector<double> result;
    for (const Observed& row : rows) result.push_back(row.value);
    return result;
  }
};

Sample sample(const SearchSpace& space, std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> order(space.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  Sample result;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Levels& levels = space.levels(order[i]);
    if (i < n)
      result.rows.push_back({levels, surface(levels), 0});
    else
      result.others.push_back(levels);
  }
  return result;
}

}  // namespace

TEST_CASE("a process predicts a smooth surface, and how far off it is") {
  const MadeUp made({16, 8, 2});
  const SearchSpace space = made.space();
  const Sample of = sample(space, 60, 7);
  GaussianProcess process(space.dimensions());
  process.fit(of.rows);
  process.condition(of.rows, of.others);
  const auto predicted = process.predict(of.values());
  double squared = 0, expected = 0;
  std::size_t within = 0;
  for (std::size_t i = 0; i < of.others.size(); ++i) {
    const double error = predicted[i].mean - surface(of.others[i]);
    squared += error * error;
    expected += predicted[i].variance;
    within += std::abs(error) < 3 * std::sqrt(predicted[i].variance) ? 1 : 0;
  }
  const auto n = static_cast<double>(of.others.size());
  CHECK(std::sqrt(squared / n) < 0.1);  // of a surface whose deviation is about one
  CHECK(within > 0.95 * n);
  CHECK(expected < 20 * squared);  // and it does not hide behind doubt
}

TEST_CASE("rows that are added one by one are the same as all at once") {
  const MadeUp made({16, 8, 2});
  const SearchSpace space = made.space();
  Sample of = sample(space, 150, 3);
  of.rows[20].doubt = of.rows[100].doubt = 0.5;
  GaussianProcess at_once(space.dimensions()), one_by_one(space.dimensions());
  at_once.condition(of.rows, of.others);
  one_by_one.condition({of.rows.data(), 30}, of.others);
  for (std::size_t i = 30; i < of.rows.size(); ++i) one_by_one.add(of.rows[i]);
  const auto a = at_once.predict(of.values()), b = one_by_one.predict(of.values());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].mean == Approx(b[i].mean).margin(1e-6));
    CHECK(a[i].variance == Approx(b[i].variance).margin(1e-6));
  }
}

TEST_CASE("a process lives with one row, equal values and dimensions of one level") {
  const MadeUp made({1, 3});
  const SearchSpace space = made.space();
  GaussianProcess process(space.dimensions());
  const std::vector<Observed> rows{{space.levels(0), 0, 0}, {space.levels(1), 0, 0}};
  process.fit(rows);
  process.condition(rows, {space.levels(2)});
  const std::vector<double> values{0, 0};
  const auto predicted = process.predict(values);
  CHECK(predicted[0].mean == Approx(0).margin(1e-9));
  CHECK(std::isfinite(predicted[0].variance));
}
