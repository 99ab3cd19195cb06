// The GPU device over stand-ins of the drivers: CUDA's and three ROCm's.
#include <array>
#include <catch2/catch.hpp>
#include <numeric>
#include <thread>

#include "tests/runtime/opened_stub.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Contains;

TEST_CASE("a GPU copies, fills, launches and times") {
  for (Stub* const stub : all_stubs()) {
    INFO(stub->driver.api.library);
    Opened opened(*stub);
    Device& device = *opened.device;
    CHECK(device.info().name == opened.info.name);
    CHECK(device.stream() != nullptr);

    const int n = 100;
    std::vector<float> a(n);
    std::vector<float> b(n);
    std::iota(a.begin(), a.end(), 1.0F);
    std::iota(b.begin(), b.end(), 1000.0F);
    const std::size_t bytes = n * sizeof(float);
    Add add{device.allocate(bytes), device.allocate(bytes), device.allocate(bytes), n};
    CHECK(reinterpret_cast<std::uintptr_t>(add.out) % 256 == 0);
    device.write(add.a, a.data(), bytes);
    device.write(add.b, b.data(), bytes);
    device.set(add.out, 0xff, bytes);
    std::vector<std::uint8_t> filled(bytes);
    device.read(filled.data(), add.out, bytes);
    CHECK(filled == std::vector<std::uint8_t>(bytes, 0xff));

    const std::unique_ptr<Kernel> kernel = device.load(tiny_elf(), "add");
    device.launch(add.launch(*kernel), device.stream());
    device.synchronize();
    std::vector<float> out(n);
    device.read(out.data(), add.out, bytes);
    for (int i = 0; i < n; ++i) REQUIRE(out[i] == a[i] + b[i]);

    // A batch reads its launches' arguments when it is recorded, runs nothing then, and times only kernels:
    // the stand-in takes 2 us for each and 50 us before the first.
    const long before = stub->launches();
    std::unique_ptr<Batch> batch;
    {
      Add again = add;
      again.parameters = {&again.out, &again.a, &again.b, &again.n};
      const std::vector<Launch> launches(10, again.launch(*kernel));
      batch = device.record(launches);
      again.n = -1;
    }
    CHECK(stub->launches() == before);
    CHECK(batch->run() == Approx(20000));
    CHECK(batch->run() == Approx(20000));
    CHECK(stub->launches() == before + 20);
    CHECK(device.record({})->run() == 0);

    batch.reset();
    for (void* const memory : {add.out, add.a, add.b}) device.release(memory);
    device.release(nullptr);
  }
}

TEST_CASE("a launch that may overlap the one before is made so where the driver can") {
  for (Stub* const stub : all_stubs()) {
    INFO(stub->driver.api.library);
    Opened opened(*stub);
    const std::unique_ptr<Kernel> kernel = opened.device->load(tiny_elf(), "add");
    Add add{nullptr, nullptr, nullptr, 0};
    Launch launch = add.launch(*kernel);
    launch.geometry.overlap = true;
    const std::vector<Launch> launches(10, launch);
    const bool can = stub == &cuda_stub();
    CHECK(opened.device->record(launches)->run() == Approx(can ? 15000 : 20000));
    opened.device->launch(launch, opened.device->stream());
    launch.geometry.block = {2048, 1, 1};
    CHECK_THROWS_WITH(opened.device->launch(launch, opened.device->stream()),
                      Contains("launching a kernel: "));
  }
}

TEST_CASE("sizes of zero are taken") {
  Opened opened(cuda_stub());
  void* const memory = opened.device->allocate(0);
  CHECK(memory != nullptr);
  opened.device->write(memory, nullptr, 0);
  opened.device->read(nullptr, memory, 0);
  opened.device->set(memory, 1, 0);
  opened.device->release(memory);
}

TEST_CASE("kernels and batches may outlive their device") {
  Stub& stub = cuda_stub();
  const long alive = stub.alive();
  {
    std::unique_ptr<Kernel> kernel;
    std::unique_ptr<Batch> batch;
    {
      Opened opened(stub);
      kernel = opened.device->load(tiny_elf(), "add");
      Add add{nullptr, nullptr, nullptr, 0};
      const Launch launch = add.launch(*kernel);
      batch = opened.device->record({&launch, 1});
      opened.device.reset();
      CHECK(batch->run() == Approx(2000));
      batch.reset();
      kernel.reset();
    }
  }
  CHECK(stub.alive() == alive);
}

