// What parameters are worth in a space of which some configurations were measured.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace hone::tools {

/// The times of two configurations, taken alike.
struct Pair {
  double before = 0, after = 0;  ///< nanoseconds, above 0
  bool tied = false;
  std::string samples;  ///< what both are: `race`, `looks`
  db::Id before_measurement, after_measurement;

  double gain() const { return before / after - 1; }
};

/// None: they were never measured alike.
using Compare = std::function<std::optional<Pair>(const db::Configuration&, const db::Configuration&)>;

struct Change {
  std::string parameter;  ///< `variant` counts as one
  db::Value from, to;
};

/// From one configuration that was measured to the next on the way.
struct Step {
  std::vector<Change> changes;  ///< several: nobody measured what lies between, each is a hole
  std::optional<Pair> pair;     ///< of all changes together
};

/// From `start` to `goal`: always the fewest changes that lead to a configuration that was measured like the
/// one before it, and of those with as few the largest gain. Where the variants differ, its change is one of
/// the first ones; the others are then counted from `entry`, the defaults of the goal's variant.
std::vector<Step> way(const db::Configuration& start, const db::Configuration& goal, const db::Values& entry,
                      const std::vector<db::Configuration>& measured, const Compare& compare);

struct Timed {
  db::Configuration configuration;
  double nanoseconds = 0;  ///< above 0
};

struct Share {
  std::string variant;    ///< whose parameter it is; empty: of `variant` itself
  std::string parameter;  ///< empty: what is left, of parameters together and of noise
  double explained = 0;   ///< of the variance, 0 to 1
};

/// How the variance of the logarithm of the time comes about; the shares add up to one. `variant` is a factor
/// over all configurations: the variance of its groups' means. Within a variant its parameters are factors of
/// an additive model, by least squares: the next one is always the one that explains most of what those
/// before it left (on a full grid each has the first-order index of Sobol 1993, whatever the order). Times
/// are taken by their logarithm, so that a factor counts the same at any size. By variant, in that order,
/// those of one value only left out. Empty where fewer than two times differ.
std::vector<Share> shares(const std::vector<Timed>& measured);

}  // namespace hone::tools
