// What parameters are worth in a space of which some configurations were measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace hone::tools {

struct Timed {
  db::Configuration configuration;
  double nanoseconds = 0;  ///< above 0
};

/// One parameter's change on the way from one configuration to another.
struct Step {
  std::string parameter;  ///< `variant` counts as one
  db::Value from, to;
  std::optional<double> nanoseconds;  ///< after it; none: nobody measured that configuration
  std::optional<double> gain;         ///< the time before over the time after, less 1; of the last two known
};

/// From `start` to `goal`, one parameter at a time: always the change, among those that lead to a
/// configuration that was measured, after which the time is the least. Where none does, the first of the
/// parameters left is a hole. Both are of one variant, or the change of variant with all of its parameters is
/// the only step.
std::vector<Step> way(const db::Configuration& start, const db::Configuration& goal,
                      const std::vector<Timed>& measured);

struct Share {
  std::string parameter;
  double explained = 0;  ///< of the variance, 0 to 1
};

/// How much of the variance of the logarithm of the time each parameter explains by itself: the variance of
/// the means of its values' groups, weighted by their sizes, over the variance of all (the correlation ratio,
/// Fisher 1925; on a full grid the first-order index of Sobol 1993). Times are taken by their logarithm, so
/// that a factor counts the same at any size. The largest first; those of one value only are left out. Empty
/// where fewer than two times differ.
std::vector<Share> shares(const std::vector<Timed>& measured);

}  // namespace hone::tools
