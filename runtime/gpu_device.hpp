// The one Device of all GPUs, over a table of driver entry points.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/gpu_api.hpp"
#include "runtime/kfd.hpp"

namespace hone {

/// The GPUs that a driver shows, or one line why it shows none. Never throws; runs nothing on them.
struct GpuList {
  std::vector<DeviceInfo> devices;
  std::string problem;
};
GpuList list_gpus(const GpuLibrary& library, const SystemFolders& folders = {});

/// Opens GPU `info.index` of the library. `library` must outlive the device. Throws Error{environment}.
std::unique_ptr<Device> open_gpu_device(const GpuLibrary& library, const DeviceInfo& info);

/// Whether the driver, after this error, refuses everything else that the process asks of the device.
bool is_sticky(GpuApi::Status status) noexcept;

}  // namespace hone
