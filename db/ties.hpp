// When two measurements tie.
#pragma once

#include "db/records.hpp"

namespace hone::db {

/// Relative difference of medians under which `a` and `b` tie: 2 %, or their combined noise where that is
/// more. The noise of a median is taken as half the interquartile range; the two combine as independent ones
/// do.
double tie_bound(const Statistics& a, const Statistics& b);

/// Whether `slower`, with a median at least that of `faster`, ties with it.
bool ties(const Statistics& faster, const Statistics& slower);

/// The same within 0.5 %, or the combined noise: so near that the simpler of the two may serve. A tie of 2 %
/// is enough to keep an incumbent; to take the slower of two new configurations for its simplicity it is too
/// wide.
bool indistinguishable(const Statistics& faster, const Statistics& slower);

}  // namespace hone::db
