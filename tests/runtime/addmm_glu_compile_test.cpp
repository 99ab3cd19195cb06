// addmm_glu's simt, mma and wgmma for GPUs: their spaces, that configurations which cover them compile
// without spills, and that the instructions are those meant.
#include <catch2/catch.hpp>

#include "tests/runtime/addmm_glu_rig.hpp"
#include "tests/runtime/assembly.hpp"
#include "tests/runtime/elementwise_rig.hpp"

using namespace hone;
using namespace hone::test;

namespace {

const AddmmGluRig::Dimensions wide = {{"M", 1024}, {"N", 21568}, {"K", 1024}};
const AddmmGluRig::Dimensions flat = {{"M", 16}, {"N", 28672}, {"K", 4096}};
const AddmmGluRig::Dimensions odd = {{"M", 300}, {"N", 521}, {"K", 129}};
const AddmmGluRig::Dimensions even = {{"M", 300}, {"N", 522}, {"K", 130}};
const AddmmGluRig::Dimensions by_four = {{"M", 300}, {"N", 524}, {"K", 132}};

std::int64_t integer(const db::Values& values, const char* name) {
  return std::get<std::int64_t>(values.at(name));
}

/// Compiles what covers a problem's space, types and layouts in turn.
void compile_covering(const std::string& architecture, const std::string& variant, std::size_t step,
                      const std::vector<AddmmGluRig::Dimensions>& problems, std::int64_t most_spilled = 0) {
  const auto compiler = compiler_for(architecture);
  if (compiler == nullptr) return;
  AddmmGluRig glu(nominal_device(architecture), variant);
  std::vector<db::Values> some;
  for (const auto& dimensions : problems) {
    const auto all = glu.configurations(glu.problem(ElementType::f16, "nn", dimensions), step);
    some.insert(some.end(), all.begin(), all.end());
  }
  const auto chosen = covering(some, 1);
  REQUIRE(chosen.size() >= 4);
  std::size_t turn = 0;
  for (const db::Values& values : chosen) {
    const ElementType type = turn % 2 == 0 ? ElementType::f16 : ElementType::bf16;
    const std::string layout = turn / 2 % 2 == 0 ? "nn" : "nt";
    ++turn;
    const CompileResult result = compiler->compile(
        {glu.device().backend, architecture, glu.source(values, type, layout), glu.entry()});
    INFO(architecture << " " << name(type) << " " << layout << " " << db::to_string(values) << "\n"
                      << result.log);
    CHECK(result.ok);
    CHECK(result.resources.spill_bytes <= most_spilled);
  }
}

}  // namespace

TEST_CASE("addmm_glu's simt and mma have spaces of the size meant, and their defaults everywhere",
          "[compilers]") {
  struct Expected {
    const char* architecture;
    const char* variant;
    std::size_t least, most;
  };
  for (const Expected& expected : {Expected{"x86-64-v3", "simt", 4, 60},
                                   {"sm_75", "simt", 100, 1000},
                                   {"sm_90a", "simt", 100, 1000},
                                   {"gfx90a", "simt", 100, 1000},
                                   {"sm_86", "mma", 5000, 50000},
                                   {"sm_90a", "mma", 10000, 50000}}) {
    AddmmGluRig glu(nominal_device(expected.architecture), expected.variant);
    const std::size_t size = glu.configurations(glu.problem(ElementType::f16, "nn", wide)).size();
    INFO(expected.architecture << " " << expected.variant);
    CHECK(size >= expected.least);
    CHECK(size <= expected.most);
    auto problems = glu.family().check.extents;
    problems.insert(problems.end(), {wide, flat, odd, even, by_four, {{"M", 1}, {"N", 1 << 20}, {"K", 3}}});
    for (const auto& dimensions : problems) {
      for (const char* layout : {"nn", "nt"}) {
        const auto plan =
            glu.plan(glu.variant().defaults, glu.problem(ElementType::bf16, layout, dimensions));
        if (const auto* illegal = std::get_if<Illegal>(&plan)) FAIL_CHECK(illegal->why);
      }
    }
  }
}

