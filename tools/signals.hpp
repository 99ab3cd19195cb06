// SIGINT, SIGTERM and SIGHUP as a flag that a long operation looks at.
#pragma once

#include <atomic>

namespace hone::tools {

/// From now on the first of these signals sets the flag, and a second one ends the process at once (status
/// 130).
const std::atomic<bool>& stop_on_signals();

}  // namespace hone::tools
