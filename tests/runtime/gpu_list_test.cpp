// What GPUs are listed, by stand-ins of CUDA and of three ROCm versions, and by KFD's topology.
#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "gpu_stub.hpp"
#include "runtime/gpu_device.hpp"
#include "runtime/kfd.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "hone-kfd-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }
  SystemFolders folders() const { return {path_ / "nodes", path_ / "pci"}; }

 private:
  fs::path path_;
};

/// A CPU, an MI300X at 0000:c1:00.0, and the same product elsewhere.
void write_topology(const TemporaryFolder& folder) {
  folder.write("nodes/0/properties",
               "cpu_cores_count 96\nsimd_count 0\nlocation_id 0\ndomain 0\ngfx_target_version 0\n");
  folder.write("nodes/0/caches/0/properties", "level 3\nsize 1048576\n");
  folder.write("nodes/1/properties",
               "cpu_cores_count 0\nsimd_count 1216\ngfx_target_version 90402\nlocation_id 49408\ndomain 0\n");
  folder.write("nodes/1/caches/0/properties", "processor_id_low 1\nlevel 1\nsize 32\n");
  folder.write("nodes/1/caches/1/properties", "level 2\nsize 4096\n");
  folder.write("nodes/1/caches/2/properties", "level 3\nsize 262144\n");
  folder.write("nodes/2/properties",
               "simd_count 1216\ngfx_target_version 90402\nlocation_id 49408\ndomain 1\n");
  folder.write("nodes/2/caches/0/properties", "level 3\nsize 1\n");
}

constexpr std::uint64_t MiB = 1024 * 1024;

}  // namespace

TEST_CASE("a CUDA device is listed with its limits") {
  cuda_stub().heal();
  const GpuList list = list_gpus(cuda_stub().driver);
  REQUIRE(list.problem == "");
  REQUIRE(list.devices.size() == 2);
  const DeviceInfo& device = list.devices[0];
  CHECK(device.backend == Backend::cuda);
  CHECK(device.index == 0);
  CHECK(list.devices[1].index == 1);
  CHECK(device.name == "Stub H200");
  CHECK(device.architecture == "sm_90a");
  CHECK(device.compute_units == 132);
  CHECK(device.max_threads == 1024);
  CHECK(device.warp_size == 32);
  CHECK(device.shared_memory_bytes == 232448);
  CHECK(device.last_level_cache_bytes == 62914560);
  CHECK(device.memory_bytes == 150754820096);
  CHECK(device.bus == "0000:19:00.0");
  CHECK(device.partition == "");
  CHECK_THAT(device.driver, Contains("CUDA 13.0"));
}

TEST_CASE("the same binary lists the devices of ROCm 5, 6 and 7") {
  TemporaryFolder folder;
  write_topology(folder);
  struct Expected {
    int rocm;
    std::string name, architecture, driver;
    int units;
    std::uint64_t shared, cache;
  };
  const std::vector<Expected> all{
      {5, "Stub MI210", "gfx90a:sramecc+:xnack-", "HIP 5.2.21153", 104, 65536, 8 * MiB},
      {6, "Stub MI300X", "gfx942:sramecc+:xnack-", "HIP 6.2.41134", 304, 65536, 4 * MiB},
      {7, "Stub MI350X", "gfx950:sramecc+:xnack-", "HIP 7.0.51831", 256, 163840, 4 * MiB},
  };
  for (const Expected& expected : all) {
    INFO("ROCm " << expected.rocm);
    Stub& stub = rocm_stub(expected.rocm);
    stub.heal();
    REQUIRE(stub.driver.problem == "");
    const GpuList list = list_gpus(stub.driver, {"/nowhere", "/nowhere"});
    REQUIRE(list.problem == "");
    const DeviceInfo& device = list.devices.at(0);
    CHECK(device.backend == Backend::hip);
    CHECK(device.name == expected.name);
    CHECK(device.architecture == expected.architecture);
    CHECK(device.compute_units == expected.units);
    CHECK(device.shared_memory_bytes == expected.shared);
    CHECK(device.max_threads == 1024);
    CHECK(device.warp_size == 64);
    CHECK(device.driver == expected.driver);
    CHECK(device.bus == "0000:c1:00.0");
    CHECK(device.last_level_cache_bytes == expected.cache);
    CHECK(stub.last_error() == 0);  // asking for what ROCm 5 does not know left no error behind

    const GpuList with_topology = list_gpus(stub.driver, folder.folders());
    CHECK(with_topology.devices.at(0).last_level_cache_bytes == 256 * MiB);
    CHECK(with_topology.devices.at(0).architecture == expected.architecture);
  }
}

