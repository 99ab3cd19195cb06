// relu on the host: every configuration, bit by bit, on awkward sizes and addresses, with guard bytes around.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "kernel_templates/common/fill.h"
#include "runtime/host_library.hpp"
#include "tests/runtime/elementwise_rig.hpp"

using namespace hone;
using namespace hone::test;

namespace {

constexpr unsigned char sentinel = 0xA5;
constexpr std::size_t guard = 4096;

/// The definition, by a floating-point compare.
std::uint64_t right_bits(ElementType type, std::uint64_t bits) {
  return hone_element_number(static_cast<int>(type), bits) < 0 ? 0 : bits;
}

std::uint64_t element(const unsigned char* from, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, size);
  return bits;
}

/// Memory with guard bytes on both sides of a buffer that starts `offset` bytes after a 4096-byte boundary.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t offset)
      : bytes_(bytes), offset_(offset), memory_(bytes + 4 * guard, sentinel) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    start_ = guard + (guard - address % guard) % guard + offset_;
  }
  unsigned char* data() { return memory_.data() + start_; }
  bool intact() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if ((i < start_ || i >= start_ + bytes_) && memory_[i] != sentinel) return false;
    }
    return true;
  }

 private:
  std::size_t bytes_;
  std::size_t offset_;
  std::vector<unsigned char> memory_;
  std::size_t start_ = 0;
};

void fill(unsigned char* to, ElementType type, std::int64_t numel, std::uint64_t seed) {
  const std::size_t size = size_of(type);
  for (std::int64_t i = 0; i < numel; ++i) {
    // Every pattern of the small types, in turn.
    const std::uint64_t bits = size <= 2 && numel >= 65536
                                   ? static_cast<std::uint64_t>(i) & (size == 1 ? 0xFF : 0xFFFF)
                                   : hone_fill_bits(static_cast<int>(type), hone_fill_any, seed, i);
    std::memcpy(to + static_cast<std::size_t>(i) * size, &bits, size);
  }
}

/// What is wrong with one launch; empty: nothing.
std::string fault(HostRig& rig, ElementwiseRig& relu, const Kernel& kernel, const db::Values& values,
                  ElementType type, std::int64_t numel, std::size_t x_offset, std::size_t y_offset) {
  const std::size_t size = size_of(type);
  const auto planned = relu.plan(values, type, numel);
  if (const auto* illegal = std::get_if<Illegal>(&planned)) return illegal->why;
  const Plan& plan = std::get<Plan>(planned);
  if (plan.empty != (numel == 0)) return "the plan is empty for the wrong problems";
  if (plan.empty) return "";
  if (plan.geometry.grid[0] > plan.needed_blocks[0]) return "more blocks than needed";

  const std::size_t bytes = static_cast<std::size_t>(numel) * size;
  Guarded x(bytes, x_offset * size);
  Guarded y(bytes, y_offset * size);
  fill(x.data(), type, numel, static_cast<std::uint64_t>(numel));
  for (std::size_t i = 0; i < bytes; i += size) {
    const std::uint64_t poison = ~right_bits(type, element(x.data() + i, size));
    std::memcpy(y.data() + i, &poison, size);
  }
  const std::vector<unsigned char> before(x.data(), x.data() + bytes);
  rig.launch(kernel, plan.geometry, static_cast<void*>(x.data()), static_cast<void*>(y.data()),
             static_cast<long long>(numel));
  if (std::memcmp(before.data(), x.data(), bytes) != 0) return "the input changed";
  if (!x.intact() || !y.intact()) return "it wrote outside";
  for (std::size_t i = 0; i < bytes; i += size) {
    if (element(y.data() + i, size) != right_bits(type, element(x.data() + i, size))) {
      return "element " + std::to_string(i / size) + " is wrong";
    }
  }
  return "";
}