TEST_CASE("mma takes rows as their strides allow, shares K where the device idles, and fits its blocks",
          "[compilers]") {
  AddmmGluRig glu(nominal_device("sm_90a"), "mma");
  struct Expected {
    AddmmGluRig::Dimensions dimensions;
    std::int64_t vector, split;
  };
  for (const Expected& expected :
       {Expected{wide, 16, 1}, {flat, 16, 8}, {odd, 2, 1}, {even, 4, 2}, {by_four, 8, 2}}) {
    const db::Problem problem = glu.problem(ElementType::f16, "nn", expected.dimensions);
    std::int64_t vector = 0;
    std::int64_t split = 0;
    for (const db::Values& values : glu.configurations(problem, 7)) {
      vector = std::max(vector, integer(values, "vector"));
      split = std::max(split, integer(values, "split"));
      const auto made = glu.plan(values, problem);
      REQUIRE(std::holds_alternative<Plan>(made));
      const Plan& plan = std::get<Plan>(made);
      REQUIRE(plan.geometry.grid[0] <= plan.needed_blocks[0]);
      REQUIRE(plan.alignment == integer(values, "vector"));
    }
    INFO(problem.text());
    CHECK(vector == expected.vector);
    CHECK(split == expected.split);
  }
}

TEST_CASE("mma's ladder is legal on the problem that it was made for", "[compilers]") {
  for (const std::string architecture : {"sm_80", "sm_86", "sm_90a", "sm_120a"}) {
    AddmmGluRig glu(nominal_device(architecture), "mma");
    int points = 0;
    for (const LadderPoint& point : glu.family().ladder) {
      if (point.variant != "mma") continue;
      ++points;
      const auto plan = glu.plan(point.parameters, glu.problem(ElementType::f16, "nn", wide));
      INFO(architecture << " " << point.name);
      if (const auto* illegal = std::get_if<Illegal>(&plan)) FAIL_CHECK(illegal->why);
    }
    CHECK(points == 4);
  }
}

TEST_CASE("addmm_glu's simt compiles on the run-time compilers, each parameter value tried", "[compilers]") {
  const std::string architecture = GENERATE("sm_75", "sm_90a", "gfx90a");
  compile_covering(architecture, "simt", 1, {wide});
}

TEST_CASE("mma compiles for Hopper without spills, each parameter value tried", "[compilers]") {
  compile_covering("sm_90a", "mma", 17, {wide, flat, even, odd});
}

TEST_CASE("wgmma compiles for Hopper with hardly a spill, each parameter value tried", "[compilers]") {
  constexpr std::int64_t a_register_or_two = 16;  // bytes, of loads and stores
  compile_covering("sm_90a", "wgmma", 997, {wide, flat}, a_register_or_two);
}

TEST_CASE("wgmma's instructions follow each other without waits that the compiler adds", "[compilers]") {
  const auto compiler = compiler_for("sm_90a");
  if (compiler == nullptr) return;
  AddmmGluRig glu(nominal_device("sm_90a"), "wgmma");
  for (const LadderPoint& point : glu.family().ladder) {
    if (point.variant != "wgmma") continue;
    for (const char* layout : {"nn", "nt"}) {
      const auto plan = glu.plan(point.parameters, glu.problem(ElementType::f16, layout, wide));
      INFO(point.name << " " << layout);
      if (const auto* illegal = std::get_if<Illegal>(&plan)) FAIL_CHECK(illegal->why);
      const CompileResult result =
          compiler->compile({glu.device().backend, "sm_90a",
                             glu.source(point.parameters, ElementType::f16, layout), glu.entry()});
      INFO(result.log);
      CHECK(result.ok);
      CHECK(result.resources.spill_bytes == 0);
      // ptxas tells what it serialises (C7510, C7514, C7515) or where it adds a wait (C7517).
      CHECK(result.log.find("C751") == std::string::npos);
    }
  }
}

