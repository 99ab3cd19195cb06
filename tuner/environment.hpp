// What may change a device's answers though the device is the same.
#pragma once

#include <string>

#include "db/records.hpp"
#include "runtime/device.hpp"

namespace hone::tuner {

/// Driver, firmware and power limit of the device, the compiler's name and version, the host's system.
db::Environment environment_of(const DeviceInfo& device, const std::string& compiler);

}  // namespace hone::tuner
