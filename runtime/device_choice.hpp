// Choosing among given devices: choose_devices() without looking for them.
#pragma once

#include <string>
#include <vector>

#include "runtime/device.hpp"

namespace hone {

std::vector<DeviceInfo> choose_devices(const DeviceList& list, const std::string& choice);

}  // namespace hone
