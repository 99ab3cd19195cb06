// What a tuning run would do, without doing it.
#pragma once

#include <vector>

#include "tuner/tune.hpp"

namespace hone::tuner {

struct PlannedProblem {
  db::Problem problem;
  db::Device device;
  std::int64_t working_set = 0;  ///< bytes
  std::int64_t space = 0;        ///< legal configurations
  bool sampled = false;          ///< there are more than `space`, of which that many are a sample
  std::int64_t most = 0;         ///< tried at most: by the budget, but always the default, winners and ladder
  bool has_winners = false;      ///< fresh ones: the same command measures only what they leave to do
};

/// The problems that tune() would take, device by device, in its order. Compiles, measures and writes
/// nothing; throws as tune() does where that would not begin.
std::vector<PlannedProblem> dry_run(const TuneSettings& settings);

}  // namespace hone::tuner
