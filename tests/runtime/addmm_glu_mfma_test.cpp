// addmm_glu's mfma variant: its space, what its launches ask of pointers, that it compiles, and that its
// instructions and resources are those meant. It needs the compilers and no GPU.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <regex>

#include "tests/runtime/assembly.hpp"
#include "tests/runtime/elementwise_rig.hpp"

using namespace hone;
using namespace hone::test;

namespace {

const std::vector<std::string> architectures{"gfx90a", "gfx942", "gfx950"};

std::int64_t number(const db::Values& values, const char* name) {
  return std::get<std::int64_t>(values.at(name));
}

class MfmaRig {
 public:
  explicit MfmaRig(const std::string& architecture)
      : device_(nominal_device(architecture)),
        family_(parse_family(templates + "/addmm_glu/addmm_glu.toml")) {}

  const Family& family() const { return family_; }
  const Variant& variant() const { return *family_.variant("mfma"); }
  const DeviceInfo& device() const { return device_; }

  using Dimensions = std::vector<std::pair<std::string, std::int64_t>>;

  db::Problem problem(const std::string& layout,
                      const Dimensions& dimensions = {{"M", 1024}, {"N", 21568}, {"K", 512}}) {
    return make_problem(evaluator_, family_, "f16", layout, dimensions);
  }

  /// How many configurations there are, and every `stride`-th of them.
  std::size_t enumerate(const std::string& layout, std::size_t stride, std::vector<db::Values>& some) {
    db::Values names = problem_names(problem(layout));
    for (const auto& [key, value] : device_.names()) names[key] = value;
    std::size_t points = 0;
    evaluator_.enumerate(variant().parameters, variant().constraints, names, [&](const db::Values& values) {
      if (points++ % stride == stride / 2) some.push_back(values);
      return true;
    });
    return points;
  }

  std::variant<Plan, Illegal> plan(const db::Values& values, const db::Problem& problem) {
    return make_plan(evaluator_, family_, variant(), values, problem, device_);
  }

  std::string source(const db::Values& values, ElementType type, const std::string& layout) {
    return translation_unit(variant(), values, name(type), layout, device_.backend);
  }

  db::Values configuration(const db::Values& changes, const std::string& layout) {
    const db::Values values = with(variant().defaults, changes);
    INFO(device_.architecture << " " << db::to_string(values));
    CHECK(std::holds_alternative<Plan>(plan(values, problem(layout))));
    return values;
  }

 private:
  DeviceInfo device_;
  Family family_;
  db::Evaluator evaluator_;
};

struct Use {
  std::int64_t registers = 0, spill_bytes = 0, shared_bytes = 0;
};

/// What the assembly's metadata say.
Use use_of(const std::string& assembly) {
  const auto entry = [&](const std::string& key) {
    std::smatch match;
    REQUIRE(std::regex_search(assembly, match, std::regex("\\." + key + ":[ ]+([0-9]+)")));
    return static_cast<std::int64_t>(std::stoll(match[1]));
  };
  return {entry("vgpr_count"), entry("private_segment_fixed_size"), entry("group_segment_fixed_size")};
}

/// As many waves fit a SIMD as the configuration has, or asks for.
void check_occupancy(const MfmaRig& rig, const db::Values& values, const Use& use) {
  const std::int64_t waves_of_block = number(values, "warps_m") * number(values, "warps_n");
  const std::int64_t asked = number(values, "waves_per_eu");
  CHECK(use.registers <= 512 / std::max({std::int64_t{1}, asked, waves_of_block / 4}));
  CHECK(use.shared_bytes > 0);
  CHECK(
      static_cast<std::uint64_t>(use.shared_bytes * std::max(std::int64_t{1}, 4 * asked / waves_of_block)) <=
      rig.device().shared_memory_bytes);
}

/// The element types in turn; one, and one in twenty more, may spill. hipRTC 5 knows gfx90a alone; clang
/// knows all.
void compile(MfmaRig& rig, const std::string& layout, const std::vector<db::Values>& configurations) {
  const std::string& architecture = rig.device().architecture;
  const bool by_hiprtc = architecture == "gfx90a";
  const auto compiler = by_hiprtc ? compiler_for(architecture) : nullptr;
  if (by_hiprtc && compiler == nullptr) return;
  std::size_t turn = 0;
  std::size_t spilled = 0;
  for (const db::Values& values : configurations) {
    const ElementType type = turn++ % 2 == 0 ? ElementType::f16 : ElementType::bf16;
    const std::string source = rig.source(values, type, layout);
    INFO(architecture << " " << name(type) << " " << layout << " " << db::to_string(values));
    Use use;
    if (by_hiprtc) {
      const CompileResult result =
          compiler->compile({Backend::hip, architecture, source, rig.variant().entry});
      INFO(result.log);
      REQUIRE(result.ok);
      use = {result.resources.registers, result.resources.spill_bytes, result.resources.shared_bytes};
    } else {
      const std::string text = clang_assembly(architecture, source);
      if (text.empty()) {
        WARN("not tested for " << architecture << ": there is no clang with recent AMD targets");
        return;
      }
      use = use_of(text);
    }
    check_occupancy(rig, values, use);
    if (use.spill_bytes > 0) {
      ++spilled;
      WARN("spills " << use.spill_bytes << " bytes: " << architecture << " " << layout << " "
                     << db::to_string(values));
    }
  }
  CHECK(spilled <= 1 + configurations.size() / 20);
}

/// So many of the space, evenly.
std::vector<db::Values> some_of(MfmaRig& rig, const std::string& layout, std::size_t most) {
  std::vector<db::Values> some;
  const std::size_t points = rig.enumerate(layout, static_cast<std::size_t>(-1), some);
  some.clear();
  rig.enumerate(layout, points / most, some);
  some.resize(std::min(some.size(), most));
  return some;
}

}  // namespace