void try_all(ElementType type, bool all) {
  HostRig rig;
  ElementwiseRig relu(rig.device().info());
  auto configurations = relu.configurations(type);
  if (!all) configurations = covering(configurations, 1);
  REQUIRE(configurations.size() >= 3);
  for (const db::Values& values : configurations) {
    const auto kernel = rig.kernel(relu.source(values, type), relu.entry());
    const auto alignment =
        static_cast<std::size_t>(std::get<std::int64_t>(values.at("vector"))) / size_of(type);
    std::vector<std::int64_t> sizes = {0,  1,  2,   3,    7,    15,   16,    17,
                                       31, 33, 127, 1023, 4095, 4097, 65536, 100003};
    const std::int64_t block = std::get<std::int64_t>(values.at("block")) *
                               std::get<std::int64_t>(values.at("unroll")) *
                               static_cast<std::int64_t>(alignment);
    for (const std::int64_t blocks : {1, 3}) {
      for (const std::int64_t around : {-1, 0, 1}) sizes.push_back(blocks * block + around);
    }
    for (const std::int64_t numel : sizes) {
      for (const auto& [x_offset, y_offset] : {std::pair<std::size_t, std::size_t>{0, 0}, {1, 3}, {1, 0}}) {
        if (x_offset % alignment != 0 || y_offset % alignment != 0) continue;
        const std::string what = fault(rig, relu, *kernel, values, type, numel, x_offset, y_offset);
        if (!what.empty()) {
          FAIL_CHECK(name(type) << " " << db::to_string(values) << " numel " << numel << " offsets "
                                << x_offset << " " << y_offset << ": " << what);
        }
      }
    }
    SUCCEED();
  }
}

}  // namespace

TEST_CASE("relu is right bit by bit on the host, each parameter value tried") {
  const auto type = GENERATE(ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::i8);
  try_all(type, false);
}

TEST_CASE("relu is right bit by bit on the host in every configuration", "[long]") {
  const auto type = GENERATE(ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::i8);
  try_all(type, true);
}