TEST_CASE("mma compiles for every architecture from sm_80 on without spills, each parameter value tried",
          "[long]") {
  const std::string architecture = GENERATE("sm_80", "sm_86", "sm_89", "sm_100a", "sm_120a");
  compile_covering(architecture, "mma", 13, {wide, flat, even, by_four, odd});
}

TEST_CASE("mma's SASS multiplies by matrix instructions on fragments from shared memory, and spills nothing",
          "[long]") {
  const auto compiler = compiler_for("sm_90a");
  const std::string disassembler = program({"nvdisasm"});
  if (compiler == nullptr) return;
  if (disassembler.empty()) {
    WARN("not tested: there is no nvdisasm in PATH or /usr/local/cuda/bin");
    return;
  }
  AddmmGluRig glu(nominal_device("sm_90a"), "mma");
  const auto sass = [&](ElementType type, const std::string& layout, const db::Values& changes) {
    const db::Values values = with(glu.variant().defaults, changes);
    const CompileResult result =
        compiler->compile({Backend::cuda, "sm_90a", glu.source(values, type, layout), glu.entry()});
    INFO(result.log);
    REQUIRE(result.ok);
    const ScratchFile cubin(result.object.data(), result.object.size(), ".cubin");
    return output_of(disassembler + " -c " + cubin.path());
  };
  const db::Values direct = {{"tile_m", std::int64_t{128}}, {"tile_n", std::int64_t{128}},
                             {"vector", std::int64_t{16}},  {"load", std::string("async")},
                             {"stages", std::int64_t{4}},   {"hint", std::string("nt")}};
  for (const std::string layout : {"nn", "nt"}) {
    for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
      // A warp's 64 x 64 elements of out: 4 x 8 instructions for each of two steps of 16. A step's fragments
      // are 4 loads of A's and 4 of B's, transposed where its rows do not lie along K.
      const std::string text = sass(type, layout, direct);
      INFO(layout << " " << name(type));
      CHECK(count(text, type == ElementType::f16 ? R"(HMMA\.16816\.F32 )" : R"(HMMA\.16816\.F32\.BF16 )") ==
            64);
      CHECK(count(text, R"(LDSM\.16\.M88\.4 )") == (layout == "nn" ? 8 : 16));
      CHECK(count(text, R"(LDSM\.16\.MT88\.4 )") == (layout == "nn" ? 8 : 0));
      // Copies of 16 bytes that pass the L1 cache by: 8 in each of four places, whole and at K's end.
      CHECK(count(text, R"(LDGSTS\.E\.BYPASS[.A-Z0-9]*\.128)") == 64);
      CHECK(count(text, R"(LDG\.E\.EF )") >= 64);
      CHECK(count(text, R"(STG\.E\.EF )") >= 64);
      CHECK(count(text, R"((LDL|STL))") == 0);
    }
  }
  // Through registers: wide loads, wide stores to shared memory, no copies.
  const std::string staged = sass(
      ElementType::f16, "nn",
      with(direct,
           {{"load", std::string("registers")}, {"stages", std::int64_t{1}}, {"warps_n", std::int64_t{4}}}));
  INFO(staged.substr(0, 1000));
  CHECK(count(staged, "LDGSTS") == 0);
  CHECK(count(staged, R"(LDG\.E\.128 )") >= 4);
  CHECK(count(staged, R"(STS\.128 )") == 4);
  // Rows of out by 16 bytes, y by copies.
  const std::string shared =
      sass(ElementType::f16, "nn",
           with(direct, {{"store", std::string("shared")}, {"y_path", std::string("shared")}}));
  CHECK(count(shared, R"(STG\.E\.EF\.128 )") >= 16);
  CHECK(count(shared, R"(LDG\.E\.EF )") == 0);
}
