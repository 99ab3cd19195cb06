// NVIDIA's management library, for what the driver API does not tell: driver version, clock,
// temperature, throttling, power limit.
// Only ever reads.
#pragma once

#include <string>

#include "db/records.hpp"

namespace hone {

/// `580.159.04`; empty where the library is not there.
std::string nvml_driver_version();

/// How the GPU at PCI address `bus` is; zeros where the library does not tell.
db::Condition nvml_condition(const std::string& bus);

/// `700 W`: the limit in force for the GPU at `bus`; empty where the library does not tell.
std::string nvml_power_limit(const std::string& bus);

/// Version of the GPU's own firmware; empty where the library does not tell.
std::string nvml_firmware(const std::string& bus);

}  // namespace hone
