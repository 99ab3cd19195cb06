// When two measurements tie.
#pragma once

#include "db/records.hpp"

namespace hone::db {

/// Medians that differ by no more than this tie, however quiet they are.
inline constexpr double least_tie_bound = 0.02;

/// Relative difference of medians under which `a` and `b` tie: 2 %, or their combined noise where that is
/// more. The noise of a median is taken as half the interquartile range; the two combine as independent ones
/// do.
double tie_bound(const Statistics& a, const Statistics& b);

/// Whether `slower`, with a median at least that of `faster`, ties with it.
bool ties(const Statistics& faster, const Statistics& slower);

}  // namespace hone::db
