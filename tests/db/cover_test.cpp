#include "db/cover.hpp"

#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "db/ties.hpp"

using namespace hone;
using namespace hone::db;

namespace {

Statistics quiet(double median) {
  return {15, median, median, median, median};
}

/// Costs of random configurations at doubling points, with holes; close to each other often enough to tie.
CostTable random_costs(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  CostTable costs;
  const int configurations = 1 + below(5), points = 1 + below(9);
  for (int c = 0; c < configurations; ++c) costs.alignments.push_back(1 << below(3));
  for (int p = 0; p < points; ++p) {
    CostTable::Point point{std::int64_t{1024} << p, {}};
    for (int c = 0; c < configurations; ++c) {
      Statistics cost = quiet(100 + below(6));
      if (below(5) == 0) cost.q3 *= 1.05;
      if (below(6) == 0)
        point.costs.emplace_back();
      else
        point.costs.emplace_back(cost);
    }
    costs.points.push_back(std::move(point));
  }
  return costs;
}

/// Median over the best one's, less 1; none where it cannot serve or does not tie.
std::optional<double> regret(const CostTable& costs, std::int64_t alignment, std::size_t c, std::size_t p) {
  const auto& at = costs.points[p].costs;
  std::optional<Statistics> best;
  for (std::size_t other = 0; other < at.size(); ++other)
    if (at[other] && costs.alignments[other] <= alignment && (!best || at[other]->median < best->median))
      best = at[other];
  if (!at[c] || costs.alignments[c] > alignment || !ties(*best, *at[c])) return std::nullopt;
  return at[c]->median / best->median - 1;
}

std::vector<std::size_t> served(const CostTable& costs, std::int64_t alignment) {
  std::vector<std::size_t> points;
  for (std::size_t p = 0; p < costs.points.size(); ++p)
    for (std::size_t c = 0; c < costs.alignments.size(); ++c)
      if (regret(costs, alignment, c, p)) {
        points.push_back(p);
        break;
      }
  return points;
}

/// By trying every way to cut.
std::size_t fewest_by_force(const CostTable& costs, std::int64_t alignment,
                            const std::vector<std::size_t>& points) {
  std::size_t fewest = points.empty() ? 0 : points.size();
  for (unsigned cuts = 0; !points.empty() && cuts < 1U << (points.size() - 1); ++cuts) {
    std::size_t pieces = 0;
    bool possible = true;
    for (std::size_t begin = 0, end = 0; begin < points.size() && possible; begin = end) {
      for (end = begin + 1; end < points.size() && (cuts >> (end - 1) & 1U) == 0;) ++end;
      ++pieces;
      possible = false;
      for (std::size_t c = 0; c < costs.alignments.size(); ++c)
        possible |= std::all_of(points.begin() + static_cast<std::ptrdiff_t>(begin),
                                points.begin() + static_cast<std::ptrdiff_t>(end),
                                [&](std::size_t p) { return regret(costs, alignment, c, p).has_value(); });
    }
    if (possible) fewest = std::min(fewest, pieces);
  }
  return fewest;
}

}  // namespace

TEST_CASE("bands are the fewest, cover everything, and tie at each of their points") {
  rc::prop("whatever the costs", [] {
    const CostTable costs = random_costs(*rc::gen::arbitrary<unsigned>());
    for (const std::int64_t alignment : {1, 2, 4}) {
      const std::vector<std::size_t> points = served(costs, alignment);
      const Covering covering = cover(costs, alignment);
      const auto& intervals = covering.intervals;
      RC_ASSERT(intervals.size() == fewest_by_force(costs, alignment, points));
      if (intervals.empty()) continue;
      RC_ASSERT(intervals.front().lo == 0);
      RC_ASSERT(intervals.back().hi == no_end);
      std::int64_t counted = 0;
      for (std::size_t i = 0; i < intervals.size(); ++i) {
        const Interval& one = intervals[i];
        RC_ASSERT(one.lo < one.hi);
        if (i > 0) RC_ASSERT(intervals[i - 1].hi == one.lo);
        RC_ASSERT(one.points > 0);
        counted += one.points;
        double worst = 0;
        for (const std::size_t p : points) {
          const std::int64_t bytes = costs.points[p].working_set;
          if (bytes < one.lo || bytes >= one.hi) continue;
          RC_ASSERT(p >= one.first && p <= one.last);
          const auto accepted = regret(costs, alignment, one.configuration, p);
          RC_ASSERT(accepted.has_value());
          worst = std::max(worst, *accepted);
        }
        RC_ASSERT(worst == one.regret);
        RC_ASSERT(regret(costs, alignment, one.configuration, one.worst) == worst);
      }
      RC_ASSERT(counted == static_cast<std::int64_t>(points.size()));
      for (const Gap& gap : covering.gaps) RC_ASSERT(gap.below < gap.above);
    }
  });
}

TEST_CASE("a splitting point is one without which fewer bands would do") {
  rc::prop("as by force", [] {
    const CostTable costs = random_costs(*rc::gen::arbitrary<unsigned>());
    const std::size_t all = cover(costs, 4).intervals.size();
    const std::vector<std::size_t> splitting = splitting_points(costs, 4);
    for (const std::size_t p : served(costs, 4)) {
      if (all < 2) break;
      CostTable without = costs;
      without.points.erase(without.points.begin() + static_cast<std::ptrdiff_t>(p));
      const bool fewer = cover(without, 4).intervals.size() < all;
      RC_ASSERT(fewer == (std::find(splitting.begin(), splitting.end(), p) != splitting.end()));
    }
  });
}

TEST_CASE("among equally few bands those with the least regret are taken, edges in the middle") {
  CostTable costs{{1, 1, 1}, {}};
  const auto add = [&](std::int64_t bytes, double a, double b, double c) {
    costs.points.push_back({bytes, {quiet(a), quiet(b), quiet(c)}});
  };
  add(1000, 100, 101, 200);
  add(2000, 100, 101, 200);
  add(4000, 100, 100, 100);
  add(8000, 100, 101, 100);
  add(16000, 200, 200, 100);
  const Covering covering = cover(costs, 1);
  REQUIRE(covering.intervals.size() == 2);
  CHECK(covering.intervals[0].configuration == 0);
  CHECK(covering.intervals[1].configuration == 2);
  CHECK(covering.intervals[0].hi == middle(4000, 8000));  // both tie at 4000 and 8000
  CHECK(covering.gaps.empty());
  CHECK(covering.intervals[0].points == 3);
  CHECK(covering.intervals[1].points == 2);

  costs.points.erase(costs.points.begin() + 2, costs.points.begin() + 4);
  const Covering sharp = cover(costs, 1);
  REQUIRE(sharp.gaps.size() == 1);
  CHECK(sharp.intervals[0].hi == middle(2000, 16000));
  CHECK(costs.points[sharp.gaps[0].below].working_set == 2000);
  CHECK(costs.points[sharp.gaps[0].above].working_set == 16000);
}

TEST_CASE("what nothing was measured for has no bands") {
  CHECK(cover({}, 16).intervals.empty());
  const CostTable wide{{16}, {{1000, {quiet(1)}}}};
  CHECK(cover(wide, 8).intervals.empty());
  CHECK(cover(wide, 16).intervals.size() == 1);
  CHECK(splitting_points({}, 16).empty());
}
