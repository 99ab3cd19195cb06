// The CPU as a device: a launch's blocks are split among a pool of threads. Launches are synchronous, one at
// a time; launches from several threads queue. A batch keeps no copy of a launch's parameter values: what
// Launch::parameters points to must stay as it is until the batch is gone.
#pragma once

#include <memory>

#include "runtime/device.hpp"

namespace hone {

/// This machine's CPU.
DeviceInfo host_device_info();

std::unique_ptr<Device> open_host_device(const DeviceInfo& info);

}  // namespace hone
