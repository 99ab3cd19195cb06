// What the database knows of a family besides the problem at hand: neighbouring problems, other element
// types, other devices of the same backend.
#pragma once

#include <vector>

#include "db/store.hpp"
#include "runtime/device.hpp"
#include "tuner/search.hpp"

namespace hone::tuner {

/// What the runs measured that decided the nearest winners of other problems or devices, the nearest first,
/// at most three. Near is the same device before another, the same element type and layout before others,
/// then the least distance between the logarithms of dimensions, compute units and cache.
std::vector<Elsewhere> elsewhere(db::Store& store, const SearchSpace& space, const db::Problem& problem,
                                 const DeviceInfo& device, db::Regime regime);

}  // namespace hone::tuner
