// Why a call got what it got: the steps of the ladder, for tools.
#pragma once

#include <string>
#include <vector>

#include "hone/hone.hpp"

namespace hone {

/// One look of one rung into one database.
struct LadderStep {
  Rung rung = Rung::none;
  bool answered = false;
  std::string database;
  std::string why;  ///< what answered, or why it did not
};

struct Explanation {
  std::vector<LadderStep> steps;  ///< in the order they were tried; the last one answered, if any did
  Pick pick;
};

/// Climbs the ladder anew. Notes no miss. Throws as Runtime::pick does.
Explanation explain(Runtime& runtime, const Problem& problem, std::size_t alignment);

}  // namespace hone
