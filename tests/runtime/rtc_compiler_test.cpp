// The GPU vendors' run-time compilers: kernels for architectures whose GPU is not there.
#include "runtime/rtc_compiler.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "runtime/elf_image.hpp"

using namespace hone;
using Catch::Contains;

namespace {

const std::string scale =
    "extern \"C\" __global__ void scale(float* out, const float* in, float by, int n) {\n"
    "  __shared__ float tile[64];\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  tile[threadIdx.x % 64] = i < n ? in[i] : 0.0f;\n"
    "  __syncthreads();\n"
    "  if (i < n) out[i] = by * tile[(threadIdx.x + 1) % 64];\n"
    "}\n";

/// The backend's compiler, or none with a warning where it is not installed.
std::unique_ptr<Compiler> compiler_or_warning(Backend backend) {
  try {
    return open_compiler(backend);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::environment);
    WARN("not tested: " << error.what());
    return nullptr;
  }
}

CompileJob job(Backend backend, const std::string& architecture) {
  return {backend, architecture, scale, "scale"};
}

std::string first_line(const std::string& log) {
  return log.substr(0, log.find('\n'));
}

}  // namespace

TEST_CASE("NVRTC compiles to cubins and reports what they use") {
  const auto compiler = compiler_or_warning(Backend::cuda);
  if (!compiler) return;
  CHECK_THAT(compiler->version(), Catch::Matches("nvrtc [0-9]+\\.[0-9]+"));
  for (const char* const architecture : {"sm_80", "sm_90a", "sm_100a"}) {
    INFO(architecture);
    const CompileResult result = compiler->compile(job(Backend::cuda, architecture));
    INFO(result.log);
    REQUIRE(result.ok);
    CHECK(is_code_object(result.object));
    CHECK(ElfImage::parse(result.object)->has_section(".text.scale"));
    CHECK(result.resources.registers > 3);
    CHECK(result.resources.registers < 64);
    CHECK(result.resources.spill_bytes == 0);
    CHECK(result.resources.shared_bytes == 256);
  }
}

TEST_CASE("hipRTC compiles to code objects and reports what they use") {
  const auto compiler = compiler_or_warning(Backend::hip);
  if (!compiler) return;
  CHECK_THAT(compiler->version(), Catch::StartsWith("hiprtc "));
  for (const char* const architecture : {"gfx90a", "gfx90a:sramecc+:xnack-", "gfx1030"}) {
    INFO(architecture);
    const CompileResult result = compiler->compile(job(Backend::hip, architecture));
    INFO(result.log);
    REQUIRE(result.ok);
    CHECK(is_code_object(result.object));
    CHECK(result.resources.shared_bytes == 256);
    CHECK(result.resources.spill_bytes == 0);
    CHECK(result.resources.registers >= 4);
    CHECK(result.resources.registers <= 64);
  }
}

TEST_CASE("a failed compilation says why in its log's first line") {
  const auto [backend, architecture] =
      GENERATE(std::pair{Backend::cuda, "sm_90a"}, std::pair{Backend::hip, "gfx90a"});
  const auto compiler = compiler_or_warning(backend);
  if (!compiler) return;
  INFO(compiler->version());
  CompileJob wrong = job(backend, architecture);
  SECTION("a syntax error") {
    wrong.source =
        "extern \"C\" __global__ void scale(float* out) {\n  int unused;\n  out[0] = nonsense;\n}\n";
    const CompileResult result = compiler->compile(wrong);
    CHECK_FALSE(result.ok);
    CHECK(result.object.empty());
    CHECK_THAT(first_line(result.log), Contains("error") && Contains("nonsense"));
    CHECK_THAT(result.log, Contains("\n"));
  }
  SECTION("an entry that is not there") {
    wrong.entry = "scales";
    const CompileResult result = compiler->compile(wrong);
    CHECK_FALSE(result.ok);
    CHECK(result.object.empty());
    CHECK_THAT(first_line(result.log), Contains("error: the source defines no kernel") && Contains("scales"));
  }
  SECTION("no source at all") {
    wrong.source = "";
    const CompileResult result = compiler->compile(wrong);
    CHECK_FALSE(result.ok);
    CHECK_THAT(first_line(result.log), Contains("error"));
  }
  SECTION("the compiler works on after failures") {
    wrong.source = "#error wrong";
    CHECK_THAT(first_line(compiler->compile(wrong).log), Contains("wrong"));
    CHECK(compiler->compile(job(backend, architecture)).ok);
  }
}

