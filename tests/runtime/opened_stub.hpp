// A Device on a stand-in's GPU, and launches of the stand-in's kernels.
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "runtime/gpu_device.hpp"
#include "tests/runtime/gpu_stub.hpp"

namespace hone::test {

struct Opened {
  Stub& stub;
  DeviceInfo info;
  long alive_before = 0;
  std::unique_ptr<Device> device;

  explicit Opened(Stub& which) : stub(which) {
    stub.heal();
    const GpuList list = list_gpus(stub.driver, {"/nowhere", "/nowhere"});
    REQUIRE(list.problem == "");
    REQUIRE(list.devices.size() == 2);
    info = list.devices[0];
    alive_before = stub.alive();
    device = open_gpu_device(stub.driver, info);
  }
  ~Opened() {
    device.reset();
    CHECK((stub.alive() == alive_before));  // nothing is left behind
    stub.heal();
  }
};

/// Launch arguments of the stand-in's kernel `add`.
struct Add {
  void *out, *a, *b;
  int n;
  std::array<void*, 4> parameters{&out, &a, &b, &n};
  Launch launch(const Kernel& kernel) { return {&kernel, {.block = {256, 1, 1}}, parameters.data()}; }
};

inline std::vector<Stub*> all_stubs() {
  return {&cuda_stub(), &rocm_stub(5), &rocm_stub(6), &rocm_stub(7)};
}

}  // namespace hone::test
