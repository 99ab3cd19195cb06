// The host device: launches, geometry, shared memory and barriers, code objects that cannot be loaded.
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "runtime/host_library.hpp"
#include "tests/runtime/host_rig.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

TEST_CASE("the host device describes this machine") {
  const DeviceInfo info = host_device_info();
  CHECK(info.backend == Backend::host);
  CHECK_FALSE(info.name.empty());
  CHECK(info.name.find('\n') == std::string::npos);
  CHECK((info.architecture.starts_with("x86-64-v") || info.architecture == "aarch64"));
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  CHECK(info.compute_units == CPU_COUNT(&set));
  const auto pages =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  CHECK(info.memory_bytes > pages / 2);
  CHECK(info.memory_bytes <= pages + (pages >> 4));
  CHECK(info.max_threads == 1024);
  CHECK(info.shared_memory_bytes >= 64 << 10);
  CHECK(info.warp_size == 1);
}

TEST_CASE("host memory is aligned, copied, set and refused when there is not enough") {
  HostRig rig;
  Device& device = rig.device();
  auto* bytes = static_cast<unsigned char*>(device.allocate(1000));
  CHECK(reinterpret_cast<std::uintptr_t>(bytes) % 256 == 0);
  device.set(bytes, 0x5A, 1000);
  std::vector<unsigned char> copy(1000);
  device.read(copy.data(), bytes, 1000);
  CHECK(copy == std::vector<unsigned char>(1000, 0x5A));
  copy[999] = 1;
  device.write(bytes, copy.data(), 1000);
  CHECK(bytes[999] == 1);
  device.read(nullptr, bytes, 0);
  device.release(bytes);
  device.release(nullptr);

  void* nothing = device.allocate(0);
  CHECK(nothing != nullptr);
  device.release(nothing);
  CHECK_THROWS_WITH(device.allocate(SIZE_MAX), Contains("no memory for"));
  CHECK_THROWS_WITH(device.allocate(std::size_t{1} << 46), Contains("no memory for"));
  CHECK(device.condition().clock_mhz == 0);
  CHECK(device.stream() == nullptr);
}

TEST_CASE("every thread of every block runs once with its own indices") {
  HostRig rig;
  const auto kernel = rig.kernel(with_prelude(R"(
    HONE_KERNEL(where, u32* counts, u32* sizes) {
      const u32 block = (HONE_BLOCK_INDEX_Z * HONE_BLOCK_COUNT_Y + HONE_BLOCK_INDEX_Y) * HONE_BLOCK_COUNT_X + HONE_BLOCK_INDEX_X;
      const u32 thread = (HONE_THREAD_Z * HONE_BLOCK_SIZE_Y + HONE_THREAD_Y) * HONE_BLOCK_SIZE_X + HONE_THREAD_X;
      const u32 threads = HONE_BLOCK_SIZE_X * HONE_BLOCK_SIZE_Y * HONE_BLOCK_SIZE_Z;
      HONE_ATOMIC_ADD(counts + block * threads + thread, 1U);
      if (block == 0 && thread == 0) {
        sizes[0] = HONE_BLOCK_SIZE_X; sizes[1] = HONE_BLOCK_SIZE_Y; sizes[2] = HONE_BLOCK_SIZE_Z;
        sizes[3] = HONE_BLOCK_COUNT_X; sizes[4] = HONE_BLOCK_COUNT_Y; sizes[5] = HONE_BLOCK_COUNT_Z;
      }
    })"),
                                 "where");
  const std::vector<Geometry> shapes = {{{1, 1, 1}, {1, 1, 1}, 0},
                                        {{1000, 1, 1}, {7, 1, 1}, 0},
                                        {{3, 5, 7}, {2, 4, 8}, 0},
                                        {{1, 65, 1}, {1, 1024, 1}, 0},
                                        {{2, 1, 129}, {16, 8, 8}, 0}};
  for (const Geometry& shape : shapes) {
    const std::size_t total =
        std::accumulate(shape.grid.begin(), shape.grid.end(), std::size_t{1}, std::multiplies<>()) *
        std::accumulate(shape.block.begin(), shape.block.end(), std::size_t{1}, std::multiplies<>());
    std::vector<std::uint32_t> counts(total);
    std::vector<std::uint32_t> sizes(6);
    rig.launch(*kernel, shape, counts.data(), sizes.data());
    CHECK(counts == std::vector<std::uint32_t>(total, 1));
    CHECK(sizes == std::vector<std::uint32_t>{shape.block[0], shape.block[1], shape.block[2], shape.grid[0],
                                              shape.grid[1], shape.grid[2]});
  }
}

