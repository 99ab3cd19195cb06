// A driver whose entry points do nothing, and the image that it takes for a code object: what the library
// costs can then be told from what a driver costs.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/gpu_api.hpp"

namespace hone::bench {

/// CUDA's table, filled with functions that return 0. Its kernels run nothing.
const GpuLibrary& null_driver();

/// The device of that driver: an H200's limits.
DeviceInfo null_device();

/// A whole ELF image without a kernel.
std::vector<std::byte> null_image();

}  // namespace hone::bench
