// Splits a range among the machine's threads.
#pragma once

#include <cstdint>
#include <functional>

namespace hone::tuner {

/// Calls `body(first, last)` for parts of [0, count), at least `least` long, on as many threads as there are
/// cores.
void parallel_for(std::int64_t count, std::int64_t least,
                  const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace hone::tuner