TEST_CASE("arguments of every kind arrive, and HONE_FOR_EACH visits each index once") {
  HostRig rig;
  const auto kernel = rig.kernel(with_prelude(R"(
    struct Pair { f64 a; u8 b; };
    HONE_KERNEL(mixed, u8* visits, i64 count, f32 f, i8 small, const Pair pair, u64* out) {
      HONE_FOR_EACH(i, count) { HONE_ATOMIC_ADD(visits + i, static_cast<u8>(1)); }
      if (HONE_BLOCK_INDEX_X == 0 && HONE_THREAD_X == 0) {
        out[0] = hone_bits<u32>(f);
        out[1] = static_cast<u64>(static_cast<i64>(small));
        out[2] = hone_bits<u64>(pair.a);
        out[3] = pair.b;
      }
    })"),
                                 "mixed");
  struct Pair {
    double a;
    unsigned char b;
  };
  for (const long long count : {0LL, 1LL, 5LL, 63LL, 1000LL, 12345LL}) {
    std::vector<unsigned char> visits(static_cast<std::size_t>(count));
    std::vector<unsigned long long> out(4);
    rig.launch(*kernel, line(5, 64), visits.data(), count, 1.5F, static_cast<signed char>(-3), Pair{2.5, 200},
               out.data());
    CHECK(visits == std::vector<unsigned char>(visits.size(), 1));
    CHECK(out ==
          std::vector<unsigned long long>{0x3FC00000ULL, 0xFFFFFFFFFFFFFFFDULL, 0x4004000000000000ULL, 200});
  }
}

TEST_CASE("a block reduces through shared memory and barriers") {
  HostRig rig;
  const std::string source = with_prelude(R"(
    HONE_KERNEL_WITH_BARRIERS(reduce, const u32* in, u64* fixed_sums, u64* dynamic_sums) {
      HONE_SHARED u64 fixed[1024];
      HONE_DYNAMIC_SHARED(u64, dynamic);
      const u32 threads = HONE_BLOCK_SIZE_X * HONE_BLOCK_SIZE_Y;
      const u32 t = HONE_THREAD_Y * HONE_BLOCK_SIZE_X + HONE_THREAD_X;
      fixed[t] = in[HONE_BLOCK_INDEX_X * threads + t];
      dynamic[t] = 3 * fixed[t];
      HONE_BARRIER();
      for (u32 width = 512; width > 0; width /= 2) {
        if (t < width && t + width < threads) {
          fixed[t] += fixed[t + width];
          dynamic[t] += dynamic[t + width];
        }
        HONE_BARRIER();
      }
      if (t == 0) { fixed_sums[HONE_BLOCK_INDEX_X] = fixed[0]; dynamic_sums[HONE_BLOCK_INDEX_X] = dynamic[0]; }
    })");
  const auto kernel = rig.kernel(source, "reduce");
  for (const std::array<std::uint32_t, 3> block : {std::array<std::uint32_t, 3>{1, 1, 1},
                                                   {2, 1, 1},
                                                   {33, 1, 1},
                                                   {16, 8, 1},
                                                   {1000, 1, 1},
                                                   {1024, 1, 1}}) {
    const std::uint32_t threads = block[0] * block[1];
    constexpr std::uint32_t blocks = 5;
    std::vector<std::uint32_t> in(blocks * threads);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>(i * 2654435761U);
    std::vector<unsigned long long> fixed(blocks);
    std::vector<unsigned long long> dynamic(blocks);
    rig.launch(*kernel, {.grid = {blocks, 1, 1}, .block = block, .dynamic_shared_bytes = threads * 8},
               in.data(), fixed.data(), dynamic.data());
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const auto first = in.begin() + b * threads;
      const auto right = std::accumulate(first, first + threads, 0ULL);
      CHECK(fixed[b] == right);
      CHECK(dynamic[b] == 3 * right);
    }
  }
}

TEST_CASE("lanes that end early leave the others waiting for each other") {
  HostRig rig;
  const auto kernel = rig.kernel(with_prelude(R"(
    HONE_KERNEL_WITH_BARRIERS(early, u32* out) {
      HONE_SHARED u32 seen[64];
      if (HONE_THREAD_X >= 40) return;
      seen[HONE_THREAD_X] = HONE_THREAD_X + 1;
      HONE_BARRIER();
      out[HONE_THREAD_X] = seen[39 - HONE_THREAD_X];
    })"),
                                 "early");
  std::vector<std::uint32_t> out(64, 7);
  rig.launch(*kernel, line(1, 64), out.data());
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(out[i] == (i < 40 ? 40 - i : 7));
}

TEST_CASE("launches from several threads queue, and a launch uses every thread") {
  HostRig rig;
  const auto kernel = rig.kernel(with_prelude(R"(
    HONE_KERNEL(count, u64* to, u64 by) { HONE_ATOMIC_ADD(to, by); })"),
                                 "count");
  unsigned long long total = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) rig.launch(*kernel, line(97, 3), &total, 1ULL);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(total == 4ULL * 50 * 97 * 3);
}

