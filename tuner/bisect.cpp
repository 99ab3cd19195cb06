#include "tuner/bisect.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

namespace hone::tuner {

namespace {

/// Gaps that measuring has shown to hold no further problem: extents are whole numbers.
using Closed = std::set<std::pair<std::int64_t, std::int64_t>>;

std::optional<std::size_t> suspect(const db::CostTable& costs, const std::set<std::int64_t>& classes,
                                   const std::map<std::int64_t, int>& takes, int enough) {
  for (const std::int64_t alignment : classes) {
    for (const std::size_t point : db::splitting_points(costs, alignment)) {
      const auto taken = takes.find(costs.points[point].working_set);
      if ((taken == takes.end() ? 1 : taken->second) < enough) return point;
    }
  }
  return std::nullopt;
}

std::optional<std::pair<std::int64_t, std::int64_t>> open_gap(const db::CostTable& costs,
                                                              const std::set<std::int64_t>& classes,
                                                              double resolution, const Closed& closed) {
  for (const std::int64_t alignment : classes) {
    for (const db::Gap& gap : db::cover(costs, alignment).gaps) {
      const std::int64_t low = costs.points[gap.below].working_set;
      const std::int64_t high = costs.points[gap.above].working_set;
      const bool fine = static_cast<double>(high) <= static_cast<double>(low) * resolution;
      const bool barren = gap.above > gap.below + 1;  // nothing serves this class at the points between
      if (!fine && !barren && !closed.contains({low, high})) return std::pair(low, high);
    }
  }
  return std::nullopt;
}

void put(db::CostTable& costs, db::CostTable::Point point) {
  const auto at = std::partition_point(costs.points.begin(), costs.points.end(), [&](const auto& each) {
    return each.working_set < point.working_set;
  });
  if (at != costs.points.end() && at->working_set == point.working_set)
    *at = std::move(point);
  else
    costs.points.insert(at, std::move(point));
}

}  // namespace

std::int64_t round_middle(std::int64_t low, std::int64_t high) {
  const std::int64_t middle = db::middle(low, high);
  const int spare = std::bit_width(static_cast<std::uint64_t>(middle)) - 7;
  const std::int64_t round = spare > 0 ? middle >> spare << spare : middle;
  return round > low ? round : middle;
}

bool bisect(db::CostTable& costs, const BisectSettings& settings, const MeasurePoint& measure) {
  const std::set<std::int64_t> classes(costs.alignments.begin(), costs.alignments.end());
  std::map<std::int64_t, int> takes;  // of points measured again; the others have one
  Closed closed;
  for (;;) {
    if (const auto point = suspect(costs, classes, takes, settings.takes)) {
      const std::int64_t bytes = costs.points[*point].working_set;
      auto taken = measure(bytes);
      if (!taken) return false;
      taken->working_set = bytes;
      ++takes.try_emplace(bytes, 1).first->second;
      put(costs, std::move(*taken));
    } else if (const auto gap = open_gap(costs, classes, settings.resolution, closed)) {
      auto taken = measure(round_middle(gap->first, gap->second));
      if (!taken) return false;
      const std::int64_t bytes = taken->working_set;
      if (bytes <= gap->first || bytes >= gap->second) {
        closed.insert(*gap);
      } else {
        put(costs, std::move(*taken));
      }
    } else {
      return true;
    }
  }
}

}  // namespace hone::tuner
