// addmm_glu on the host: its values in both layouts and types, at edges and in strided views, and its
// reference.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernel_templates/common/fill.h"
#include "kernel_templates/common/marks.h"
#include "runtime/host_library.hpp"
#include "tests/runtime/addmm_glu_values.hpp"
#include "tests/runtime/elementwise_rig.hpp"

using namespace hone;
using namespace hone::test;

namespace {

void launch(HostRig& rig, const Kernel& kernel, const Plan& plan, const void* a, const void* b,
            const void* bias, const void* y, void* out) {
  const auto d = [&](std::size_t i) { return static_cast<long long>(plan.dimensions[i]); };
  rig.launch(kernel, plan.geometry, a, b, bias, y, out, d(0), d(1), d(2), d(3), d(4), d(5), d(6));
}

}  // namespace

TEST_CASE("addmm_glu is right on the host, each parameter value tried") {
  const auto type = GENERATE(ElementType::f16, ElementType::bf16);
  const std::string layout = GENERATE("nn", "nt");
  HostRig rig;
  AddmmGluRig glu(rig.device().info(), "simt");
  const auto chosen =
      covering(glu.configurations(glu.problem(type, layout, {{"M", 256}, {"N", 256}, {"K", 64}})), 1);
  REQUIRE(chosen.size() >= 3);
  for (const db::Values& values : chosen) {
    const auto kernel = rig.kernel(glu.source(values, type, layout), glu.entry());
    for (const auto& dimensions : problems) {
      const db::Problem problem = glu.problem(type, layout, dimensions);
      const auto shapes = glu.shapes(problem);
      const Case c(problem, shapes);
      const Plan plan = std::get<Plan>(glu.plan(values, problem));
      CHECK(plan.alignment == 2);
      const auto elements = static_cast<std::size_t>(shapes[4].elements);
      // A guard on both sides, and an odd element's address.
      Halves out(elements + 200, 0xA5A5);
      launch(rig, *kernel, plan, c.a.data(), c.b.data(), c.bias.data(), c.y.data(), out.data() + 99);
      INFO(problem.text() << " " << db::to_string(values));
      CHECK(fault(c, out.data() + 99, 0xA5A5) == "");
      const auto untouched = [](std::uint16_t half) { return half == 0xA5A5; };
      CHECK(std::all_of(out.begin(), out.begin() + 99, untouched));
      CHECK(std::all_of(out.begin() + 99 + static_cast<std::ptrdiff_t>(elements), out.end(), untouched));
    }
  }
}

TEST_CASE("addmm_glu touches no byte beyond its arguments, not even to read it") {
  HostRig rig;
  AddmmGluRig glu(rig.device().info(), "simt");
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t usable = 32 * page;
  // Arguments that end where a mapping ends: an access beyond faults.
  std::vector<unsigned char*> maps;
  for (int i = 0; i < 5; ++i) {
    void* memory = mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    maps.push_back(static_cast<unsigned char*>(memory));
    REQUIRE(mprotect(maps.back() + usable, page, PROT_NONE) == 0);
  }
  for (const std::string layout : {"nn", "nt"}) {
    const auto kernel = rig.kernel(glu.source(glu.variant().defaults, ElementType::f16, layout), glu.entry());
    for (const auto& dimensions : problems) {
      const db::Problem problem = glu.problem(ElementType::f16, layout, dimensions);
      const auto shapes = glu.shapes(problem);
      const Case c(problem, shapes);
      const Halves* const inputs[] = {&c.a, &c.b, &c.bias, &c.y};
      std::vector<unsigned char*> places;
      for (std::size_t i = 0; i < 5; ++i) {
        places.push_back(maps[i] + usable - shapes[i].bytes());
        if (i < 4) std::memcpy(places[i], inputs[i]->data(), shapes[i].bytes());
      }
      std::memset(places[4], 0x5A, shapes[4].bytes());
      launch(rig, *kernel, std::get<Plan>(glu.plan(glu.variant().defaults, problem)), places[0], places[1],
             places[2], places[3], places[4]);
      INFO(problem.text());
      CHECK(fault(c, reinterpret_cast<const std::uint16_t*>(places[4]), 0x5A5A) == "");
    }
  }
  for (unsigned char* map : maps) munmap(map, usable + page);
}

