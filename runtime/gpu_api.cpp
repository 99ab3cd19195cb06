#include "runtime/gpu_api.hpp"

#include <fmt/format.h>

namespace hone {

std::string GpuApi::describe(Status status) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (cuda_error_name != nullptr) {
    if (cuda_error_name(status, &name) != 0) name = nullptr;
    if (cuda_error_text(status, &text) != 0) text = nullptr;
  } else {
    name = hip_error_name(status);
    text = hip_error_text(status);
  }
  if (name == nullptr) return fmt::format("error {}", status);
  if (text == nullptr || std::string(text) == name) return name;
  return fmt::format("{} ({})", name, text);
}

const GpuLibrary& gpu_library(Backend backend) {
  // Never destroyed: driver threads and static objects of the application may still use it while the process
  // exits.
  static const GpuLibrary* const cuda = new GpuLibrary(open_cuda_library(cuda_driver_names()));
  if (backend == Backend::cuda) return *cuda;
  static const GpuLibrary* const hip = new GpuLibrary(open_hip_library(hip_driver_names()));
  return *hip;
}

}  // namespace hone
