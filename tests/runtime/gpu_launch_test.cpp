// What a GPU's launches have beyond grid and block, over stand-ins of the drivers: tensor maps, clusters,
// overlap.
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/runtime/opened_stub.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

namespace {

StubTensorMap read(const TensorMap& map) {
  StubTensorMap made{};
  std::memcpy(&made, &map, sizeof made);
  return made;
}

/// 20 rows of 64 f16, 80 apart.
TensorMapShape rows() {
  TensorMapShape shape;
  shape.type = ElementType::f16;
  shape.rank = 2;
  shape.extent = {64, 20};
  shape.stride = {160};
  shape.box = {32, 8};
  shape.swizzle = 64;
  shape.promotion = 256;
  return shape;
}

}  // namespace

TEST_CASE("a tensor map is encoded in the device's context with the driver's numbers") {
  Opened opened(cuda_stub());
  const GpuApi& api = opened.stub.driver.api;
  void* const memory = opened.device->allocate(4096);
  REQUIRE(api.context_set(nullptr) == 0);  // the stand-in refuses a call without a context
  TensorMap map{};
  opened.device->encode(rows(), memory, map);
  void* current = &map;
  REQUIRE(api.context_get(&current) == 0);
  CHECK(current == nullptr);

  StubTensorMap made = read(map);
  CHECK(made.address == memory);
  CHECK(made.type == 6);  // CU_TENSOR_MAP_DATA_TYPE_FLOAT16
  CHECK(made.rank == 2);
  CHECK(made.extent == std::array<std::uint64_t, 5>{64, 20});
  CHECK(made.stride == std::array<std::uint64_t, 4>{160});
  CHECK(made.box == std::array<std::uint32_t, 5>{32, 8});
  CHECK(made.swizzle == 2);    // 64 bytes
  CHECK(made.promotion == 3);  // 256 bytes

  const auto number_of = [&](auto&& change, std::uint8_t StubTensorMap::*field) {
    TensorMapShape shape = rows();
    change(shape);
    opened.device->encode(shape, memory, map);
    return static_cast<int>(read(map).*field);
  };
  const std::array types{std::pair(ElementType::f32, 7),  std::pair(ElementType::f16, 6),
                         std::pair(ElementType::bf16, 9), std::pair(ElementType::i8, 0),
                         std::pair(ElementType::f64, 8),  std::pair(ElementType::i32, 3),
                         std::pair(ElementType::i64, 5),  std::pair(ElementType::u8, 0)};
  for (const auto& [type, number] : types)
    CHECK(number_of([&](TensorMapShape& shape) { shape.type = type; }, &StubTensorMap::type) == number);
  int number = 0;
  for (const std::uint32_t bytes : {0U, 32U, 64U, 128U})
    CHECK(number_of([&](TensorMapShape& shape) { shape.swizzle = bytes; }, &StubTensorMap::swizzle) ==
          number++);
  number = 0;
  for (const std::uint32_t bytes : {0U, 64U, 128U, 256U})
    CHECK(number_of([&](TensorMapShape& shape) { shape.promotion = bytes; }, &StubTensorMap::promotion) ==
          number++);
  opened.device->release(memory);
}

TEST_CASE("a tensor map that the driver refuses, or has not, is one line") {
  TensorMap map{};
  {
    Opened opened(cuda_stub());
    std::array<char, 64> memory{};
    char* const odd = memory.data() + (reinterpret_cast<std::uintptr_t>(memory.data()) % 2 == 0 ? 1 : 0);
    CHECK_THROWS_WITH(opened.device->encode(rows(), odd, map),
                      "cuda 0 (Stub H200): encoding a tensor map: CUDA_ERROR_INVALID_VALUE");
  }
  {
    Opened opened(old_cuda_stub());
    CHECK_THROWS_WITH(opened.device->encode(rows(), &map, map),
                      "cuda 0: the driver has no tensor maps; CUDA 12.0 or later has");
  }
  Opened opened(rocm_stub(7));
  CHECK_THROWS_WITH(opened.device->encode(rows(), &map, map),
                    Contains("hip 0: ") && Contains("no tensor maps"));
}