TEST_CASE("KFD's topology tells cache and architecture of the GPU at an address") {
  TemporaryFolder folder;
  write_topology(folder);
  const auto node = find_kfd_node(folder.folders(), "0000:c1:00.0");
  REQUIRE(node);
  CHECK(node->last_level_cache_bytes == 256 * MiB);
  CHECK(node->architecture == "gfx942");
  CHECK(find_kfd_node(folder.folders(), "0000:C1:00.3"));
  CHECK(find_kfd_node(folder.folders(), "0001:c1:00.0")->last_level_cache_bytes == 1024);
  CHECK_FALSE(find_kfd_node(folder.folders(), "0000:c2:00.0"));
  CHECK_FALSE(find_kfd_node(folder.folders(), "0000:00:00.0"));  // the CPU
  CHECK_FALSE(find_kfd_node(folder.folders(), ""));
  CHECK_FALSE(find_kfd_node(folder.folders(), "nonsense"));
  CHECK_FALSE(find_kfd_node({"/nowhere", "/nowhere"}, "0000:c1:00.0"));

  folder.write("nodes/1/properties",
               "simd_count 440\ngfx_target_version 90010\nlocation_id 49408\ndomain 0\nrubbish");
  folder.write("nodes/1/caches/2/properties", "level three\nsize -1\n\xff\xfe");
  const auto changed = find_kfd_node(folder.folders(), "0000:c1:00.0");
  REQUIRE(changed);
  CHECK(changed->architecture == "gfx90a");
  CHECK(changed->last_level_cache_bytes == 4 * MiB);
  folder.write("nodes/1/properties",
               "simd_count 440\ngfx_target_version 110501\nlocation_id 49408\ndomain 0\n");
  CHECK(find_kfd_node(folder.folders(), "0000:c1:00.0")->architecture == "gfx1151");
}

TEST_CASE(
    "without HIP's word on the architecture KFD's is taken, and without either the device is a problem") {
  TemporaryFolder folder;
  write_topology(folder);
  rocm_stub(6).heal();
  GpuLibrary library = rocm_stub(6).driver;
  library.api.hip_device_properties = nullptr;
  CHECK(list_gpus(library, folder.folders()).devices.at(0).architecture == "gfx942");
  const GpuList list = list_gpus(library, {"/nowhere", "/nowhere"});
  CHECK(list.devices.empty());
  CHECK_THAT(list.problem, Contains("device 0: neither HIP nor KFD tells its architecture"));
}

TEST_CASE("the partition mode is read from the PCI device") {
  TemporaryFolder folder;
  CHECK(gpu_partition(folder.folders(), "0000:c1:00.0") == "");
  folder.write("pci/0000:c1:00.0/current_compute_partition", "CPX\n");
  CHECK(gpu_partition(folder.folders(), "0000:C1:00.0") == "CPX");
  folder.write("pci/0000:c1:00.0/current_memory_partition", "NPS4\n");
  CHECK(gpu_partition(folder.folders(), "0000:c1:00.0") == "CPX/NPS4");
  folder.write("pci/0000:c2:00.0/physfn/vendor", "0x1002\n");
  CHECK(gpu_partition(folder.folders(), "0000:c2:00.0") == "VF");
}

