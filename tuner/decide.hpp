// From a final's measurements to decisions: for each alignment class the tied set and the one chosen.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "db/records.hpp"

namespace hone::tuner {

struct Finalist {
  db::Id measurement;
  std::int64_t alignment = 1;  ///< that it needs
  db::Statistics statistics;
  std::vector<double> samples;  ///< of the final, one a round
  std::int64_t distance = 0;  ///< from the defaults: the nearer is the simpler
  bool incumbent = false;     ///< it is the winner so far (of any class)
  bool by_default = false;
};

struct Choice {
  std::int64_t alignment = 1;     ///< the class served: pointers aligned to at least so much
  std::size_t chosen = 0;         ///< index of a finalist
  std::vector<std::size_t> tied;  ///< within the tie bound of the fastest, the fastest included
  double tie_bound = 0;           ///< between the fastest and the chosen
};

/// A choice for each of `classes` that some finalist serves, narrowest first: all of a space's alignments, so
/// that a new decision replaces every older one. Ties keep the incumbent; else the simplest of those
/// indistinguishable from the fastest is chosen.
std::vector<Choice> decide(const std::vector<Finalist>& finalists, const std::set<std::int64_t>& classes);

}  // namespace hone::tuner