namespace {

using Reference = void (*)(const long long*, const char*, const char*, void* const*, long long, long long);

struct LoadedReference {
  HostLibrary library{compile_host_library(expand_includes(templates + "/addmm_glu/reference.cpp"))};
  Reference function = reinterpret_cast<Reference>(library.symbol("hone_reference"));
};

std::uint64_t bits_of(double number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

std::vector<long long> numbers_of(const db::Problem& problem) {
  std::vector<long long> result;
  for (const auto& [name, value] : problem.dimensions) result.push_back(value);
  return result;
}

}  // namespace

TEST_CASE("addmm_glu's reference is right to double precision, and leaves gaps untouched") {
  const LoadedReference reference;
  REQUIRE(reference.function != nullptr);
  AddmmGluRig glu(nominal_device("x86-64-v3"), "simt");
  auto tried = problems;
  tried.push_back({{"M", 70}, {"N", 200}, {"K", 700}, {"ldo", 201}});
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    for (const std::string layout : {"nn", "nt"}) {
      for (const auto& dimensions : tried) {
        const db::Problem problem = glu.problem(type, layout, dimensions);
        const auto shapes = glu.shapes(problem);
        Case c(problem, shapes);
        std::vector<double> out(static_cast<std::size_t>(shapes[4].elements),
                                hone_mark_number(hone_untouched));
        void* arguments[] = {c.a.data(), c.b.data(), c.bias.data(), c.y.data(), out.data()};
        const long long items = (c.m + 63) / 64 * ((c.n + 63) / 64);
        for (long long item = 0; item < items; ++item)
          reference.function(numbers_of(problem).data(), name(type), layout.c_str(), arguments, item,
                             item + 1);
        bool right = true;
        for (std::int64_t i = 0; i < shapes[4].elements; ++i) {
          const std::int64_t row = i / c.ldo;
          const std::int64_t column = i % c.ldo;
          const double value = out[static_cast<std::size_t>(i)];
          right = right && (column < c.n ? std::abs(value - c.right(row, column)) < 1e-10
                                         : bits_of(value) == hone_untouched);
        }
        INFO(problem.text());
        CHECK(right);
      }
    }
  }
}

TEST_CASE("addmm_glu's reference samples a large problem, its corners and its edges among the sample") {
  const LoadedReference reference;
  AddmmGluRig glu(nominal_device("x86-64-v3"), "simt");
  // 60 x 70 tiles, of which 2^33 multiply-adds allow 1024; and the same with a row of tiles alone.
  struct Expected {
    std::int64_t m, n, k;
    double least, most;     // tiles
    double edges_at_least;  // share of the edges' tiles
  };
  for (const Expected& e : {Expected{60 * 64, 70 * 64 - 7, 2048, 950, 1100, 1.0},
                            Expected{40, 3000 * 64, 4096, 440, 590, 0.14}}) {
    const db::Problem problem =
        glu.problem(ElementType::bf16, "nt", {{"M", e.m}, {"N", e.n}, {"K", e.k}, {"ldo", e.n + 1}});
    const auto shapes = glu.shapes(problem);
    // All of A, B, bias and y are 1/2: results are known, and nothing has to be made.
    std::vector<Halves> inputs;
    for (std::size_t i = 0; i < 4; ++i)
      inputs.emplace_back(static_cast<std::size_t>(shapes[i].elements), 0x3F00);
    std::vector<double> out(static_cast<std::size_t>(shapes[4].elements), hone_mark_number(hone_untouched));
    void* arguments[] = {inputs[0].data(), inputs[1].data(), inputs[2].data(), inputs[3].data(), out.data()};
    const std::int64_t tall = (e.m + 63) / 64;
    const std::int64_t wide = (e.n + 63) / 64;
    reference.function(numbers_of(problem).data(), "bf16", "nt", arguments, 0, tall * wide);

    const double x = 0.25 * static_cast<double>(e.k) + 0.5;
    std::int64_t computed = 0;
    std::int64_t edges = 0;
    std::int64_t computed_edges = 0;
    bool right = true;
    for (std::int64_t tile = 0; tile < tall * wide; ++tile) {
      const std::int64_t row = tile / wide;
      const std::int64_t column = tile % wide;
      const double first = out[static_cast<std::size_t>(row * 64 * (e.n + 1) + column * 64)];
      const bool has = bits_of(first) != hone_unsampled;
      computed += has ? 1 : 0;
      const bool edge = row == 0 || row == tall - 1 || column == 0 || column == wide - 1;
      const bool corner = (row == 0 || row == tall - 1) && (column == 0 || column == wide - 1);
      edges += edge ? 1 : 0;
      computed_edges += edge && has ? 1 : 0;
      if (corner) CHECK(has);
      for (std::int64_t i = row * 64; i < std::min(e.m, row * 64 + 64); ++i) {
        for (std::int64_t j = column * 64; j < std::min(e.n, column * 64 + 64); ++j) {
          const double value = out[static_cast<std::size_t>(i * (e.n + 1) + j)];
          right = right && (has ? value == 1.5 * x : bits_of(value) == hone_unsampled);
        }
        if (column == wide - 1 && i + 1 < e.m)
          right = right && bits_of(out[static_cast<std::size_t>(i * (e.n + 1) + e.n)]) == hone_untouched;
      }
    }
    INFO(problem.text() << ": " << computed << " of " << tall * wide << " tiles, " << computed_edges << " of "
                        << edges << " along the edges");
    CHECK(right);
    CHECK(static_cast<double>(computed) >= e.least);
    CHECK(static_cast<double>(computed) <= e.most);
    CHECK(static_cast<double>(computed_edges) >= e.edges_at_least * static_cast<double>(edges));
  }
}
