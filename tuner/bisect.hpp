// Where one band ends and the next begins: measures between two points until every edge is known to the
// resolution asked for, and again where a single point would split a band. The logic alone: costs come from a
// function, so that it can be tried on curves whose crossings are known.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "db/cover.hpp"

namespace hone::tuner {

struct BisectSettings {
  double resolution = 1.0625;  ///< an edge is known once it lies between points no further apart than this
  /// A point that alone makes a further band necessary may have met an interference: it is measured again,
  /// the newest take counts, and it is believed once so many takes in a row say the same.
  int takes = 3;
};

/// Measures every configuration at the point whose working set is nearest below `bytes`, in one race; those
/// that fail there have no costs. None: no more points can be measured.
using MeasurePoint = std::function<std::optional<db::CostTable::Point>(std::int64_t bytes)>;

/// About the geometric middle, at a number of few binary digits where one lies between: an odd extent would
/// measure its tail as well as its size.
std::int64_t round_middle(std::int64_t low, std::int64_t high);

/// Adds points to `costs`, and replaces those measured again, until nothing is left to find out in any
/// alignment class. False: a measurement gave none before that.
bool bisect(db::CostTable& costs, const BisectSettings& settings, const MeasurePoint& measure);

}  // namespace hone::tuner