TEST_CASE("a driver's refusal is an error that names the device, the call and the driver's reason") {
  Opened opened(cuda_stub());
  Device& device = *opened.device;
  SECTION("memory is short") {
    try {
      device.allocate(std::size_t{1} << 40);
      FAIL("a terabyte was given");
    } catch (const DeviceError& error) {
      CHECK(std::string(error.what()) ==
            "cuda 0 (Stub H200): allocating 1099511627776 bytes: CUDA_ERROR_OUT_OF_MEMORY");
      CHECK_FALSE(error.sticky());
      CHECK(error.code() == ErrorCode::device);
    }
  }
  SECTION("no such kernel, and its module is not kept") {
    const long alive = opened.stub.alive();
    CHECK_THROWS_WITH(device.load(tiny_elf(), "mul"), Contains("loading mul: CUDA_ERROR_NOT_FOUND"));
    CHECK(opened.stub.alive() == alive);
  }
  SECTION("damaged code objects never reach the driver") {
    std::vector<std::byte> object = tiny_elf();
    object.resize(object.size() - 1);
    CHECK_THROWS_WITH(device.load(object, "add"), Contains("the code object of add is damaged: 127 bytes"));
    CHECK_THROWS_WITH(device.load({}, "add"), Contains("damaged: 0 bytes"));
    object.assign(4096, std::byte{'x'});
    CHECK_THROWS_AS(device.load(object, "add"), DeviceError);
  }
  SECTION(
      "more shared memory than 48 KiB is given, up to the device's limit less what the kernel has itself") {
    const std::unique_ptr<Kernel> kernel = device.load(tiny_elf(), "add");
    Add add{nullptr, nullptr, nullptr, 0};
    Launch launch = add.launch(*kernel);
    launch.geometry.dynamic_shared_bytes = 232448 - 1024;
    CHECK_NOTHROW(device.launch(launch, device.stream()));
    ++launch.geometry.dynamic_shared_bytes;
    CHECK_THROWS_WITH(device.launch(launch, device.stream()),
                      Contains("launching a kernel: CUDA_ERROR_INVALID_VALUE"));
  }
  SECTION("a bad launch in a batch leaves nothing behind and the device usable") {
    const std::unique_ptr<Kernel> kernel = device.load(tiny_elf(), "add");
    Add add{nullptr, nullptr, nullptr, 0};
    std::vector<Launch> launches(3, add.launch(*kernel));
    launches[1].geometry.block = {2048, 1, 1};
    const long alive = opened.stub.alive();
    CHECK_THROWS_AS(device.record(launches), DeviceError);
    CHECK(opened.stub.alive() == alive);
    launches[1] = launches[0];
    CHECK(device.record(launches)->run() == Approx(6000));
  }
  SECTION("every step of a batch that fails leaves nothing behind") {
    const std::unique_ptr<Kernel> kernel = device.load(tiny_elf(), "add");
    Add add{nullptr, nullptr, nullptr, 0};
    const Launch launch = add.launch(*kernel);
    const long alive = opened.stub.alive();
    for (const char* const call :
         {"cuEventCreate", "cuStreamCreate", "cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphCreate",
          "cuGraphAddEventRecordNode", "cuGraphAddChildGraphNode", "cuGraphInstantiateWithFlags",
          "cuGraphUpload", "cuStreamSynchronize"}) {
      INFO(call);
      opened.stub.fail_next(call, 2);
      CHECK_THROWS_AS(device.record({&launch, 1}), DeviceError);
      CHECK(opened.stub.alive() == alive);
    }
  }
}

TEST_CASE("after a crash every call fails with the sticky error") {
  for (Stub* const stub : all_stubs()) {
    INFO(stub->driver.api.library);
    stub->heal();
    const GpuList list = list_gpus(stub->driver, {"/nowhere", "/nowhere"});
    const auto device = open_gpu_device(stub->driver, list.devices.at(0));
    void* const memory = device->allocate(16);
    const std::unique_ptr<Kernel> kernel = device->load(tiny_elf(), "crash");
    device->launch({kernel.get(), {}, nullptr}, device->stream());
    const auto sticky = [](auto&& call) {
      try {
        call();
      } catch (const DeviceError& error) {
        CHECK(error.sticky());
        CHECK_THAT(error.what(), Contains("llegal"));
        return true;
      }
      return false;
    };
    CHECK(sticky([&] { device->synchronize(); }));
    CHECK(sticky([&] { device->allocate(16); }));
    CHECK(sticky([&] { device->set(memory, 0, 16); }));
    CHECK(sticky([&] { device->launch({kernel.get(), {}, nullptr}, nullptr); }));
    CHECK(sticky([&] { device->load(tiny_elf(), "add"); }));
    CHECK_THROWS_AS(open_gpu_device(stub->driver, list.devices[0]), Error);
    device->release(memory);  // has no effect any more, and does not throw
    stub->heal();
    device->release(memory);
  }
}

