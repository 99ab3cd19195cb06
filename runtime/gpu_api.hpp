// The driver entry points that hone's one GPU device needs, as a table. CUDA's driver API and HIP's module
// API are one to one, so that cuda_api.cpp and hip_api.cpp only differ in names, numbers and the few places
// marked below.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device.hpp"

namespace hone {

/// What is asked of a device, one at a time: properties structs change their layout between versions.
enum class GpuAttribute : std::uint8_t {
  compute_units,
  max_threads,
  warp_size,
  l2_cache_bytes,
  shared_per_block,
  shared_per_block_optin,
  capability_major,
  capability_minor,
};
inline constexpr std::size_t gpu_attribute_count = 8;

/// CUlaunchAttribute: a number, and a value of up to 64 bytes.
struct GpuLaunchAttribute {
  int id = 0;
  int padding = 0;
  union {
    char bytes[64];
    int number;
    unsigned axes[3];
  } value{};
};

/// CUlaunchConfig.
struct GpuLaunchConfiguration {
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  unsigned shared_bytes = 0;
  void* stream = nullptr;
  GpuLaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

struct GpuApi {
  using Status = int;    ///< 0: done
  using Handle = void*;  ///< module, function, stream, event, graph, context
  using Memory = void*;  ///< a device address; CUdeviceptr is an integer of the same size
  using Ordinal = int;   ///< CUdevice, hipDevice_t

  Backend backend = Backend::cuda;
  std::string library;                                       ///< the file name that was opened
  std::array<int, gpu_attribute_count> attribute_numbers{};  ///< by GpuAttribute

  Status (*init)(unsigned flags) = nullptr;
  Status (*driver_version)(int* version) = nullptr;
  Status (*device_count)(int* count) = nullptr;
  Status (*device_get)(Ordinal* device, int index) = nullptr;
  Status (*device_name)(char* name, int length, Ordinal device) = nullptr;
  Status (*device_attribute)(int* value, int attribute, Ordinal device) = nullptr;
  Status (*device_memory)(std::size_t* bytes, Ordinal device) = nullptr;
  Status (*device_bus)(char* text, int length, Ordinal device) = nullptr;

  /// cuTensorMapEncodeTiled; absent where there are no tensor maps: HIP, and CUDA before 12.0.
  Status (*encode_tensor_map)(void* map, int type, std::uint32_t rank, void* address,
                              const std::uint64_t* extent, const std::uint64_t* stride,
                              const std::uint32_t* box, const std::uint32_t* step, int interleave,
                              int swizzle, int promotion, int fill) = nullptr;
  /// How many of the launch's clusters the device runs at a time; absent where there are no clusters.
  Status (*most_clusters)(int* count, Handle function, const GpuLaunchConfiguration* configuration) = nullptr;

  // CUDA: a thread has a current context.
  Status (*context_retain)(Handle* context, Ordinal device) = nullptr;
  Status (*context_release)(Ordinal device) = nullptr;
  Status (*context_get)(Handle* context) = nullptr;
  Status (*context_set)(Handle context) = nullptr;
  Status (*context_synchronize)() = nullptr;  ///< of both: everything on the current device
  // HIP: a thread has a current device.
  Status (*current_device_get)(int* device) = nullptr;
  Status (*current_device_set)(int device) = nullptr;

  Status (*allocate)(Memory* memory, std::size_t bytes) = nullptr;
  Status (*release)(Memory memory) = nullptr;
  Status (*copy_to_device)(Memory to, const void* from, std::size_t bytes, Handle stream) = nullptr;
  Status (*copy_to_host)(void* to, Memory from, std::size_t bytes, Handle stream) = nullptr;
  Status (*set)(Memory to, unsigned char value, std::size_t bytes, Handle stream) = nullptr;

  Status (*module_load)(Handle* module, const void* image) = nullptr;
  Status (*module_unload)(Handle module) = nullptr;
  Status (*module_function)(Handle* function, Handle module, const char* name) = nullptr;
  Status (*function_get)(int* value, int attribute, Handle function) = nullptr;
  Status (*function_set)(Handle function, int attribute, int value) = nullptr;  ///< CUDA only
  Status (*launch)(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, Handle stream,
                   void** parameters, void** extra) = nullptr;
  /// Absent where launches cannot overlap, in a capture or outside: HIP, and CUDA before 12.3.
  Status (*launch_with_attributes)(const GpuLaunchConfiguration* configuration, Handle function,
                                   void** parameters, void** extra) = nullptr;

  Status (*stream_create)(Handle* stream, unsigned flags) = nullptr;
  Status (*stream_destroy)(Handle stream) = nullptr;
  Status (*stream_synchronize)(Handle stream) = nullptr;
  Status (*stream_capturing)(Handle stream, int* status) = nullptr;  ///< 0: it is not
  Status (*event_create)(Handle* event, unsigned flags) = nullptr;
  Status (*event_destroy)(Handle event) = nullptr;
  Status (*event_elapsed)(float* milliseconds, Handle start, Handle stop) = nullptr;

  Status (*capture_begin)(Handle stream, int mode) = nullptr;
  Status (*capture_end)(Handle stream, Handle* graph) = nullptr;
  Status (*graph_create)(Handle* graph, unsigned flags) = nullptr;
  Status (*graph_add_event)(Handle* node, Handle graph, const Handle* after, std::size_t count,
                            Handle event) = nullptr;
  Status (*graph_add_graph)(Handle* node, Handle graph, const Handle* after, std::size_t count,
                            Handle child) = nullptr;
  Status (*graph_instantiate)(Handle* executable, Handle graph, unsigned long long flags) = nullptr;
  Status (*graph_upload)(Handle executable, Handle stream) = nullptr;  ///< absent before ROCm 5.3
  Status (*graph_launch)(Handle executable, Handle stream) = nullptr;
  Status (*graph_executable_destroy)(Handle executable) = nullptr;
  Status (*graph_destroy)(Handle graph) = nullptr;

  Status (*cuda_error_name)(Status status, const char** text) = nullptr;
  Status (*cuda_error_text)(Status status, const char** text) = nullptr;
  const char* (*hip_error_name)(Status status) = nullptr;
  const char* (*hip_error_text)(Status status) = nullptr;
  Status (*hip_last_error)() = nullptr;  ///< also forgets it, so that a caller's next check does not see ours
  Status (*hip_device_properties)(void* properties,
                                  int device) = nullptr;  ///< for the architecture's name only

  /// `CUDA_ERROR_INVALID_VALUE (invalid argument)`.
  std::string describe(Status status) const;
  Status attribute(int& value, GpuAttribute attribute, Ordinal device) const {
    return device_attribute(&value, attribute_numbers[static_cast<std::size_t>(attribute)], device);
  }
};

/// An opened table, or one line that says why there is none.
struct GpuLibrary {
  GpuApi api;
  std::string problem;  ///< empty: `api` is complete
};

/// Opens the driver library from the first of `names` that loads and fills the table. Nothing is initialised.
GpuLibrary open_cuda_library(const std::vector<std::string>& names);
GpuLibrary open_hip_library(const std::vector<std::string>& names);

/// File names and places of the libraries, in the order they are tried.
std::vector<std::string> cuda_driver_names();
std::vector<std::string> hip_driver_names();

/// The process's own table for a backend: opened on the first call and kept until the process ends.
const GpuLibrary& gpu_library(Backend backend);

}  // namespace hone
