// The values of addmm_glu's mma without a GPU: its source runs on emulated warps (emulated_warps.h). Not
// under sanitizers: they do not see into it, and lose their way among its contexts.
#if !defined(HONE_SANITIZED)
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "runtime/host_library.hpp"
#include "tests/runtime/addmm_glu_values.hpp"
#include "tests/runtime/assembly.hpp"
#include "tests/runtime/elementwise_rig.hpp"

using namespace hone;
using namespace hone::test;

namespace {

struct Buffer {
  const void* first;
  unsigned long long bytes;
  bool written;
};

struct Launch {
  unsigned grid, block, dynamic_shared_bytes;
  const Buffer* buffers;
  unsigned buffer_count;
  unsigned long long seed;
};

using Entry = const char* (*)(const Launch*, void* const*);

std::int64_t integer(const db::Values& values, const char* name) {
  return std::get<std::int64_t>(values.at(name));
}

constexpr std::size_t counters = 4096;

/// A workspace's bytes, whatever the split.
std::size_t workspace_bytes(const db::Values& values, const Case& c) {
  const std::int64_t tile_m = integer(values, "tile_m");
  const std::int64_t tile_n = integer(values, "tile_n");
  const std::int64_t elements = (c.m + tile_m - 1) / tile_m * tile_m * ((c.n + tile_n - 1) / tile_n * tile_n);
  return 4 * (counters + static_cast<std::size_t>(elements * integer(values, "split")));
}

class EmulatedMma {
 public:
  explicit EmulatedMma(const std::string& source) {
    std::ifstream file(HONE_SOURCE_DIR "/tests/runtime/emulated_warps.h", std::ios::binary);
    const std::string warps{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    library_.emplace(compile_host_library(warps + source));
    entry_ = reinterpret_cast<Entry>(library_->symbol("addmm_glu_mma_emulated"));
  }

  bool loaded() const { return entry_ != nullptr; }

  /// What is wrong with a configuration's results on a problem; nothing if nothing is.
  std::string fault(const db::Values& values, const Plan& plan, const Case& c, std::size_t out_elements,
                    std::uint64_t seed) const {
    const auto alignment = static_cast<std::size_t>(integer(values, "vector"));
    const std::vector<unsigned char> a = aligned(c.a, alignment);
    const std::vector<unsigned char> b = aligned(c.b, alignment);
    const std::vector<unsigned char> bias = aligned(c.bias, alignment);
    const std::vector<unsigned char> y = aligned(c.y, alignment);
    const Halves gaps(out_elements, 0xA5A5);
    std::vector<unsigned char> out = aligned(gaps, alignment);
    // Counters are zero at first; the rest is whatever it is.
    const std::size_t bytes = workspace_bytes(values, c);
    Halves workspace(bytes / 2 + 128, 0xFFFF);
    auto* const workspace_start = reinterpret_cast<unsigned char*>(
        (reinterpret_cast<std::uintptr_t>(workspace.data()) + 255) / 256 * 256);
    std::memset(workspace_start, 0, 4 * counters);
    void* pointers[] = {start(a, alignment), start(b, alignment),   start(bias, alignment),
                        start(y, alignment), start(out, alignment), workspace_start};
    const Buffer buffers[] = {{pointers[0], c.a.size() * 2, false},    {pointers[1], c.b.size() * 2, false},
                              {pointers[2], c.bias.size() * 2, false}, {pointers[3], c.y.size() * 2, false},
                              {pointers[4], out_elements * 2, true},   {pointers[5], bytes, true}};
    std::vector<long long> dimensions(plan.dimensions.begin(), plan.dimensions.end());
    std::vector<void*> parameters;
    for (void*& pointer : pointers) parameters.push_back(&pointer);
    for (long long& dimension : dimensions) parameters.push_back(&dimension);
    const Launch launch{
        plan.geometry.grid[0], plan.geometry.block[0], plan.geometry.dynamic_shared_bytes, buffers, 6, seed};
    if (const char* why = entry_(&launch, parameters.data())) return why;
    for (std::size_t i = 0; i < 4 * counters; ++i)
      if (workspace_start[i] != 0) return "a counter of the workspace is left";
    return test::fault(c, static_cast<const std::uint16_t*>(pointers[4]), 0xA5A5);
  }

 private:
  /// A copy at a multiple of `alignment` and of no more.
  static std::vector<unsigned char> aligned(const Halves& halves, std::size_t alignment) {
    std::vector<unsigned char> bytes(halves.size() * 2 + 64);
    std::memcpy(start(bytes, alignment), halves.data(), halves.size() * 2);
    return bytes;
  }
  static unsigned char* start(const std::vector<unsigned char>& bytes, std::size_t alignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    return reinterpret_cast<unsigned char*>((address + 31) / 32 * 32 + alignment);
  }

  std::optional<HostLibrary> library_;
  Entry entry_ = nullptr;
};

/// Problems whose rows allow a configuration's accesses, with edges on all sides, and deep enough for each of
/// the blocks that share K to have a step of it.
std::vector<AddmmGluRig::Dimensions> problems_for(const db::Values& values) {
  const std::int64_t step = integer(values, "vector") / 2;
  const auto up = [&](std::int64_t elements) { return (elements + step - 1) / step * step; };
  const std::int64_t least_k = (integer(values, "split") - 1) * integer(values, "tile_k") + 1;
  std::vector<AddmmGluRig::Dimensions> result;
  for (const auto& [m, n, some_k, gap] :
       {std::array<std::int64_t, 4>{1, 1, 1, 0}, {17, 72, 200, 0}, {127, 129, 65, 1}, {40, 300, 264, 2}}) {
    const std::int64_t k = std::max(some_k, least_k);
    const std::int64_t apart = gap * step;
    result.push_back({{"M", m},
                      {"N", n},
                      {"K", k},
                      {"lda", up(k) + apart},
                      {"ldb", 0},
                      {"ldy", up(n) + apart},
                      {"ldo", up(n) + 2 * apart}});
    result.back()[4].second = up(std::max(n, k)) + apart;
  }
  return result;
}

/// The launch of a configuration, legal on the problem or not: some are only too slow.
Plan launched(AddmmGluRig& glu, const db::Values& values, const db::Problem& problem) {
  Variant variant = glu.variant();
  variant.constraints.clear();
  db::Evaluator evaluator;
  return std::get<Plan>(make_plan(evaluator, glu.family(), variant, values, problem, glu.device()));
}

void check_on_warps(const std::vector<db::Values>& configurations) {
  // Few compute units, so that persistent blocks have several tiles.
  DeviceInfo device = nominal_device("sm_90a");
  device.compute_units = 2;
  AddmmGluRig glu(device, "mma");
  std::size_t turn = 0;
  for (const db::Values& values : configurations) {
    const ElementType type = turn % 2 == 0 ? ElementType::f16 : ElementType::bf16;
    const std::string layout = turn / 2 % 2 == 0 ? "nn" : "nt";
    ++turn;
    const EmulatedMma mma(translation_unit(glu.variant(), values, name(type), layout, Backend::host));
    REQUIRE(mma.loaded());
    for (const auto& dimensions : problems_for(values)) {
      const db::Problem problem = glu.problem(type, layout, dimensions);
      const auto shapes = glu.shapes(problem);
      const Case c(problem, shapes);
      INFO(name(type) << " " << problem.text() << " " << db::to_string(values));
      CHECK(mma.fault(values, launched(glu, values, problem), c, static_cast<std::size_t>(shapes[4].elements),
                      turn) == "");
    }
  }
}

}  // namespace

TEST_CASE("mma is right on emulated warps") {
  const auto with_all = [&](const db::Values& changes) {
    const AddmmGluRig glu(nominal_device("sm_90a"), "mma");
    return with(glu.variant().defaults, changes);
  };
  const std::int64_t one = 1;
  const std::string async = "async";
  const std::string shared = "shared";
  check_on_warps({
      with_all({}),
      with_all(
          {{"load", async}, {"vector", 16 * one}, {"stages", 4 * one}, {"y_path", std::string("early")}}),
      with_all(
          {{"load", async}, {"vector", 8 * one}, {"stages", 3 * one}, {"split", 2 * one}, {"store", shared}}),
      with_all({{"load", async},
                {"vector", 16 * one},
                {"stages", 3 * one},
                {"persistent", one},
                {"tile_n", 96 * one},
                {"y_path", shared},
                {"store", shared},
                {"group_m", 4 * one}}),
      with_all({{"load", async}, {"vector", 4 * one}, {"stages", 2 * one}, {"bias", std::string("last")}}),
      with_all({{"vector", 16 * one}, {"stages", one}, {"bias", std::string("last")}, {"warps_m", one}}),
      with_all({{"load", async},
                {"vector", 16 * one},
                {"stages", 5 * one},
                {"persistent", one},
                {"tile_k", 64 * one},
                {"tile_m", 16 * one},
                {"warps_m", one},
                {"store", shared}}),
  });
}

TEST_CASE("mma is right on emulated warps, each parameter value tried", "[long]") {
  AddmmGluRig glu(nominal_device("sm_90a"), "mma");
  std::vector<db::Values> some;
  for (const AddmmGluRig::Dimensions& dimensions :
       {AddmmGluRig::Dimensions{{"M", 1024}, {"N", 21568}, {"K", 1024}},
        {{"M", 16}, {"N", 28672}, {"K", 4096}},
        {{"M", 300}, {"N", 522}, {"K", 130}},
        {{"M", 300}, {"N", 521}, {"K", 129}}}) {
    const auto all = glu.configurations(glu.problem(ElementType::f16, "nn", dimensions), 11);
    some.insert(some.end(), all.begin(), all.end());
  }
  check_on_warps(covering(some, 1));
}

#endif
