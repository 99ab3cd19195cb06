// Order statistics of samples.
#pragma once

#include <span>

#include "db/records.hpp"

namespace hone::tuner {

/// The q-quantile (0 to 1) of sorted samples, by linear interpolation between order statistics.
double quantile(std::span<const double> sorted, double q);

/// n, minimum, quartiles; all zero for no samples.
db::Statistics summarise(std::span<const double> samples);

}  // namespace hone::tuner
