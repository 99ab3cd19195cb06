#include "db/ties.hpp"

#include <algorithm>
#include <cmath>

namespace hone::db {
namespace {

double combined_noise(const Statistics& a, const Statistics& b) {
  if (a.median <= 0 || b.median <= 0) return 0;
  return std::hypot(a.spread() / 2 / a.median, b.spread() / 2 / b.median);
}

}  // namespace

double tie_bound(const Statistics& a, const Statistics& b) {
  return std::max(least_tie_bound, combined_noise(a, b));
}

bool ties(const Statistics& faster, const Statistics& slower) {
  return slower.median <= faster.median * (1 + tie_bound(faster, slower));
}

}  // namespace hone::db