TEST_CASE("NVRTC refuses an architecture it does not know") {
  const auto compiler = compiler_or_warning(Backend::cuda);
  if (!compiler) return;
  const CompileResult result = compiler->compile(job(Backend::cuda, "sm_42"));
  CHECK_FALSE(result.ok);
  CHECK_THAT(first_line(result.log), Contains("error") && Contains("gpu-architecture"));
}

TEST_CASE("no compiler is one line that names what was tried") {
  CHECK_THROWS_WITH(
      open_nvrtc_compiler({"libhone-none.so.13", "libhone-none.so.12"}),
      "NVIDIA's run-time compiler NVRTC: library not found (tried libhone-none.so.13, libhone-none.so.12)");
  CHECK_THROWS_WITH(open_hiprtc_compiler({"libhone-none.so"}), Contains("hipRTC: library not found"));
  CHECK_THROWS_WITH(open_nvrtc_compiler({std::string(HONE_BINARY_DIR) + "/stubs/cuda/libcuda.so.1"}),
                    Contains("it has no nvrtcVersion"));
}

TEST_CASE("the ptxas report is read for the kernel asked about") {
  const std::string log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_90a'\n"
      "ptxas info    : Used 200 registers, used 1 barriers, 999 bytes smem\n"
      "ptxas info    : Compiling entry function 'ours' for 'sm_90a'\n"
      "ptxas info    : Function properties for ours\n"
      "ptxas         .     48 bytes stack frame, 32 bytes spill stores, 40 bytes spill loads\n"
      "ptxas info    : Used 12 registers, used 0 barriers, 372 bytes cmem[0]\n";
  const Resources ours = parse_ptxas_report(log, "ours");
  CHECK(ours.registers == 12);
  CHECK(ours.spill_bytes == 32);
  CHECK(ours.shared_bytes == 0);
  CHECK(parse_ptxas_report(log, "other").shared_bytes == 999);
  const Resources none = parse_ptxas_report("", "ours");
  CHECK(none.registers == -1);
  CHECK(none.spill_bytes == -1);
  CHECK(none.shared_bytes == -1);
  CHECK(parse_ptxas_report(log, "our").registers == -1);
}

TEST_CASE("a log's reason comes first, and nothing is lost") {
  CHECK(log_with_reason_first("a.cu(1): warning: x\na.cu(2): error: y\n\nend\n", "S") ==
        "a.cu(2): error: y\na.cu(1): warning: x\nend");
  CHECK(log_with_reason_first("", "error: S") == "error: S");
  CHECK(log_with_reason_first("only a note", "error: S") == "error: S\nonly a note");
}

TEST_CASE("a build key depends on everything that goes into a code object") {
  const CompileJob base = job(Backend::cuda, "sm_90a");
  const std::vector<std::string> options{"-a", "-b"};
  const db::Id key = build_key(base, options, "nvrtc 13.0");
  CHECK(key == build_key(base, options, "nvrtc 13.0"));
  CHECK(key != build_key(base, options, "nvrtc 13.1"));
  CHECK(key != build_key(base, {"-b", "-a"}, "nvrtc 13.0"));
  CHECK(key != build_key(base, {"-a-b"}, "nvrtc 13.0"));
  CHECK(key != build_key(base, {"-a"}, "nvrtc 13.0"));
  for (CompileJob other : {job(Backend::hip, "sm_90a"), job(Backend::cuda, "sm_80")}) {
    CHECK(key != build_key(other, options, "nvrtc 13.0"));
  }
  CompileJob other = base;
  other.source += " ";
  CHECK(key != build_key(other, options, "nvrtc 13.0"));
  other = base;
  other.entry = "scale2";
  CHECK(key != build_key(other, options, "nvrtc 13.0"));
}

TEST_CASE("ELF images cut short or corrupted are refused, never over-read") {
  const auto compiler = compiler_or_warning(Backend::cuda);
  if (!compiler) return;
  const CompileResult result = compiler->compile(job(Backend::cuda, "sm_80"));
  REQUIRE(result.ok);
  for (std::size_t size = 0; size < result.object.size(); size += 7) {
    const std::vector<std::byte> part(result.object.begin(),
                                      result.object.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_FALSE(is_code_object(part));
  }
  for (std::size_t at = 0; at < result.object.size(); ++at) {
    std::vector<std::byte> damaged = result.object;
    damaged[at] ^= std::byte{0xff};
    if (const auto image = ElfImage::parse(damaged)) {
      static_cast<void>(image->has_section(".text.scale"));
      static_cast<void>(image->symbol("scale"));
    }
  }
}
