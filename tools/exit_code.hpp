// The exit codes of every verb.
#pragma once

#include <exception>

namespace hone::tools {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;       ///< ran, but nothing valid was found or a check failed
inline constexpr int exit_usage = 2;        ///< bad flags, shapes, manifests
inline constexpr int exit_environment = 3;  ///< no device, no compiler, database unusable
inline constexpr int exit_of_signal = 128;  ///< and the number of the signal that interrupted it

/// Writes the exception's one line to stderr; the exit code it means.
int report(const std::exception& error);

}  // namespace hone::tools
