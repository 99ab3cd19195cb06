#include "bench/null_driver.hpp"

#include <elf.h>

#include <cstring>

namespace hone::bench {
namespace {

int some_object;

template <typename... Arguments>
int nothing(Arguments...) {
  return 0;
}

/// For entry points whose first parameter takes a new object.
template <typename... Arguments>
int give_object(void** object, Arguments...) {
  *object = &some_object;
  return 0;
}

template <typename... Arguments>
int give_zero(int* value, Arguments...) {
  *value = 0;
  return 0;
}

}  // namespace

const GpuLibrary& null_driver() {
  static const GpuLibrary library = [] {
    GpuLibrary made;
    GpuApi& api = made.api;
    api.library = "no driver";
    api.init = nothing;
    api.device_get = give_zero;
    api.context_retain = give_object;
    api.context_release = nothing;
    api.context_get = give_object;
    api.context_set = nothing;
    api.context_synchronize = nothing;
    api.module_load = give_object;
    api.module_unload = nothing;
    api.module_function = give_object;
    api.function_get = give_zero;
    api.function_set = nothing;
    api.launch = nothing;
    api.stream_create = give_object;
    api.stream_destroy = nothing;
    api.stream_synchronize = nothing;
    api.stream_capturing = nothing;
    return made;
  }();
  return library;
}

DeviceInfo null_device() {
  DeviceInfo device;
  device.backend = Backend::cuda;
  device.name = "no device";
  device.architecture = "sm_90a";
  device.compute_units = 132;
  device.memory_bytes = 150754820096;
  device.last_level_cache_bytes = 62914560;
  device.shared_memory_bytes = 232448;
  device.max_threads = 1024;
  device.warp_size = 32;
  return device;
}

std::vector<std::byte> null_image() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 1;
  std::vector<std::byte> image(sizeof header + sizeof(Elf64_Shdr));
  std::memcpy(image.data(), &header, sizeof header);
  return image;
}

}  // namespace hone::bench