TEST_CASE("sticky errors are those that lose the context") {
  for (const int status : {214, 700, 702, 710, 714, 715, 716, 717, 718, 719, 999}) CHECK(is_sticky(status));
  for (const int status : {0, 1, 2, 200, 209, 301, 500, 600, 701, 801, 900, 901})
    CHECK_FALSE(is_sticky(status));
}

TEST_CASE("the caller's current context is restored by every call, failed ones too") {
  Opened opened(cuda_stub());
  const GpuApi& api = opened.stub.driver.api;
  void* other = nullptr;
  REQUIRE(api.context_retain(&other, 1) == 0);
  for (void* const callers : {other, static_cast<void*>(nullptr)}) {
    REQUIRE(api.context_set(callers) == 0);
    const auto unchanged = [&] {
      void* now = nullptr;
      return api.context_get(&now) == 0 && now == callers;
    };
    Device& device = *opened.device;
    void* const memory = device.allocate(16);
    CHECK(unchanged());
    device.set(memory, 0, 16);
    std::array<char, 16> bytes{};
    device.read(bytes.data(), memory, bytes.size());
    CHECK(unchanged());
    device.write(memory, bytes.data(), bytes.size());
    CHECK(unchanged());
    std::unique_ptr<Kernel> kernel = device.load(tiny_elf(), "add");
    CHECK(unchanged());
    Add add{nullptr, nullptr, nullptr, 0};
    const Launch launch = add.launch(*kernel);
    device.launch(launch, device.stream());
    CHECK(unchanged());
    std::unique_ptr<Batch> batch = device.record({&launch, 1});
    CHECK(unchanged());
    batch->run();
    CHECK(unchanged());
    device.synchronize();
    CHECK(unchanged());
    CHECK_THROWS_AS(device.load(tiny_elf(), "mul"), DeviceError);
    CHECK_THROWS_AS(device.allocate(std::size_t{1} << 40), DeviceError);
    CHECK(unchanged());
    batch.reset();
    kernel.reset();
    device.release(memory);
    CHECK(unchanged());
  }
  api.context_set(nullptr);
  api.context_release(1);
}

TEST_CASE("the caller's current device is restored on HIP, and its last error is not ours") {
  Opened opened(rocm_stub(6));
  const GpuApi& api = opened.stub.driver.api;
  REQUIRE(api.current_device_set(1) == 0);
  void* const memory = opened.device->allocate(16);
  CHECK_THROWS_AS(opened.device->load(tiny_elf(), "mul"), DeviceError);
  CHECK(opened.stub.last_error() == 0);
  opened.device->release(memory);
  int current = -1;
  REQUIRE(api.current_device_get(&current) == 0);
  CHECK(current == 1);
  api.current_device_set(0);
}

TEST_CASE("several threads use one GPU at once") {
  Opened opened(cuda_stub());
  Device& device = *opened.device;
  const std::unique_ptr<Kernel> kernel = device.load(tiny_elf(), "add");
  const long before = opened.stub.launches();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::array<float, 8> ones{1, 1, 1, 1, 1, 1, 1, 1};
      Add add{device.allocate(32), device.allocate(32), device.allocate(32), 8};
      device.write(add.a, ones.data(), 32);
      device.write(add.b, ones.data(), 32);
      const Launch launch = add.launch(*kernel);
      for (int i = 0; i < 50; ++i) device.launch(launch, device.stream());
      device.record({&launch, 1})->run();
      std::array<float, 8> out{};
      device.read(out.data(), add.out, 32);
      if (out[7] != 2.0F) std::abort();
      for (void* const memory : {add.out, add.a, add.b}) device.release(memory);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(opened.stub.launches() == before + 4 * 51);
}

TEST_CASE("opening a GPU that is not there says why") {
  Stub& stub = cuda_stub();
  stub.heal();
  DeviceInfo info = list_gpus(stub.driver).devices.at(0);
  const long alive = stub.alive();
  info.index = 7;
  CHECK_THROWS_WITH(open_gpu_device(stub.driver, info),
                    Contains("cuda 7 (Stub H200) cannot be opened: finding the device"));
  info.index = 0;
  stub.fail_next("cuStreamCreate", 2);
  CHECK_THROWS_WITH(open_gpu_device(stub.driver, info), Contains("CUDA_ERROR_OUT_OF_MEMORY"));
  stub.fail_next("cuCtxSetCurrent", 1);
  CHECK_THROWS_AS(open_gpu_device(stub.driver, info), Error);
  CHECK(stub.alive() == alive);
  const GpuLibrary none = open_cuda_library({"/nowhere/libcuda.so.1"});
  CHECK_THROWS_AS(open_gpu_device(none, info), Error);
}
