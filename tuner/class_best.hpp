// Times by alignment class: a candidate that needs 4-byte pointers serves every class that one needing 16
// serves, so that each is held against the best of those that need at most as much.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>

namespace hone::tuner {

class ClassBest {
 public:
  void add(std::int64_t alignment, double time) {
    auto [at, is_new] = best_.try_emplace(alignment, time);
    if (!is_new) at->second = std::min(at->second, time);
  }
  /// The best time among those that need at most this alignment; infinite when there is none.
  double of(std::int64_t alignment) const {
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [needs, time] : best_)
      if (needs <= alignment) best = std::min(best, time);
    return best;
  }

 private:
  std::map<std::int64_t, double> best_;
};

}  // namespace hone::tuner
