// NVIDIA's management library, for what the driver API does not tell: driver version, clock, throttling.
// Only ever reads.
#pragma once

#include <string>

#include "runtime/device.hpp"

namespace hone {

/// `580.159.04`; empty where the library is not there.
std::string nvml_driver_version();

/// The clock of the GPU at PCI address `bus`; zeros where the library does not tell.
Device::Clock nvml_clock(const std::string& bus);

}  // namespace hone
