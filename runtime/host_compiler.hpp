// The system's C++ compiler as a kernel compiler: HONE_CXX, else CXX, else c++, g++ or clang++ in PATH.
// HONE_HOST_CXXFLAGS is appended to its options (a sanitized hone compiles its kernels with the sanitizer
// too).
#pragma once

#include <memory>

#include "runtime/compiler.hpp"

namespace hone {

/// Throws Error{environment} with one line when there is no compiler.
std::unique_ptr<Compiler> open_host_compiler();

}  // namespace hone
