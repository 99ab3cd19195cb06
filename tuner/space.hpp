// A family's space on a device: the constrained product of each variant's parameters, and covering subsets of
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/expression.hpp"
#include "db/records.hpp"
#include "runtime/family.hpp"

namespace hone::tuner {

/// One point of a space. One whose blocks ask for more than the device has (`excess` says what) cannot be
/// launched there; every other one is legal.
struct Point {
  db::Configuration configuration;
  std::int64_t alignment = 1;  ///< bytes its pointers must be aligned to
  std::string excess;
};

/// Every configuration of the variants that run on `device` whose constraints hold for `problem`, in the
/// manifest's order.
std::vector<Point> space(db::Evaluator& evaluator, const Family& family, const db::Problem& problem,
                         const DeviceInfo& device);

/// Points of a space that may be too large to hold.
struct SpaceSample {
  std::vector<Point> points;
  bool whole = true;  ///< they are all there are
};

/// The space when no more than `most` configurations satisfy its constraints, else `most` of those, each as
/// likely as any other. A product of up to some ten millions is gone through; of a larger one random slices
/// are, in which some parameters have one value each, for a second. Points that exceed the device are left
/// out of a sample.
SpaceSample sample_space(db::Evaluator& evaluator, const Family& family, const db::Problem& problem,
                         const DeviceInfo& device, std::size_t most, std::uint64_t seed);

/// The point of `variant` with these parameters; none when it is not legal, for `problem` or for the device.
std::optional<Point> point_of(db::Evaluator& evaluator, const Family& family, const Variant& variant,
                              const db::Values& parameters, const db::Problem& problem,
                              const DeviceInfo& device);

/// Every configuration that can be built for `device` and an element type: constraints that read a problem's
/// dimensions are left out, since a code object serves every problem.
std::vector<db::Configuration> buildable_space(db::Evaluator& evaluator, const Family& family,
                                               const std::string& element_type, const std::string& layout,
                                               const DeviceInfo& device);

/// The first variant's defaults on `device`.
db::Configuration default_configuration(const Family& family, const DeviceInfo& device);

/// The configuration of a ladder point; none when its variant does not run on `device`.
std::optional<db::Configuration> ladder_configuration(const Family& family, const LadderPoint& point,
                                                      const DeviceInfo& device);

/// How far a configuration is from its variant's defaults: parameters that differ, and more than any of those
/// when the variant is not the default one. Of tied configurations the nearest is the simplest.
std::int64_t distance_from_default(const Family& family, const DeviceInfo& device,
                                   const db::Configuration& of);

/// Indices of a subset in which every pair of parameter values that occurs in `configurations` occurs, chosen
/// greedily (each next one covers the most pairs not covered yet), at most `limit` of them.
struct Cover {
  std::vector<std::size_t> indices;
  std::int64_t pairs = 0, covered = 0;
};
Cover covering_set(const std::vector<db::Configuration>& configurations, std::int64_t limit);

}  // namespace hone::tuner
