// The tables of entry points against the vendors' own headers and libraries, where those are installed.
#include <catch2/catch.hpp>
#include <type_traits>

#include "gpu_stub.hpp"
#include "runtime/gpu_api.hpp"
#include "runtime/gpu_device.hpp"
#include "runtime/library_paths.hpp"
#include "runtime/rtc_compiler.hpp"

#if __has_include(<cuda.h>)
#define HONE_HAS_CUDA
#include <cuda.h>
#elif __has_include("/usr/local/cuda/include/cuda.h")
#define HONE_HAS_CUDA
#include "/usr/local/cuda/include/cuda.h"
#endif
#if __has_include("/usr/local/cuda/include/nvrtc.h")
#define HONE_HAS_NVRTC
#include "/usr/local/cuda/include/nvrtc.h"
#endif
#if __has_include(<hip/hip_runtime_api.h>)
#define HONE_HAS_HIP
#define __HIP_PLATFORM_AMD__ 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#pragma GCC diagnostic pop
#endif

using namespace hone;
using namespace hone::test;

namespace {

/// Two function pointers a caller may confuse: as many parameters, each of one size and passed in the same
/// kind of register, and results alike.
template <typename A, typename B>
struct Alike : std::bool_constant<sizeof(A) == sizeof(B) &&
                                  std::is_floating_point_v<A> == std::is_floating_point_v<B>> {};
template <>
struct Alike<void, void> : std::true_type {};
template <typename ResultA, typename ResultB, typename... A, typename... B>
struct Alike<ResultA (*)(A...), ResultB (*)(B...)> {
  static constexpr bool count() {
    if constexpr (sizeof...(A) == sizeof...(B)) {
      return (Alike<A, B>::value && ...) && Alike<ResultA, ResultB>::value;
    } else {
      return false;
    }
  }
  static constexpr bool value = count();
};

#define HONE_ALIKE(member, function) \
  static_assert(Alike<decltype(GpuApi::member), decltype(&(function))>::value, #function)
#define HONE_RTC_ALIKE(member, function) \
  static_assert(Alike<decltype(RtcApi::member), decltype(&(function))>::value, #function)

}  // namespace

#ifdef HONE_HAS_CUDA
HONE_ALIKE(init, cuInit);
HONE_ALIKE(driver_version, cuDriverGetVersion);
HONE_ALIKE(device_count, cuDeviceGetCount);
HONE_ALIKE(device_get, cuDeviceGet);
HONE_ALIKE(device_name, cuDeviceGetName);
HONE_ALIKE(device_attribute, cuDeviceGetAttribute);
HONE_ALIKE(device_memory, cuDeviceTotalMem);
HONE_ALIKE(device_bus, cuDeviceGetPCIBusId);
HONE_ALIKE(context_retain, cuDevicePrimaryCtxRetain);
HONE_ALIKE(context_release, cuDevicePrimaryCtxRelease);
HONE_ALIKE(context_get, cuCtxGetCurrent);
HONE_ALIKE(context_set, cuCtxSetCurrent);
HONE_ALIKE(allocate, cuMemAlloc);
HONE_ALIKE(release, cuMemFree);
HONE_ALIKE(copy_to_device, cuMemcpyHtoDAsync);
HONE_ALIKE(copy_to_host, cuMemcpyDtoHAsync);
HONE_ALIKE(set, cuMemsetD8Async);
HONE_ALIKE(module_load, cuModuleLoadData);
HONE_ALIKE(module_unload, cuModuleUnload);
HONE_ALIKE(module_function, cuModuleGetFunction);
HONE_ALIKE(function_get, cuFuncGetAttribute);
HONE_ALIKE(function_set, cuFuncSetAttribute);
HONE_ALIKE(launch, cuLaunchKernel);
HONE_ALIKE(stream_create, cuStreamCreate);
HONE_ALIKE(stream_destroy, cuStreamDestroy);
HONE_ALIKE(stream_synchronize, cuStreamSynchronize);
HONE_ALIKE(event_create, cuEventCreate);
HONE_ALIKE(event_destroy, cuEventDestroy);
HONE_ALIKE(event_elapsed, cuEventElapsedTime);
HONE_ALIKE(capture_begin, cuStreamBeginCapture);
HONE_ALIKE(capture_end, cuStreamEndCapture);
HONE_ALIKE(graph_create, cuGraphCreate);
HONE_ALIKE(graph_add_event, cuGraphAddEventRecordNode);
HONE_ALIKE(graph_add_graph, cuGraphAddChildGraphNode);
HONE_ALIKE(graph_instantiate, cuGraphInstantiateWithFlags);
HONE_ALIKE(graph_upload, cuGraphUpload);
HONE_ALIKE(graph_launch, cuGraphLaunch);
HONE_ALIKE(graph_executable_destroy, cuGraphExecDestroy);
HONE_ALIKE(graph_destroy, cuGraphDestroy);
HONE_ALIKE(cuda_error_name, cuGetErrorName);
HONE_ALIKE(cuda_error_text, cuGetErrorString);

TEST_CASE("CUDA's numbers are cuda.h's") {
  const std::array<int, gpu_attribute_count> expected{
      CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
      CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
      CU_DEVICE_ATTRIBUTE_WARP_SIZE,
      CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
  };
  CHECK(cuda_stub().driver.api.attribute_numbers == expected);
  STATIC_REQUIRE(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES == 1);
  STATIC_REQUIRE(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == 8);
  STATIC_REQUIRE(CU_STREAM_NON_BLOCKING == 1);
  STATIC_REQUIRE(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL == 1);
  STATIC_REQUIRE(CU_EVENT_DEFAULT == 0);
  STATIC_REQUIRE(CUDA_ERROR_NO_DEVICE == 100);
  for (const CUresult status :
       {CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_ILLEGAL_ADDRESS,
        CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_ASSERT,
        CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_MISALIGNED_ADDRESS,
        CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC, CUDA_ERROR_LAUNCH_FAILED,
        CUDA_ERROR_UNKNOWN}) {
    CHECK(is_sticky(status));
  }
  for (const CUresult status :
       {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_INVALID_IMAGE,
        CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_NOT_FOUND, CUDA_ERROR_NOT_SUPPORTED}) {
    CHECK_FALSE(is_sticky(status));
  }
}
#endif

TEST_CASE("every entry of CUDA's table is in the toolkit's libcuda") {
  const std::string file = "/usr/local/cuda/lib64/stubs/libcuda.so";
  if (!std::filesystem::exists(file)) {
    WARN("no CUDA toolkit here: not checked against its " << file);
    return;
  }
  const GpuLibrary library = open_cuda_library({file});
  CHECK(library.problem == "");
  const GpuList list = list_gpus(library);  // that library only says that it is none
  CHECK(list.devices.empty());
  CHECK_THAT(list.problem, Catch::Contains("initialising: "));
}

#ifdef HONE_HAS_NVRTC
HONE_RTC_ALIKE(create, nvrtcCreateProgram);
HONE_RTC_ALIKE(destroy, nvrtcDestroyProgram);
HONE_RTC_ALIKE(compile, nvrtcCompileProgram);
HONE_RTC_ALIKE(log_size, nvrtcGetProgramLogSize);
HONE_RTC_ALIKE(log, nvrtcGetProgramLog);
HONE_RTC_ALIKE(code_size, nvrtcGetCUBINSize);
HONE_RTC_ALIKE(code, nvrtcGetCUBIN);
HONE_RTC_ALIKE(error, nvrtcGetErrorString);
#endif

#ifdef HONE_HAS_HIP
HONE_ALIKE(init, hipInit);
HONE_ALIKE(driver_version, hipDriverGetVersion);
HONE_ALIKE(device_count, hipGetDeviceCount);
HONE_ALIKE(device_get, hipDeviceGet);
HONE_ALIKE(device_name, hipDeviceGetName);
HONE_ALIKE(device_attribute, hipDeviceGetAttribute);
HONE_ALIKE(device_memory, hipDeviceTotalMem);
HONE_ALIKE(device_bus, hipDeviceGetPCIBusId);
HONE_ALIKE(current_device_get, hipGetDevice);
HONE_ALIKE(current_device_set, hipSetDevice);
static_assert(Alike<decltype(GpuApi::allocate), hipError_t (*)(void**, std::size_t)>::value, "hipMalloc");
HONE_ALIKE(release, hipFree);
HONE_ALIKE(copy_to_device, hipMemcpyHtoDAsync);
HONE_ALIKE(copy_to_host, hipMemcpyDtoHAsync);
HONE_ALIKE(set, hipMemsetD8Async);
HONE_ALIKE(module_load, hipModuleLoadData);
HONE_ALIKE(module_unload, hipModuleUnload);
HONE_ALIKE(module_function, hipModuleGetFunction);
HONE_ALIKE(function_get, hipFuncGetAttribute);
HONE_ALIKE(launch, hipModuleLaunchKernel);
HONE_ALIKE(stream_create, hipStreamCreateWithFlags);
HONE_ALIKE(stream_destroy, hipStreamDestroy);
HONE_ALIKE(stream_synchronize, hipStreamSynchronize);
HONE_ALIKE(event_create, hipEventCreateWithFlags);
HONE_ALIKE(event_destroy, hipEventDestroy);
HONE_ALIKE(event_elapsed, hipEventElapsedTime);
HONE_ALIKE(capture_begin, hipStreamBeginCapture);
HONE_ALIKE(capture_end, hipStreamEndCapture);
HONE_ALIKE(graph_create, hipGraphCreate);
HONE_ALIKE(graph_add_event, hipGraphAddEventRecordNode);
HONE_ALIKE(graph_add_graph, hipGraphAddChildGraphNode);
HONE_ALIKE(graph_instantiate, hipGraphInstantiateWithFlags);
HONE_ALIKE(graph_launch, hipGraphLaunch);
HONE_ALIKE(graph_executable_destroy, hipGraphExecDestroy);
HONE_ALIKE(graph_destroy, hipGraphDestroy);
HONE_ALIKE(hip_error_name, hipGetErrorName);
HONE_ALIKE(hip_error_text, hipGetErrorString);
HONE_ALIKE(hip_last_error, hipGetLastError);
HONE_RTC_ALIKE(create, hiprtcCreateProgram);
HONE_RTC_ALIKE(destroy, hiprtcDestroyProgram);
HONE_RTC_ALIKE(compile, hiprtcCompileProgram);
HONE_RTC_ALIKE(log_size, hiprtcGetProgramLogSize);
HONE_RTC_ALIKE(log, hiprtcGetProgramLog);
HONE_RTC_ALIKE(code_size, hiprtcGetCodeSize);
HONE_RTC_ALIKE(code, hiprtcGetCode);
HONE_RTC_ALIKE(error, hiprtcGetErrorString);

TEST_CASE("HIP's numbers are hip_runtime_api.h's") {
  const std::array<int, gpu_attribute_count> expected{
      hipDeviceAttributeMultiprocessorCount,
      hipDeviceAttributeMaxThreadsPerBlock,
      hipDeviceAttributeWarpSize,
      hipDeviceAttributeL2CacheSize,
      hipDeviceAttributeMaxSharedMemoryPerBlock,
      hipDeviceAttributeSharedMemPerBlockOptin,
      hipDeviceAttributeComputeCapabilityMajor,
      hipDeviceAttributeComputeCapabilityMinor,
  };
  for (const int rocm : {5, 6, 7}) CHECK(rocm_stub(rocm).driver.api.attribute_numbers == expected);
  STATIC_REQUIRE(hipStreamNonBlocking == 1);
  STATIC_REQUIRE(hipStreamCaptureModeThreadLocal == 1);
  STATIC_REQUIRE(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES == 1);
  STATIC_REQUIRE(hipErrorNoDevice == 100);
  STATIC_REQUIRE(hipErrorInvalidDevice == 101);
  STATIC_REQUIRE(sizeof(hipDeviceProp_t) <= 16 * 1024);
  for (const hipError_t status : {hipErrorECCNotCorrectable, hipErrorIllegalAddress, hipErrorLaunchTimeOut,
                                  hipErrorContextIsDestroyed, hipErrorAssert, hipErrorLaunchFailure,
                                  hipErrorUnknown, hipErrorRuntimeMemory, hipErrorRuntimeOther}) {
    CHECK(is_sticky(status));
  }
  for (const hipError_t status :
       {hipErrorOutOfMemory, hipErrorInvalidValue, hipErrorLaunchOutOfResources, hipErrorNotFound}) {
    CHECK_FALSE(is_sticky(status));
  }
}
#endif

TEST_CASE("every entry of HIP's table is in the installed libamdhip64") {
  const GpuLibrary library = open_hip_library(hip_driver_names());
  if (library.problem.find("library not found") != std::string::npos) {
    WARN("no libamdhip64 here: not checked against it");
    return;
  }
  CHECK(library.problem == "");
  // Listing works with and without a GPU.
  const GpuList list = list_gpus(library);
  CHECK(list.devices.empty() != list.problem.empty());
}

TEST_CASE("toolkits' folders are searched after the loader's") {
  setenv("ROCM_PATH", "/some/rocm", 1);
  const std::vector<std::string> names = rocm_library_names({"liba.so.2", "liba.so.1"});
  unsetenv("ROCM_PATH");
  REQUIRE(names.size() >= 6);
  CHECK(names[0] == "liba.so.2");
  CHECK(names[1] == "liba.so.1");
  CHECK(names[2] == "/some/rocm/lib64/liba.so.2");
  CHECK(names[4] == "/some/rocm/lib/liba.so.2");
}
