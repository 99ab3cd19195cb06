// Order statistics of samples, and when two measurements tie.
#pragma once

#include <span>

#include "db/records.hpp"

namespace hone::tuner {

/// The q-quantile (0 to 1) of sorted samples, by linear interpolation between order statistics.
double quantile(std::span<const double> sorted, double q);

/// n, minimum, quartiles; all zero for no samples.
db::Statistics summarise(std::span<const double> samples);

/// Relative difference of medians under which `a` and `b` tie: 2 %, or their combined noise where that is
/// more. The noise of a median is taken as half the interquartile range; the two combine as independent ones
/// do.
double tie_bound(const db::Statistics& a, const db::Statistics& b);

/// Whether `slower`, with a median at least that of `faster`, ties with it.
bool ties(const db::Statistics& faster, const db::Statistics& slower);

/// The same within 0.5 %, or the combined noise: so near that the simpler of the two may serve. A tie of 2 %
/// is enough to keep an incumbent; to take the slower of two new configurations for its simplicity it is too
/// wide.
bool indistinguishable(const db::Statistics& faster, const db::Statistics& slower);

}  // namespace hone::tuner
