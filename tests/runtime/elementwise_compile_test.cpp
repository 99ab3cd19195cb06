// The other families of elementwise.toml and its vendors' own variants: they compile, and the instructions
// are those meant.
#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>

#include "tests/runtime/assembly.hpp"
#include "tests/runtime/elementwise_rig.hpp"

using namespace hone;
using namespace hone::test;

namespace {

void compile(ElementwiseRig& rig, Compiler& compiler, const db::Values& values, ElementType type) {
  const CompileResult result = compiler.compile(
      {rig.device().backend, rig.device().architecture, rig.source(values, type), rig.entry()});
  INFO(rig.family().name << " " << rig.variant().name << " " << rig.device().architecture << " " << name(type)
                         << " " << db::to_string(values) << "\n"
                         << result.log);
  CHECK(result.ok);
  CHECK(result.resources.spill_bytes <= 0);
  CHECK(result.resources.registers <= 64);
}

/// Unrolled twice and non-temporal: each access is one instruction with its hint.
void check_streams(const std::string& text, const std::string& prefix, const std::string& hint,
                   std::size_t vectors) {
  INFO(text);
  CHECK(instructions(text, prefix + "_load_dwordx4 [^\n]*" + hint + "\n") == vectors);
  CHECK(instructions(text, prefix + "_store_dwordx4 [^\n]*" + hint + "\n") == vectors);
  CHECK(instructions(text, "_(load|store)_dwordx[234] [^\n]* v") == 2 * vectors);
  CHECK(instructions(text, "scratch_(load|store)") == 0);
}

/// A block's descriptor ends with its vectors: its bytes are a minimum, cut to a multiple of 16.
void check_bounds(const std::string& text) {
  INFO(text);
  std::smatch access;
  REQUIRE(std::regex_search(text, access, std::regex("buffer_load_dwordx4 [^\n]*s\\[([0-9]+):")));
  const std::string records = "s" + std::to_string(std::stoi(access[1]) + 2);
  CHECK(count(text, "s_mov_b32 " + records + ", -1") == 0);
  CHECK(count(text, "s_(cselect_b32|min_[iu]32) s[0-9]+, [^\n]*0x2000") == 1);
  CHECK(count(text, "s_and_b32 s[0-9]+, s[0-9]+, (0x3ff0|-16|0xfffffff0)") >= 1);
  CHECK(count(text, "0x27000\\b") >= 1);
  CHECK(count(text, "buffer_(load|store)_") == 4);
}

const db::Values streams{
    {"load", std::string("nt")}, {"store", std::string("nt")}, {"unroll", std::int64_t{2}}};

}  // namespace

TEST_CASE("each element-wise family compiles on the run-time compilers, in each variant", "[compilers]") {
  const std::string architecture = GENERATE("sm_75", "sm_90a", "gfx90a");
  const auto compiler = compiler_for(architecture);
  if (compiler == nullptr) return;
  // hipRTC takes a third of a second a kernel.
  const bool slow = backend_of(architecture) == Backend::hip;
  for (const char* family : {"gelu", "gelu_tanh", "silu", "copy"}) {
    if (slow && std::string(family) != "gelu") continue;
    for (const char* variant : {"simt", "buffer"}) {
      ElementwiseRig rig(nominal_device(architecture), family, variant);
      if (!rig.variant().runs_on(rig.device())) continue;
      // Types differ in their conversions, which simt's families share.
      for (const ElementType type : rig.family().element_types)
        if (type == ElementType::bf16 || (std::string(family) == "gelu" && std::string(variant) == "simt"))
          compile(rig, *compiler, rig.variant().defaults, type);
    }
  }
}

TEST_CASE("relu's buffer variant compiles, each parameter value tried", "[compilers]") {
  const auto compiler = compiler_for("gfx90a");
  if (compiler == nullptr) return;
  ElementwiseRig relu(nominal_device("gfx90a"), "relu", "buffer");
  const auto all = relu.configurations(ElementType::f16);
  CHECK(all.size() >= 20);
  CHECK(all.size() <= 250);
  CHECK(std::count(all.begin(), all.end(), relu.variant().defaults) == 1);
  for (const db::Values& values : covering(all, 1)) compile(relu, *compiler, values, ElementType::f16);
}

TEST_CASE("hipRTC's code for gfx90a has one instruction a 16-byte access, with its hint", "[compilers]") {
  for (const char* variant : {"simt", "buffer"}) {
    ElementwiseRig relu(nominal_device("gfx90a"), "relu", variant);
    const std::string text = hiprtc_assembly(
        "gfx90a", relu.source(with(relu.variant().defaults, streams), ElementType::f16), relu.entry());
    if (text.empty()) {
      WARN("not tested: there is no hipRTC, or no llvm-objdump");
      return;
    }
    if (std::string(variant) == "simt") {
      check_streams(text, "global", " glc slc", 4);
    } else {
      check_streams(text, "buffer", " glc slc", 2);
      check_bounds(text);
    }
  }
}

TEST_CASE(
    "the buffer variant's code has one instruction a 16-byte access, its hint, and a bounded descriptor",
    "[compilers]") {
  for (const std::string architecture : {"gfx90a", "gfx942", "gfx950"}) {
    ElementwiseRig relu(nominal_device(architecture), "relu", "buffer");
    const auto assembly = [&](const db::Values& changes) {
      return clang_assembly(architecture,
                            relu.source(with(relu.variant().defaults, changes), ElementType::bf16));
    };
    const std::string text = assembly(streams);
    if (text.empty()) {
      WARN("not tested: there is no clang with recent AMD targets");
      return;
    }
    const bool old = architecture == "gfx90a";
    check_streams(text, "buffer", old ? " glc slc" : " nt", 2);
    check_bounds(text);
    const std::string scopes = assembly({{"load", std::string("sc1")}, {"store", std::string("sc0")}});
    INFO(scopes);
    CHECK(instructions(scopes,
                       std::string("buffer_load_dwordx4 [^\n]*offen ") + (old ? "slc" : "sc1") + "\n") == 1);
    CHECK(instructions(scopes,
                       std::string("buffer_store_dwordx4 [^\n]*offen ") + (old ? "glc" : "sc0") + "\n") == 1);
  }
}
