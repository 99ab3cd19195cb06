// The stand-ins for drivers built from stubs/stub_gpu.c, and what tests steer in them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/gpu_api.hpp"
#include "runtime/shared_library.hpp"

namespace hone::test {

inline std::string stub_folder(const std::string& folder) {
  return std::string(HONE_BINARY_DIR) + "/stubs/" + folder;
}

/// The stand-in's tensor map.
struct StubTensorMap {
  void* address;
  std::array<std::uint64_t, 5> extent;
  std::array<std::uint64_t, 4> stride;
  std::array<std::uint32_t, 5> box;
  std::uint8_t type, rank, swizzle, promotion;  ///< CUDA's numbers
};

/// How the stand-in was told to run its last kernel.
struct StubLaunch {
  std::array<unsigned, 3> cluster;
  int overlap;
};

/// One driver stand-in, loaded for the life of the process; `heal()` gives it back its first state.
struct Stub {
  SharedLibrary library;  ///< the same handle that the table's functions are in
  GpuLibrary driver;
  void (*fail_next)(const char* call, int status) = nullptr;
  long (*launches)() = nullptr;
  long (*waits)() = nullptr;
  long (*encodes)() = nullptr;  ///< of tensor maps
  const StubLaunch* (*last_launch)() = nullptr;
  long (*alive)() = nullptr;
  int (*last_error)() = nullptr;
  void (*heal)() = nullptr;

  Stub(Backend backend, const std::string& folder, const std::string& file) {
    const std::string path = stub_folder(folder) + "/" + file;
    driver = backend == Backend::cuda ? open_cuda_library({path}) : open_hip_library({path});
    library = SharedLibrary::open({path});
    fail_next = library.find<decltype(fail_next)>("stub_fail_next");
    launches = library.find<decltype(launches)>("stub_launches");
    encodes = library.find<decltype(encodes)>("stub_encodes");
    last_launch = library.find<decltype(last_launch)>("stub_last_launch");
    waits = library.find<decltype(waits)>("stub_waits");
    alive = library.find<decltype(alive)>("stub_alive");
    last_error = library.find<decltype(last_error)>("stub_last_error");
    heal = library.find<decltype(heal)>("stub_heal");
  }
};

inline Stub& cuda_stub() {
  static Stub stub(Backend::cuda, "cuda", "libcuda.so.1");
  return stub;
}

/// CUDA 11, without what later ones brought.
inline Stub& old_cuda_stub() {
  static Stub stub(Backend::cuda, "cuda11", "libcuda.so.1");
  return stub;
}

/// ROCm 5, 6 or 7.
inline Stub& rocm_stub(int version) {
  static Stub five(Backend::hip, "rocm5", "libamdhip64.so.5");
  static Stub six(Backend::hip, "rocm6", "libamdhip64.so.6");
  static Stub seven(Backend::hip, "rocm7", "libamdhip64.so.7");
  return version == 5 ? five : version == 6 ? six : seven;
}

/// The smallest thing that is a whole ELF image: a header and one empty section.
inline std::vector<std::byte> tiny_elf() {
  std::vector<std::byte> bytes(128);
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
  };
  put(0, 0x464c457f, 4);
  put(4, 0x010102, 3);  // 64 bits, little-endian, version 1
  put(40, 64, 8);       // section headers' place
  put(58, 64, 2);       // their size
  put(60, 1, 2);        // their count
  return bytes;
}

}  // namespace hone::test
