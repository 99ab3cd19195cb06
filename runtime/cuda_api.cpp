// The table of entry points for NVIDIA: libcuda.
#include <fmt/format.h>

#include "runtime/gpu_api.hpp"
#include "runtime/gpu_symbols.hpp"
#include "runtime/shared_library.hpp"

namespace hone {

std::vector<std::string> cuda_driver_names() {
  return {"libcuda.so.1", "libcuda.so"};
}

GpuLibrary open_cuda_library(const std::vector<std::string>& names) {
  GpuLibrary result;
  SharedLibrary library = SharedLibrary::open(names);
  if (!library) {
    result.problem = "NVIDIA's driver: " + library.problem();
    return result;
  }
  GpuApi& api = result.api;
  api.backend = Backend::cuda;
  api.library = library.name();
  // CU_DEVICE_ATTRIBUTE_*: fixed for all versions of the driver. In GpuAttribute's order.
  api.attribute_numbers = {16, 1, 10, 38, 8, 97, 75, 76};

  // The names are the versioned ones that cuda.h maps the plain ones to.
  SymbolFinder find(library);
  find.require(api.init, "cuInit");
  find.require(api.driver_version, "cuDriverGetVersion");
  find.require(api.device_count, "cuDeviceGetCount");
  find.require(api.device_get, "cuDeviceGet");
  find.require(api.device_name, "cuDeviceGetName");
  find.require(api.device_attribute, "cuDeviceGetAttribute");
  find.require(api.device_memory, "cuDeviceTotalMem_v2");
  find.require(api.device_bus, "cuDeviceGetPCIBusId");
  find.require(api.context_retain, "cuDevicePrimaryCtxRetain");
  find.require(api.context_release, "cuDevicePrimaryCtxRelease_v2");
  find.require(api.context_get, "cuCtxGetCurrent");
  find.require(api.context_set, "cuCtxSetCurrent");
  find.require(api.context_synchronize, "cuCtxSynchronize");
  find.require(api.allocate, "cuMemAlloc_v2");
  find.require(api.release, "cuMemFree_v2");
  find.require(api.copy_to_device, "cuMemcpyHtoDAsync_v2");
  find.require(api.copy_to_host, "cuMemcpyDtoHAsync_v2");
  find.require(api.set, "cuMemsetD8Async");
  find.require(api.module_load, "cuModuleLoadData");
  find.require(api.module_unload, "cuModuleUnload");
  find.require(api.module_function, "cuModuleGetFunction");
  find.require(api.function_get, "cuFuncGetAttribute");
  find.require(api.function_set, "cuFuncSetAttribute");
  find.require(api.launch, "cuLaunchKernel");
  constexpr int captures_overlap = 12030;  // CUDA 12.3: a captured graph has programmatic edges
  int version = 0;
  if (api.driver_version != nullptr && api.driver_version(&version) == 0 && version >= captures_overlap)
    find.prefer(api.launch_with_attributes, "cuLaunchKernelEx");
  find.prefer(api.encode_tensor_map, "cuTensorMapEncodeTiled");
  find.prefer(api.most_clusters, "cuOccupancyMaxActiveClusters");
  find.require(api.stream_create, "cuStreamCreate");
  find.require(api.stream_destroy, "cuStreamDestroy_v2");
  find.require(api.stream_synchronize, "cuStreamSynchronize");
  find.require(api.stream_capturing, "cuStreamIsCapturing");
  find.require(api.event_create, "cuEventCreate");
  find.require(api.event_destroy, "cuEventDestroy_v2");
  find.prefer(api.event_elapsed, "cuEventElapsedTime_v2");
  if (api.event_elapsed == nullptr) find.require(api.event_elapsed, "cuEventElapsedTime");
  find.require(api.capture_begin, "cuStreamBeginCapture_v2");
  find.require(api.capture_end, "cuStreamEndCapture");
  find.require(api.graph_create, "cuGraphCreate");
  find.require(api.graph_add_event, "cuGraphAddEventRecordNode");
  find.require(api.graph_add_graph, "cuGraphAddChildGraphNode");
  find.require(api.graph_instantiate, "cuGraphInstantiateWithFlags");
  find.require(api.graph_upload, "cuGraphUpload");
  find.require(api.graph_launch, "cuGraphLaunch");
  find.require(api.graph_executable_destroy, "cuGraphExecDestroy");
  find.require(api.graph_destroy, "cuGraphDestroy");
  find.require(api.cuda_error_name, "cuGetErrorName");
  find.require(api.cuda_error_text, "cuGetErrorString");

  if (!find.missing().empty()) {
    result.problem = fmt::format("NVIDIA's driver {} is too old: it has no {} (CUDA 11.4 or newer is needed)",
                                 library.name(), find.missing());
  }
  library.keep();
  return result;
}

}  // namespace hone