TEST_CASE("a batch runs its launches in order, each time, and tells the time") {
  HostRig rig;
  const auto kernel = rig.kernel(with_prelude(R"(
    HONE_KERNEL(step, u64* state, u64 times, u64 plus) { *state = *state * times + plus; })"),
                                 "step");
  unsigned long long state = 1;
  void* address = &state;
  unsigned long long times = 2;
  unsigned long long plus = 1;
  unsigned long long other = 10;
  void* first[] = {&address, &times, &plus};
  void* second[] = {&address, &other, &plus};
  const Launch launches[] = {{kernel.get(), line(1, 1), first}, {kernel.get(), line(1, 1), second}};
  const auto batch = rig.device().record(launches);
  CHECK(state == 1);
  CHECK(batch->run() > 0);
  CHECK(state == 31);
  plus = 0;
  batch->run();
  CHECK(state == 620);
}

TEST_CASE("the host has no tensor maps, and says so") {
  HostRig rig;
  TensorMap map{};
  CHECK_THROWS_WITH(rig.device().encode({}, &map, map), "host device: there are no tensor maps");
}

TEST_CASE("a launch out of the host's limits is refused") {
  HostRig rig;
  const auto kernel = rig.kernel(with_prelude("HONE_KERNEL(nothing, u32* p) { (void)p; }"), "nothing");
  std::uint32_t* none = nullptr;
  CHECK_THROWS_WITH(rig.launch(*kernel, line(0, 1), none), Contains("nothing: a grid or block of no extent"));
  CHECK_THROWS_WITH(rig.launch(*kernel, line(1, 0), none), Contains("no extent"));
  CHECK_THROWS_WITH(rig.launch(*kernel, line(1, 1025), none), Contains("over 1024 threads"));
  CHECK_THROWS_WITH(rig.launch(*kernel, Geometry{.block = {1024, 1024, 1024}}, none), Contains("over 1024"));
  CHECK_THROWS_WITH(rig.launch(*kernel, Geometry{.dynamic_shared_bytes = 1 << 20}, none),
                    Contains("shared memory"));
  CHECK_THROWS_WITH(rig.launch(*kernel, Geometry{.grid = {UINT32_MAX, UINT32_MAX, 2}}, none),
                    Contains("2^63"));
  class Foreign : public Kernel {};
  CHECK_THROWS_WITH(rig.launch(Foreign(), line(1, 1), none), Contains("not loaded on the host"));
  const Launch bad{kernel.get(), line(0, 1), nullptr};
  CHECK_THROWS_AS(rig.device().record({&bad, 1}), DeviceError);
}

TEST_CASE("what is no code object, or has no such kernel, is refused") {
  HostRig rig;
  const std::vector<std::byte> noise(100, std::byte{42});
  CHECK_THROWS_WITH(rig.device().load(noise, "relu"), Contains("cannot load a code object of 100 bytes"));
  CHECK_THROWS_AS(rig.device().load({}, "relu"), DeviceError);
  auto object = rig.object(with_prelude("HONE_KERNEL(present, u32* p) { *p = 1; }"), "present");
  CHECK_THROWS_WITH(rig.device().load(object, "absent"), Contains("no kernel \"absent\""));
  object.resize(object.size() / 2);
  CHECK_THROWS_AS(rig.device().load(object, "present"), DeviceError);
}

TEST_CASE("modules with the same names live side by side") {
  HostRig rig;
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (const char* value : {"1", "2", "3"}) {
    kernels.push_back(
        rig.kernel(with_prelude(std::string("HONE_KERNEL(which, u32* p) { *p = ") + value + "; }"), "which"));
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    std::uint32_t seen = 0;
    rig.launch(*kernels[i], line(1, 1), &seen);
    CHECK(seen == i + 1);
  }
  kernels.erase(kernels.begin());
  kernels.push_back(rig.kernel(with_prelude("HONE_KERNEL(which, u32* p) { *p = 4; }"), "which"));
  std::uint32_t seen = 0;
  rig.launch(*kernels.back(), line(1, 1), &seen);
  CHECK(seen == 4);
}

TEST_CASE("grids of over 2^32 blocks are counted in 64 bits", "[long]") {
  HostRig rig;
  const auto kernel = rig.kernel(with_prelude(R"(
    HONE_KERNEL(corner, u64* last) {
      if (HONE_BLOCK_INDEX_X == HONE_BLOCK_COUNT_X - 1 && HONE_BLOCK_INDEX_Y == HONE_BLOCK_COUNT_Y - 1)
        *last = static_cast<u64>(HONE_BLOCK_INDEX_Y) << 32 | HONE_BLOCK_INDEX_X;
    })"),
                                 "corner");
  unsigned long long last = 0;
  rig.launch(*kernel, Geometry{.grid = {65537, 65537, 1}}, &last);
  CHECK(last == (65536ULL << 32 | 65536));
}
