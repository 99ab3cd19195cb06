// relu for GPUs: configurations that cover its space compile, and the instructions are those meant.
#include <catch2/catch.hpp>
#include <regex>
#include <set>

#include "tests/runtime/assembly.hpp"
#include "tests/runtime/elementwise_rig.hpp"

using namespace hone;
using namespace hone::test;

namespace {

void compile_all(ElementwiseRig& relu, Compiler& compiler, ElementType type, int together) {
  const auto chosen = covering(relu.configurations(type), together);
  REQUIRE(chosen.size() >= 4);
  for (const db::Values& values : chosen) {
    const CompileResult result = compiler.compile(
        {relu.device().backend, relu.device().architecture, relu.source(values, type), relu.entry()});
    INFO(relu.device().architecture << " " << name(type) << " " << db::to_string(values) << "\n"
                                    << result.log);
    CHECK(result.ok);
    CHECK(result.resources.spill_bytes <= 0);
    CHECK(result.resources.registers <= 64);
  }
}

}  // namespace

TEST_CASE("relu compiles on the run-time compilers, each parameter value tried", "[compilers]") {
  const std::string architecture = GENERATE("sm_75", "sm_80", "sm_90a", "sm_100a", "gfx90a", "gfx1030");
  const auto compiler = compiler_for(architecture);
  if (compiler == nullptr) return;
  ElementwiseRig relu(nominal_device(architecture));
  // hipRTC takes a third of a second a kernel.
  const bool slow = relu.device().backend == Backend::hip;
  for (const ElementType type : relu.family().element_types) {
    if (slow && type != ElementType::f16) continue;
    compile_all(relu, *compiler, type, 1);
  }
}

TEST_CASE("relu compiles for sm_90a with every pair of parameter values", "[long]") {
  const auto compiler = compiler_for("sm_90a");
  if (compiler == nullptr) return;
  ElementwiseRig relu(nominal_device("sm_90a"));
  for (const ElementType type : relu.family().element_types) compile_all(relu, *compiler, type, 2);
}

