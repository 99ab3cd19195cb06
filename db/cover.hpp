// From costs along the working set to bands: the fewest intervals in each of which one configuration stays
// within the tie bound of the best at every point. Pure functions; the same costs give the same bands.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "db/records.hpp"

namespace hone::db {

/// What configurations cost at points along the working set. Within a point, costs come from one race.
struct CostTable {
  struct Point {
    std::int64_t working_set = 0;
    std::vector<std::optional<Statistics>> costs;  ///< by configuration; none: it cannot serve here
  };
  std::vector<std::int64_t> alignments;  ///< bytes to which each configuration needs every pointer aligned
  std::vector<Point> points;             ///< by working set, each once
};

/// A working set that none reaches.
constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

/// `[lo, hi)` bytes of working set in which one configuration serves. The first reaches down to 0, the last
/// up to no_end.
struct Interval {
  std::int64_t lo = 0, hi = no_end;
  std::size_t configuration = 0;
  std::size_t first = 0, last = 0;  ///< points of the table in it; those where nothing serves do not count
  std::int64_t points = 0;
  double regret = 0;      ///< the largest, over its points, of the median over the best one's, less 1
  std::size_t worst = 0;  ///< the point where it is
};

/// Two points next to each other with an edge between them, at neither of which both sides tie: where the
/// edge is, only measuring between them can tell.
struct Gap {
  std::size_t below = 0, above = 0;
};

struct Covering {
  std::vector<Interval> intervals;
  std::vector<Gap> gaps;
};

/// The fewest intervals for pointers aligned to `alignment` bytes, and among equally few those with the least
/// regret altogether. An edge lies in the geometric middle of the stretch in which both sides tie, else of
/// the gap between the last point of one and the first of the other.
Covering cover(const CostTable& costs, std::int64_t alignment);

/// The points without any one of which fewer intervals would do, those that split most first.
std::vector<std::size_t> splitting_points(const CostTable& costs, std::int64_t alignment);

/// The geometric middle, in (low, high]; `low` itself where they are equal.
std::int64_t middle(std::int64_t low, std::int64_t high);

}  // namespace hone::db
