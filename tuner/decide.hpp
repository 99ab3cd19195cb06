// From a final's measurements to decisions: for each alignment class the tied set and the one chosen.
#pragma once

#include <cstdint>
#include <vector>

#include "db/records.hpp"

namespace hone::tuner {

struct Finalist {
  db::Id measurement;
  std::int64_t alignment = 1;  ///< that it needs
  db::Statistics statistics;
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

/// A class for every alignment that some finalist needs, narrowest first, left out where its choice would be
/// that of the next narrower one. Ties keep the incumbent, else the simpler, else the faster.
std::vector<Choice> decide(const std::vector<Finalist>& finalists);

}  // namespace hone::tuner