TEST_CASE("relu's SASS has one instruction a 16-byte access, with its hint, and two a word of arithmetic",
          "[long]") {
  const auto compiler = compiler_for("sm_90a");
  const std::string disassembler = program({"nvdisasm"});
  if (compiler == nullptr) return;
  if (disassembler.empty()) {
    WARN("not tested: there is no nvdisasm in PATH or /usr/local/cuda/bin");
    return;
  }
  ElementwiseRig relu(nominal_device("sm_90a"));
  const auto sass = [&](ElementType type, const db::Values& changes) {
    const db::Values values = with(relu.variant().defaults, changes);
    const CompileResult result =
        compiler->compile({Backend::cuda, "sm_90a", relu.source(values, type), relu.entry()});
    REQUIRE(result.ok);
    const ScratchFile cubin(result.object.data(), result.object.size(), ".cubin");
    return output_of(disassembler + " -c " + cubin.path());
  };
  const std::pair<const char*, const char*> loads[] = {
      {"default", R"(LDG\.E\.128 )"}, {"nt", R"(LDG\.E\.EF\.128 )"}, {"evict_last", R"(LDG\.E\.128 )"}};
  for (const auto& [hint, pattern] : loads) {
    // Four in a block that is full, four in the last one.
    const std::string text =
        sass(ElementType::f32, {{"load", std::string(hint)}, {"unroll", std::int64_t{4}}});
    INFO(hint << "\n" << text);
    CHECK(count(text, pattern) == 8);
    CHECK(count(text, R"(LDG\.)") == 9);
  }
  const std::pair<const char*, const char*> stores[] = {
      {"default", R"(STG\.E\.128 )"}, {"nt", R"(STG\.E\.EF\.128 )"}, {"evict_first", R"(STG\.E\.128 )"}};
  for (const auto& [hint, pattern] : stores) {
    const std::string text =
        sass(ElementType::i8, {{"store", std::string(hint)}, {"unroll", std::int64_t{2}}});
    INFO(hint << "\n" << text);
    CHECK(count(text, pattern) == 4);
    CHECK(count(text, R"(STG\.)") == 5);
  }
  // A policy reaches the instruction through a descriptor of its own.
  const auto descriptors = [&](const db::Values& changes) {
    const std::string text = sass(ElementType::f32, changes);
    std::set<std::string> found;
    const std::regex regex(R"(desc\[UR[0-9]+\])");
    for (std::sregex_iterator each(text.begin(), text.end(), regex), end; each != end; ++each)
      found.insert(each->str());
    return found.size();
  };
  CHECK(descriptors({}) == 1);
  CHECK(descriptors({{"load", std::string("evict_last")}}) == 2);
  CHECK(descriptors({{"load", std::string("evict_last")}, {"store", std::string("evict_first")}}) >= 2);

  // A launch that may overlap lets the next one start, and waits before its first access.
  const std::string overlapping = sass(ElementType::f16, {{"overlap", std::int64_t{1}}});
  INFO(overlapping);
  CHECK(overlapping.find("PREEXIT") < overlapping.find("ACQBULK"));
  CHECK(overlapping.find("ACQBULK") < overlapping.find("LDG"));
  CHECK(count(sass(ElementType::f16, {}), "PREEXIT|ACQBULK") == 0);

  // Loads of an unrolled block are all in flight before the first store.
  const std::string four = sass(ElementType::f16, {{"unroll", std::int64_t{4}}});
  const auto first_store = four.find("STG.");
  CHECK(count(four.substr(0, first_store), R"(LDG\.E\.128 )") == 4);

  const std::pair<ElementType, const char*> arithmetic[] = {
      {ElementType::f32, R"(FSETP\.GEU)"},
      {ElementType::f16, R"(HSET2\.LT)"},
      {ElementType::bf16, R"(HSET2\.BF16_V2\.LT)"},
      {ElementType::i8, R"(PRMT R[0-9]+, R[0-9]+(\.reuse)?, 0xba98)"}};
  for (const auto& [type, pattern] : arithmetic) {
    const std::string text = sass(type, {});
    const std::string straight = text.substr(0, text.find("STG."));
    INFO(name(type) << "\n" << straight);
    CHECK(count(straight, pattern) == 4);
  }
}

TEST_CASE("relu's AMD code has one instruction a 16-byte access, with its hint", "[compilers]") {
  const std::string clang = program({"clang++-22", "amdclang++", "clang++-23", "clang++-21"});
  if (clang.empty()) {
    WARN("not tested: there is no clang with recent AMD targets");
    return;
  }
  for (const std::string architecture : {"gfx90a", "gfx942", "gfx950"}) {
    ElementwiseRig relu(nominal_device(architecture));
    const std::string hint = architecture == "gfx90a" ? " glc slc" : " nt";
    for (const std::int64_t unroll : {1, 4}) {
      for (const char* mode : {"one_shot", "grid_stride"}) {
        const db::Values values = with(relu.variant().defaults, {{"load", std::string("nt")},
                                                                 {"store", std::string("nt")},
                                                                 {"unroll", unroll},
                                                                 {"mode", std::string(mode)}});
        const std::string source = relu.source(values, ElementType::bf16);
        const ScratchFile file(source.data(), source.size(), ".hip");
        const std::string text =
            output_of(clang + " -x hip --offload-arch=" + architecture +
                      " --offload-device-only -nogpuinc -nogpulib -O3 -std=c++17 -S -o - " + file.path());
        INFO(architecture << " unroll " << unroll << " " << mode << "\n" << text);
        const auto vectors = static_cast<std::size_t>(2 * unroll);
        CHECK(count(text, "global_load_dwordx4 [^\n]*" + hint + "\n") == vectors);
        CHECK(count(text, "global_store_dwordx4 [^\n]*" + hint + "\n") == vectors);
        CHECK(count(text, "(global|flat)_(load|store)_") == 2 * vectors + 2);
        CHECK(count(text, "scratch_(load|store)") == 0);
      }
    }
  }
}
