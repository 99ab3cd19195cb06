// The prelude and the check kernels through the GPUs' run-time compilers, where those can be opened.
#include <catch2/catch.hpp>
#include <string>

#include "runtime/compiler.hpp"
#include "tests/runtime/assembly.hpp"
#include "tests/runtime/host_rig.hpp"

using namespace hone;
using namespace hone::test;

namespace {

/// Every name of the prelude at least once.
const char* const everything = R"(
struct Pair { f64 a; u8 b; };
HONE_DEVICE u32 twice(u32 x) { return 2 * x; }
HONE_KERNEL(plain, u32* out, u64* sums, const Pair pair, i8 a, i16 b, u16 c, f32 d) {
  HONE_FOR_EACH(i, 100) { out[i] = twice(static_cast<u32>(i)); }
  const u32 block = (HONE_BLOCK_INDEX_Z * HONE_BLOCK_COUNT_Y + HONE_BLOCK_INDEX_Y) * HONE_BLOCK_COUNT_X + HONE_BLOCK_INDEX_X;
  const u32 threads = HONE_BLOCK_SIZE_X * HONE_BLOCK_SIZE_Y * HONE_BLOCK_SIZE_Z * HONE_BLOCK_COUNT_Z;
  const u32 thread = (HONE_THREAD_Z * HONE_BLOCK_SIZE_Y + HONE_THREAD_Y) * HONE_BLOCK_SIZE_X + HONE_THREAD_X;
  HONE_ATOMIC_ADD(out + block * threads + thread, hone_bits<u32>(d) + pair.b);
  HONE_ATOMIC_ADD(sums, hone_bits<u64>(pair.a));
  HONE_ATOMIC_MIN(out, 3U);
  HONE_ATOMIC_MIN(sums + 1, static_cast<u64>(a + b + c));
}
HONE_KERNEL_WITH_BARRIERS(waits, f32* out) {
  HONE_SHARED f32 fixed[64];
  HONE_DYNAMIC_SHARED(f32, dynamic);
  fixed[HONE_THREAD_X % 64] = out[HONE_THREAD_X];
  dynamic[HONE_THREAD_X] = out[HONE_THREAD_X];
  HONE_BARRIER();
  out[HONE_THREAD_X] = fixed[63 - HONE_THREAD_X % 64] + dynamic[HONE_BLOCK_SIZE_X - 1 - HONE_THREAD_X];
}
)";

CompileResult compile(Compiler& compiler, const std::string& architecture, const std::string& source,
                      const std::string& entry) {
  return compiler.compile({backend_of(architecture), architecture, source, entry});
}

std::string backend_macro(const std::string& architecture) {
  return backend_of(architecture) == Backend::cuda  ? "CUDA"
         : backend_of(architecture) == Backend::hip ? "HIP"
                                                    : "HOST";
}

}  // namespace

TEST_CASE("the prelude compiles for every backend", "[compilers]") {
  const std::string architecture = GENERATE("sm_80", "sm_90a", "gfx90a", "gfx1030", "host");
  const std::string real = architecture == "host" ? host_device_info().architecture : architecture;
  const auto compiler = compiler_for(real);
  if (compiler == nullptr) return;
  const std::string source = with_prelude(everything, backend_macro(real));
  for (const char* entry : {"plain", "waits"}) {
    const CompileResult result = compile(*compiler, real, source, entry);
    INFO(architecture << "\n" << result.log);
    CHECK(result.ok);
    CHECK_FALSE(result.object.empty());
    CHECK(result.resources.spill_bytes <= 0);
  }
}

TEST_CASE("kernels bound their threads by HONE_MAX_THREADS", "[compilers]") {
  const auto compiler = compiler_for("sm_90a");
  if (compiler == nullptr) return;
  // 200 live values fit the registers of 128 threads and not those of 1024.
  std::string body = "HONE_KERNEL(wide, f32* p) { f32 v[200];\n";
  body += "#pragma unroll\nfor (int i = 0; i < 200; ++i) v[i] = p[i];\n";
  body += "#pragma unroll\nfor (int i = 0; i < 200; ++i) p[i] = v[i] + v[199 - i]; }\n";
  const CompileResult narrow =
      compile(*compiler, "sm_90a", "#define HONE_BLOCK 128\n" + with_prelude(body, "CUDA"), "wide");
  const CompileResult wide = compile(*compiler, "sm_90a", with_prelude(body, "CUDA"), "wide");
  REQUIRE(narrow.ok);
  REQUIRE(wide.ok);
  CHECK(narrow.resources.registers > 64);
  CHECK(wide.resources.registers <= 64);
}

TEST_CASE("the check kernels compile for every GPU, without spills or stack", "[compilers]") {
  const std::string architecture = GENERATE("sm_90a", "gfx90a");
  const auto compiler = compiler_for(architecture);
  if (compiler == nullptr) return;
  const std::string source =
      define({{"HONE_BACKEND_" + backend_macro(architecture), "1"}, {"HONE_BLOCK", "256"}}) +
      expand_includes(templates + "/common/check.cpp");
  for (const char* entry : {"hone_fill", "hone_compare_numbers", "hone_check_fill"}) {
    const CompileResult result = compile(*compiler, architecture, source, entry);
    INFO(entry << " for " << architecture << "\n" << result.log);
    CHECK(result.ok);
    CHECK(result.resources.spill_bytes == 0);
    CHECK(result.resources.registers <= 128);
  }
}

TEST_CASE("a source for no backend says so", "[compilers]") {
  HostRig rig;
  CHECK_THROWS_WITH(rig.object(expand_includes(templates + "/prelude/prelude.h"), "none"),
                    Catch::Matchers::Contains("define HONE_BACKEND_HOST"));
}
