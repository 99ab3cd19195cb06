// The table of entry points for AMD: libamdhip64 of ROCm 5, 6 and 7.
#include <fmt/format.h>

#include <cstdlib>

#include "runtime/gpu_api.hpp"
#include "runtime/gpu_symbols.hpp"
#include "runtime/library_paths.hpp"
#include "runtime/shared_library.hpp"

namespace hone {

std::vector<std::string> hip_driver_names() {
  return rocm_library_names({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"});
}

GpuLibrary open_hip_library(const std::vector<std::string>& names) {
  GpuLibrary result;
  SharedLibrary library = SharedLibrary::open(names);
  if (!library) {
    result.problem = "AMD's HIP runtime: " + library.problem();
    return result;
  }
  GpuApi& api = result.api;
  api.backend = Backend::hip;
  api.library = library.name();

  SymbolFinder find(library);
  GpuApi::Status (*runtime_version)(int*) = nullptr;
  find.require(runtime_version, "hipRuntimeGetVersion");
  find.require(api.init, "hipInit");
  find.require(api.driver_version, "hipDriverGetVersion");
  find.require(api.device_count, "hipGetDeviceCount");
  find.require(api.device_get, "hipDeviceGet");
  find.require(api.device_name, "hipDeviceGetName");
  find.require(api.device_attribute, "hipDeviceGetAttribute");
  find.require(api.device_memory, "hipDeviceTotalMem");
  find.require(api.device_bus, "hipDeviceGetPCIBusId");
  find.require(api.current_device_get, "hipGetDevice");
  find.require(api.current_device_set, "hipSetDevice");
  find.require(api.context_synchronize, "hipDeviceSynchronize");
  find.require(api.allocate, "hipMalloc");
  find.require(api.release, "hipFree");
  find.require(api.copy_to_device, "hipMemcpyHtoDAsync");
  find.require(api.copy_to_host, "hipMemcpyDtoHAsync");
  find.require(api.set, "hipMemsetD8Async");
  find.require(api.module_load, "hipModuleLoadData");
  find.require(api.module_unload, "hipModuleUnload");
  find.require(api.module_function, "hipModuleGetFunction");
  find.require(api.function_get, "hipFuncGetAttribute");
  find.require(api.launch, "hipModuleLaunchKernel");
  find.require(api.stream_create, "hipStreamCreateWithFlags");
  find.require(api.stream_destroy, "hipStreamDestroy");
  find.require(api.stream_synchronize, "hipStreamSynchronize");
  find.require(api.stream_capturing, "hipStreamIsCapturing");
  find.require(api.event_create, "hipEventCreateWithFlags");
  find.require(api.event_destroy, "hipEventDestroy");
  find.require(api.event_elapsed, "hipEventElapsedTime");
  find.require(api.capture_begin, "hipStreamBeginCapture");
  find.require(api.capture_end, "hipStreamEndCapture");
  find.require(api.graph_create, "hipGraphCreate");
  find.require(api.graph_add_event, "hipGraphAddEventRecordNode");
  find.require(api.graph_add_graph, "hipGraphAddChildGraphNode");
  find.require(api.graph_instantiate, "hipGraphInstantiateWithFlags");
  find.prefer(api.graph_upload, "hipGraphUpload");
  find.require(api.graph_launch, "hipGraphLaunch");
  find.require(api.graph_executable_destroy, "hipGraphExecDestroy");
  find.require(api.graph_destroy, "hipGraphDestroy");
  find.require(api.hip_error_name, "hipGetErrorName");
  find.require(api.hip_error_text, "hipGetErrorString");
  find.require(api.hip_last_error, "hipGetLastError");
  // From ROCm 6 on the plain name gives the old layout for old callers, and may go one day.
  find.prefer(api.hip_device_properties, "hipGetDevicePropertiesR0600");
  find.prefer(api.hip_device_properties, "hipGetDeviceProperties");

  int version = 0;
  if (!find.missing().empty()) {
    result.problem = fmt::format("AMD's HIP runtime {} is too old: it has no {} (ROCm 5, 6 or 7 is needed)",
                                 library.name(), find.missing());
  } else if (const GpuApi::Status status = runtime_version(&version); status != 0) {
    result.problem =
        fmt::format("AMD's HIP runtime {}: hipRuntimeGetVersion: {}", library.name(), api.describe(status));
  } else if (const int major = version / 10'000'000; major >= 5) {
    // hipDeviceAttribute_t was renumbered once, for ROCm 5.0, and since then only grows: 5.0 to 7 agree on
    // these. In GpuAttribute's order.
    api.attribute_numbers = {63, 56, 87, 19, 74, 75, 23, 61};
  } else {
    result.problem = fmt::format("AMD's HIP runtime {} is version {}.{}: ROCm 5, 6 or 7 is needed",
                                 library.name(), major, version / 100'000 % 100);
  }
  library.keep();
  return result;
}

}  // namespace hone