TEST_CASE("clusters and overlap are told to the driver, together and alone, outside of a batch and in one") {
  Opened opened(cuda_stub());
  const std::unique_ptr<Kernel> kernel = opened.device->load(tiny_elf(), "add");
  Add add{nullptr, nullptr, nullptr, 0};
  Launch launch = add.launch(*kernel);
  launch.geometry.grid = {8, 6, 3};
  using Cluster = std::array<std::uint32_t, 3>;
  for (const Cluster& cluster : {Cluster{1, 1, 1}, Cluster{4, 2, 1}, Cluster{1, 1, 3}})
    for (const bool overlap : {false, true}) {
      launch.geometry.cluster = cluster;
      launch.geometry.overlap = overlap;
      opened.device->launch(launch, opened.device->stream());
      CHECK(opened.stub.last_launch()->cluster == cluster);
      CHECK(opened.stub.last_launch()->overlap == (overlap ? 1 : 0));
      opened.device->launch(add.launch(*kernel), opened.device->stream());
      CHECK(opened.stub.last_launch()->cluster == Cluster{1, 1, 1});
      CHECK(opened.device->record({&launch, 1})->run() == Approx(overlap ? 1500 : 2000));
      CHECK(opened.stub.last_launch()->cluster == cluster);
    }
  launch.geometry.cluster = {3, 1, 1};  // divides no 8
  CHECK_THROWS_WITH(opened.device->launch(launch, opened.device->stream()),
                    Contains("launching a kernel: CUDA_ERROR_INVALID_VALUE"));
}

TEST_CASE("a cluster that does not fit the device, or its driver, is told before it is launched") {
  Geometry geometry;
  geometry.grid = {8, 1, 1};
  geometry.block = {256, 1, 1};
  geometry.cluster = {8, 1, 1};
  {
    Opened opened(cuda_stub());
    const std::unique_ptr<Kernel> kernel = opened.device->load(tiny_elf(), "add");
    geometry.dynamic_shared_bytes = 63 << 10;
    CHECK(opened.device->excess(*kernel, geometry).empty());
    geometry.dynamic_shared_bytes = 64 << 10;
    CHECK(opened.device->excess(*kernel, geometry) ==
          "a cluster of 8 blocks, each with 65536 bytes of dynamic shared memory, does not fit the device");
    geometry.cluster = {4, 1, 1};
    CHECK(opened.device->excess(*kernel, geometry).empty());
    geometry.cluster = {1, 1, 1};
    CHECK(opened.device->excess(*kernel, geometry).empty());
    geometry.dynamic_shared_bytes = 232448;
    CHECK_THAT(opened.device->excess(*kernel, geometry), Contains("besides the kernel's own 1024"));
    geometry.dynamic_shared_bytes = 0;
    geometry.block = {1025, 1, 1};
    CHECK_THAT(opened.device->excess(*kernel, geometry), Contains("a block has 1025 threads"));
    opened.stub.fail_next("cuOccupancyMaxActiveClusters", 2);
    geometry.block = {256, 1, 1};
    geometry.cluster = {2, 1, 1};
    CHECK_THROWS_WITH(opened.device->excess(*kernel, geometry),
                      Contains("asking how many clusters fit: CUDA_ERROR_OUT_OF_MEMORY"));
  }
  geometry.block = {256, 1, 1};
  geometry.cluster = {2, 1, 1};
  for (Stub* const stub : {&old_cuda_stub(), &rocm_stub(6)}) {
    Opened opened(*stub);
    const std::unique_ptr<Kernel> kernel = opened.device->load(tiny_elf(), "add");
    CHECK(opened.device->excess(*kernel, geometry) ==
          "the driver has no clusters of blocks for hone; CUDA 12.3 or later has");
    Add add{nullptr, nullptr, nullptr, 0};
    Launch launch = add.launch(*kernel);
    launch.geometry = geometry;
    const long before = stub->launches();
    CHECK_THROWS_WITH(
        opened.device->launch(launch, opened.device->stream()),
        "launching a kernel: the driver has no clusters of blocks for hone; CUDA 12.3 or later has");
    CHECK(stub->launches() == before);
    launch.geometry.cluster = {1, 1, 1};
    launch.geometry.overlap = true;  // is not asked of a driver that has none
    opened.device->launch(launch, opened.device->stream());
    CHECK(stub->last_launch()->overlap == 0);
  }
}
