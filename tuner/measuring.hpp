// What a measuring worker needs before it can open a device: the check kernels and the reference, built.
#pragma once

#include <string>
#include <vector>

#include "runtime/family.hpp"
#include "tuner/compile_pool.hpp"
#include "tuner/protocol.hpp"

namespace hone::tuner {

/// Builds both in the queue's workers and by the host's compiler. `compiler` (may be null) gets the name and
/// version of the device's compiler. Throws Error{environment} when one of them does not compile.
OpenRequest open_request(const Family& family, const DeviceInfo& device, CompileQueue& queue,
                         std::string* compiler);

}  // namespace hone::tuner
