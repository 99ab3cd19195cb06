#include "tuner/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hone::tuner {

double quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) return 0;
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

db::Statistics summarise(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  db::Statistics result;
  result.n = static_cast<std::int64_t>(sorted.size());
  if (sorted.empty()) return result;
  result.minimum = sorted.front();
  result.q1 = quantile(sorted, 0.25);
  result.median = quantile(sorted, 0.5);
  result.q3 = quantile(sorted, 0.75);
  return result;
}

}  // namespace hone::tuner