TEST_CASE("mfma's space has the size meant on each architecture, its default, and its ladder's points",
          "[compilers]") {
  for (const std::string& architecture : architectures) {
    MfmaRig rig(architecture);
    for (const std::string layout : {"nn", "nt"}) {
      INFO(architecture << " " << layout);
      std::vector<db::Values> some;
      const std::size_t points = rig.enumerate(layout, 1000, some);
      CHECK(points >= 10'000);
      CHECK(points <= 200'000);
      rig.configuration({}, layout);
      int steps = 0;
      for (const auto& point : rig.family().ladder) {
        if (point.variant != "mfma") continue;
        INFO(point.name);
        ++steps;
        CHECK(std::holds_alternative<Plan>(rig.plan(point.parameters, rig.problem(layout))));
      }
      CHECK(steps == 4);
    }
  }
}

TEST_CASE("mfma's default serves any problem, and asks of pointers what its rows allow", "[compilers]") {
  for (const std::string& architecture : architectures) {
    MfmaRig rig(architecture);
    const auto plan_of = [&](const db::Values& changes, const MfmaRig::Dimensions& dimensions) {
      return rig.plan(with(rig.variant().defaults, changes), rig.problem("nn", dimensions));
    };
    const db::Values async{{"load", std::string("async")}, {"stages", std::int64_t{2}}};
    const bool wide = architecture == "gfx950";
    INFO(architecture);
    CHECK(std::get<Plan>(plan_of({}, {{"M", 1}, {"N", 1}, {"K", 1}})).alignment == 2);
    CHECK(std::get<Plan>(plan_of({}, {{"M", 3}, {"N", 6}, {"K", 8}})).alignment == 4);
    CHECK(std::get<Plan>(plan_of({}, {{"M", 70'000}, {"N", 1}, {"K", 70'000}})).geometry.grid[0] == 547);
    CHECK(std::get<Plan>(plan_of(async, {{"M", 3}, {"N", 8}, {"K", 8}})).alignment == (wide ? 16 : 4));
    CHECK(std::get<Plan>(plan_of(async, {{"M", 3}, {"N", 5}, {"K", 7}})).alignment == 2);
    CHECK(std::holds_alternative<Plan>(plan_of(async, {{"M", 3}, {"N", 6}, {"K", 8}})) != wide);
    // Offsets within a tile have 32 bits.
    CHECK(std::holds_alternative<Illegal>(
        plan_of({}, {{"M", 128}, {"N", 128}, {"K", 64}, {"lda", std::int64_t{1} << 24}})));
  }
}

TEST_CASE("mfma compiles within its registers and LDS, each parameter value tried", "[compilers]") {
  for (const auto& [architecture, layout] : {std::pair{"gfx90a", "nn"}, {"gfx950", "nt"}}) {
    MfmaRig rig(architecture);
    compile(rig, layout, covering(some_of(rig, layout, 100), 1));
  }
}

TEST_CASE("mfma compiles within its registers and LDS, pairs of parameter values tried", "[long]") {
  for (const std::string& architecture : architectures) {
    MfmaRig rig(architecture);
    for (const std::string layout : {"nn", "nt"})
      compile(rig, layout, covering(some_of(rig, layout, 600), 2));
  }
}

// HONE_POINTS=2000, for half an hour, is what bench/RESULTS.md reports.
TEST_CASE("mfma compiles at points all over its space", "[long]") {
  const char* const asked = std::getenv("HONE_POINTS");
  const std::size_t points = asked != nullptr ? std::stoul(asked) : 60;
  for (const std::string& architecture : architectures) {
    MfmaRig rig(architecture);
    for (const std::string layout : {"nn", "nt"})
      compile(rig, layout, some_of(rig, layout, std::max<std::size_t>(1, points / 6)));
  }
}

TEST_CASE("mfma's code multiplies by matrices, loads past the registers and hints as it is asked to",
          "[compilers]") {
  const db::Values direct{{"load", std::string("async")}, {"stages", std::int64_t{3}},
                          {"tile_k", std::int64_t{32}},   {"warps_n", std::int64_t{4}},
                          {"priority", std::int64_t{1}},  {"y_path", std::string("early")}};
  const db::Values through{
      {"mfma", std::int64_t{32}}, {"hint", std::string("default")}, {"waves_per_eu", std::int64_t{2}}};
  for (const auto& [architecture, layout] : {std::pair<std::string, std::string>{"gfx90a", "nn"},
                                             {"gfx942", "nt"},
                                             {"gfx950", "nn"},
                                             {"gfx950", "nt"}}) {
    MfmaRig rig(architecture);
    const bool old = architecture == "gfx90a";
    const bool wide = architecture == "gfx950";
    const std::string hint = old ? " glc slc\n" : " nt\n";
    {
      const ElementType type = layout == "nn" ? ElementType::f16 : ElementType::bf16;
      const std::string suffix = type == ElementType::f16 ? "_?f16" : old ? "bf16_1k" : "_bf16";
      {
        const db::Values values = rig.configuration(direct, layout);
        const std::string text = clang_assembly(architecture, rig.source(values, type, layout));
        if (text.empty()) {
          WARN("not tested: there is no clang with recent AMD targets");
          return;
        }
        INFO(text);
        // A wave's 4 x 2 matrices, in the loop and after it; half as many where they are twice as deep.
        CHECK(instructions(text, "v_mfma_f32_16x16x(16|32)" + suffix) == (wide ? 16 : 32));
        CHECK(instructions(text, "v_mfma_f32_16x16x32") == (wide ? 16 : 0));
        // 16 KB a step, by 512 threads.
        const std::size_t loads = wide ? 2 : 8;
        const std::size_t all = instructions(text, "buffer_load_dword[x4]* [^\n]*offen lds\n");
        CHECK(all >= 3 * loads);
        CHECK(all % loads == 0);
        CHECK(instructions(text, "buffer_load_dwordx4 [^\n]*offen lds\n") == (wide ? all : 0));
        CHECK(count(text, "s_mov_b32 m0, s[0-9]+\n\ts_nop 0\n\tbuffer_load_dword[^\n]* lds\n") == all);
        CHECK(instructions(text, "s_waitcnt vmcnt\\(" + std::to_string(loads) + "\\)\n") >= 1);
        CHECK(instructions(text, "s_setprio 1") >= 1);
        // A lane's 32 elements of y and out, two side by side.
        CHECK(instructions(text, "buffer_load_dword v[^\n]*" + hint) == 16);
        CHECK(instructions(text, "buffer_store_dword v[^\n]*" + hint) == 16);
        CHECK(instructions(text, "v_pk_fma_f32") >= 16);
        CHECK(instructions(text, "(global|flat)_store") == 0);
        check_occupancy(rig, values, use_of(text));
        CHECK(use_of(text).spill_bytes == 0);
      }
      {
        const db::Values values = rig.configuration(through, layout);
        const std::string text = clang_assembly(architecture, rig.source(values, type, layout));
        INFO(text);
        CHECK(instructions(text, "v_mfma_f32_32x32x(8|16)" + suffix) == (wide ? 32 : 64));
        CHECK(instructions(text, " lds\n") == 0);
        CHECK(instructions(text, "buffer_load_dwordx4 ") >= 16);
        CHECK(instructions(text, "ds_write_b128") >= 8);
        CHECK(instructions(text, "ds_read_b128") >= (layout == "nt" ? 16U : 8U));
        CHECK(instructions(text, "buffer_(load|store)[^\n]* (nt|glc slc)\n") == 0);
        CHECK(instructions(text, "s_setprio") == 0);
        check_occupancy(rig, values, use_of(text));
        CHECK(use_of(text).spill_bytes == 0);
      }
    }
  }
}

TEST_CASE("hipRTC's code for gfx90a multiplies by matrices and loads past the registers, with hints",
          "[compilers]") {
  MfmaRig rig("gfx90a");
  const db::Values values =
      rig.configuration({{"load", std::string("async")}, {"stages", std::int64_t{2}}}, "nt");
  const std::string text =
      hiprtc_assembly("gfx90a", rig.source(values, ElementType::bf16, "nt"), rig.variant().entry);
  if (text.empty()) {
    WARN("not tested: there is no hipRTC, or no llvm-objdump");
    return;
  }
  INFO(text);
  CHECK(instructions(text, "v_mfma_f32_16x16x16bf16_1k") == 128);
  CHECK(instructions(text, "buffer_load_dword [^\n]* lds\n") >= 64);
  CHECK(instructions(text, "buffer_load_dwordx2 [^\n]* glc slc\n") == 16);
  CHECK(instructions(text, "buffer_store_dwordx2 [^\n]* glc slc\n") == 16);
}