TEST_CASE("a driver that refuses is a problem in one line") {
  Stub& stub = cuda_stub();
  stub.heal();
  const auto problem = [&](const char* call, int status) {
    stub.fail_next(call, status);
    const GpuList list = list_gpus(stub.driver);
    CHECK_THAT(list.problem, !Contains("\n"));
    return list.problem;
  };
  CHECK_THAT(problem("cuInit", 100), Contains("shows no device"));
  CHECK_THAT(problem("cuInit", 1), Contains("initialising: CUDA_ERROR_INVALID_VALUE"));
  CHECK_THAT(problem("cuInit", 803), Contains("initialising: error 803"));
  CHECK_THAT(problem("cuDeviceGetCount", 100), Contains("shows no device"));
  CHECK_THAT(problem("cuDeviceGetCount", 2), Contains("counting devices: CUDA_ERROR_OUT_OF_MEMORY"));

  // One device that does not answer hides no other.
  stub.fail_next("cuDeviceGetAttribute", 1);
  const GpuList list = list_gpus(stub.driver);
  CHECK_THAT(list.problem, Contains("device 0: its compute units: CUDA_ERROR_INVALID_VALUE"));
  REQUIRE(list.devices.size() == 1);
  CHECK(list.devices[0].index == 1);
}

TEST_CASE("a library that is not there, or is no driver, is a problem in one line") {
  CHECK(open_cuda_library({"libhone-none.so.1", "libhone-none.so"}).problem ==
        "NVIDIA's driver: library not found (tried libhone-none.so.1, libhone-none.so)");
  CHECK_THAT(open_hip_library({"libhone-none.so.7", "/nowhere/libamdhip64.so"}).problem,
             Contains("library not found (tried libhone-none.so.7)"));
  TemporaryFolder folder;
  folder.write("libcuda.so.1", "not a library");
  const std::string file = (folder.folders().kfd_nodes.parent_path() / "libcuda.so.1").string();
  CHECK_THAT(open_cuda_library({file}).problem, Contains("cannot be loaded: " + file));
  // A library of the other vendor has none of the functions.
  CHECK_THAT(open_cuda_library({stub_folder("rocm6") + "/libamdhip64.so.6"}).problem,
             Contains("is too old: it has no cuInit"));
  CHECK_THAT(open_hip_library({stub_folder("cuda") + "/libcuda.so.1"}).problem,
             Contains("it has no hipRuntimeGetVersion"));
}

TEST_CASE("child: list devices", "[.]") {
  for (const DeviceInfo& device : list_devices().devices) {
    std::cout << name(device.backend) << '|' << device.name << '|' << device.architecture << '|'
              << device.compute_units << '|' << device.shared_memory_bytes << '|'
              << device.last_level_cache_bytes << std::endl;
  }
  for (const BackendProblem& problem : list_devices().problems) {
    std::cout << "problem|" << name(problem.backend) << '|' << problem.why << std::endl;
  }
}

TEST_CASE("devices are found by the libraries' names") {
  const auto listed = [](const std::string& folder) {
    const std::string command = "LD_LIBRARY_PATH=" + stub_folder(folder) + ":$LD_LIBRARY_PATH " +
                                fs::read_symlink("/proc/self/exe").string() + " 'child: list devices' 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string output;
    std::array<char, 4096> part{};
    while (const std::size_t size = fread(part.data(), 1, part.size(), pipe))
      output.append(part.data(), size);
    CHECK(pclose(pipe) == 0);
    return output;
  };
  CHECK_THAT(listed("cuda"), Contains("cuda|Stub H200|sm_90a|132|232448|62914560"));
  CHECK_THAT(listed("rocm5"), Contains("hip|Stub MI210|gfx90a:sramecc+:xnack-|104|65536|8388608"));
  CHECK_THAT(listed("rocm6"), Contains("hip|Stub MI300X|gfx942:sramecc+:xnack-|304|65536|"));
  CHECK_THAT(listed("rocm7"), Contains("hip|Stub MI350X|gfx950:sramecc+:xnack-|256|163840|"));
  CHECK_THAT(listed("rocm7"), Contains("\nhost|"));
}