TEST_CASE("relu touches no byte beyond its buffers, not even to read it") {
  HostRig rig;
  ElementwiseRig relu(rig.device().info());
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t usable = 64 * page;
  // Buffers that end where the mapping ends: an access beyond faults. Plain accesses of the host need no
  // alignment.
  const auto map = [&] {
    auto* memory = static_cast<unsigned char*>(
        mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(static_cast<void*>(memory) != MAP_FAILED);
    REQUIRE(mprotect(memory + usable, page, PROT_NONE) == 0);
    return memory;
  };
  unsigned char* x = map();
  unsigned char* y = map();
  for (const ElementType type : {ElementType::f16, ElementType::i8}) {
    for (const db::Values& values : covering(relu.configurations(type), 1)) {
      if (values.at("store") != db::Value("default")) continue;
      const auto kernel = rig.kernel(relu.source(values, type), relu.entry());
      for (const std::int64_t numel : {1, 2, 3, 7, 9, 15, 16, 17, 33, 1023, 4097, 32767}) {
        const auto bytes = static_cast<std::size_t>(numel) * size_of(type);
        std::memset(x, 0x81, usable);
        std::memset(y, 0x55, usable);
        const Plan plan = std::get<Plan>(relu.plan(values, type, numel));
        rig.launch(*kernel, plan.geometry, static_cast<void*>(x + usable - bytes),
                   static_cast<void*>(y + usable - bytes), static_cast<long long>(numel));
        INFO(db::to_string(values) << " numel " << numel);
        CHECK(y[usable - bytes - 1] == 0x55);
        CHECK(std::all_of(y + usable - bytes, y + usable, [](unsigned char byte) { return byte == 0; }));
      }
    }
  }
  munmap(x, usable + page);
  munmap(y, usable + page);
}

TEST_CASE("relu's grid-stride mode is right too where the host runs it") {
  HostRig rig;
  ElementwiseRig relu(rig.device().info());
  db::Values values = relu.variant().defaults;
  values["mode"] = "grid_stride";
  values["block"] = std::int64_t{64};
  values["waves"] = std::int64_t{16};
  values["unroll"] = std::int64_t{4};
  const auto type = ElementType::f16;
  const auto kernel = rig.kernel(relu.source(values, type), relu.entry());
  for (const std::int64_t numel : {1, 8, 9, 2048, 2049, 6143, 6144, 100003}) {
    for (const std::uint32_t grid : {1U, 2U, 7U}) {
      Guarded x(static_cast<std::size_t>(numel) * 2, 0);
      Guarded y(static_cast<std::size_t>(numel) * 2, 0);
      fill(x.data(), type, numel, 5);
      rig.launch(*kernel, line(grid, 64), static_cast<void*>(x.data()), static_cast<void*>(y.data()),
                 static_cast<long long>(numel));
      CHECK(y.intact());
      bool right = true;
      for (std::int64_t i = 0; i < numel; ++i) {
        right = right && element(y.data() + 2 * i, 2) == right_bits(type, element(x.data() + 2 * i, 2));
      }
      CHECK(right);
    }
  }
}

TEST_CASE("relu's reference agrees with a floating-point compare") {
  const HostLibrary library(compile_host_library(expand_includes(templates + "/relu/reference.cpp")));
  using Reference = void (*)(const long long*, const char*, const char*, void* const*, long long, long long);
  const auto reference = reinterpret_cast<Reference>(library.symbol("hone_reference"));
  REQUIRE(reference != nullptr);
  for (const ElementType type : {ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::i8}) {
    const long long numel = 100000;
    const std::size_t size = size_of(type);
    std::vector<unsigned char> x(static_cast<std::size_t>(numel) * size);
    std::vector<unsigned char> y(x.size(), 1);
    fill(x.data(), type, numel, 9);
    void* arguments[] = {x.data(), y.data()};
    reference(&numel, name(type), "", arguments, 1, 50000);
    reference(&numel, name(type), "", arguments, 50000, numel);
    for (std::size_t b = 0; b < size; ++b) CHECK(y[b] == 1);
    bool right = true;
    for (std::size_t i = size; i < x.size(); i += size) {
      right = right && element(y.data() + i, size) == right_bits(type, element(x.data() + i, size));
    }
    CHECK(right);
  }
}

TEST_CASE("relu of over 2^32 elements is right on every index path", "[long]") {
  HostRig rig;
  const std::int64_t numel = (std::int64_t{1} << 32) + 9;
  std::int8_t* x = nullptr;
  std::int8_t* y = nullptr;
  try {
    x = static_cast<std::int8_t*>(rig.device().allocate(static_cast<std::size_t>(numel)));
    y = static_cast<std::int8_t*>(rig.device().allocate(static_cast<std::size_t>(numel) + 64));
  } catch (const DeviceError& error) {
    rig.device().release(x);
    WARN("skipped: it needs 9 GiB of memory: " << error.what());
    return;
  }
  ElementwiseRig relu(rig.device().info());
  const auto filler = rig.kernel(define({{"HONE_BACKEND_HOST", "1"}, {"HONE_BLOCK", "256"}}) +
                                     expand_includes(templates + "/common/check.cpp"),
                                 "hone_fill");
  rig.launch(*filler, line(64, 256), static_cast<void*>(x), static_cast<long long>(numel),
             static_cast<int>(hone_i8), static_cast<int>(hone_fill_any), 3ULL);
  for (const char* mode : {"one_shot", "grid_stride"}) {
    for (const std::int64_t vector : {1, 16}) {
      if (vector == 1 && std::string(mode) == "grid_stride") continue;
      std::memset(y, 0x81, static_cast<std::size_t>(numel) + 64);
      db::Values values = relu.variant().defaults;
      values["mode"] = mode;
      values["vector"] = vector;
      const auto kernel = rig.kernel(relu.source(values, ElementType::i8), relu.entry());
      const auto covers = static_cast<std::int64_t>(256) * vector;
      const bool stride = std::string(mode) == "grid_stride";
      const auto grid = static_cast<std::uint32_t>(stride ? 4096 : (numel + covers - 1) / covers);
      rig.launch(*kernel, line(grid, 256), static_cast<void*>(x), static_cast<void*>(y),
                 static_cast<long long>(numel));
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < numel; ++i) wrong += y[i] != (x[i] < 0 ? 0 : x[i]);
      CHECK(wrong == 0);
      for (std::int64_t i = numel; i < numel + 64; ++i) wrong += y[i] != static_cast<std::int8_t>(0x81);
      CHECK(wrong == 0);
    }
  }
  rig.device().release(x);
  rig.device().release(y);
}
