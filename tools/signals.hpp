// SIGINT, SIGTERM and SIGHUP as a flag that a long operation looks at.
#pragma once

#include <atomic>

namespace hone::tools {

/// From now on the first of these signals sets the flag, and a second one ends the process at once (status
/// 128 and its number).
const std::atomic<bool>& stop_on_signals();

/// The exit code of what the first signal ended: 130, 143 or 129.
int exit_interrupted();

}  // namespace hone::tools
