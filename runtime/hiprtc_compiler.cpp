// AMD's run-time compiler: source to code object. Since ROCm 5.3 a library of its own, before that in
// libamdhip64.
#include <fmt/format.h>

#include <cstring>

#include "runtime/architectures.hpp"
#include "runtime/elf_image.hpp"
#include "runtime/gpu_symbols.hpp"
#include "runtime/library_paths.hpp"
#include "runtime/rtc_compiler.hpp"

namespace hone {
namespace {

class HiprtcCompiler final : public RtcCompiler {
 public:
  HiprtcCompiler(const RtcApi& api, std::string version) : RtcCompiler(api, std::move(version)) {}

  std::vector<std::string> options(const std::string& architecture) const override {
    return {"--offload-arch=" + architecture, "-O3", "-std=c++17"};
  }

 private:
  std::optional<Resources> inspect(const CompileJob& job, const CompileResult& result) const override {
    return read_kernel_descriptor(result.object, job.entry, job.architecture);
  }
};

/// Vector registers are allotted in steps of this many.
int register_step(const std::string& architecture) {
  const std::string base = without_flags(architecture);
  if (base == "gfx90a" || base.starts_with("gfx94") || base.starts_with("gfx95")) return 8;
  if (base.starts_with("gfx9") || base.size() < 7) return 4;
  return 8;  // gfx10 and later, in wave32
}

}  // namespace

std::optional<Resources> read_kernel_descriptor(std::span<const std::byte> object, const std::string& entry,
                                                const std::string& architecture) {
  const std::optional<ElfImage> image = ElfImage::parse(object);
  if (!image) return std::nullopt;
  const auto descriptor = image->symbol(entry + ".kd");
  constexpr std::size_t descriptor_bytes = 64;
  if (!descriptor || descriptor->size() < descriptor_bytes) return std::nullopt;
  // The AMDHSA kernel descriptor: LDS bytes, scratch bytes a lane, ..., compute_pgm_rsrc1 with the vector
  // registers in its low six bits.
  const auto word = [&](std::size_t offset) {
    std::uint32_t value;
    std::memcpy(&value, descriptor->data() + offset, sizeof value);
    return value;
  };
  Resources resources;
  resources.shared_bytes = static_cast<int>(word(0));
  resources.spill_bytes = static_cast<int>(word(4));
  resources.registers = (static_cast<int>(word(48) & 0x3f) + 1) * register_step(architecture);
  return resources;
}

std::vector<std::string> hiprtc_library_names() {
  return rocm_library_names({"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libamdhip64.so.7",
                             "libamdhip64.so.6", "libamdhip64.so.5", "libhiprtc.so", "libamdhip64.so"});
}

std::unique_ptr<Compiler> open_hiprtc_compiler(const std::vector<std::string>& names) {
  SharedLibrary library = SharedLibrary::open(names);
  if (!library) throw Error(ErrorCode::environment, "AMD's run-time compiler hipRTC: " + library.problem());
  RtcApi api;
  RtcApi::Status (*get_version)(int* major, int* minor) = nullptr;
  SymbolFinder find(library);
  find.require(get_version, "hiprtcVersion");
  find.require(api.create, "hiprtcCreateProgram");
  find.require(api.destroy, "hiprtcDestroyProgram");
  find.require(api.compile, "hiprtcCompileProgram");
  find.require(api.log_size, "hiprtcGetProgramLogSize");
  find.require(api.log, "hiprtcGetProgramLog");
  find.require(api.code_size, "hiprtcGetCodeSize");
  find.require(api.code, "hiprtcGetCode");
  find.require(api.error, "hiprtcGetErrorString");
  if (!find.missing().empty()) {
    throw Error(ErrorCode::environment, fmt::format("AMD's run-time compiler {} is unusable: it has no {}",
                                                    library.name(), find.missing()));
  }
  int major = 0;
  int minor = 0;
  if (const RtcApi::Status status = get_version(&major, &minor); status != 0) {
    throw Error(ErrorCode::environment, fmt::format("AMD's run-time compiler {}: hiprtcVersion: {}",
                                                    library.name(), api.error(status)));
  }
  std::string version = fmt::format("hiprtc {}.{}", major, minor);
  // hipRTC inside of libamdhip64 calls itself 9.0 in every release; HIP's own version tells them apart.
  RtcApi::Status (*runtime_version)(int* version) = nullptr;
  find.prefer(runtime_version, "hipRuntimeGetVersion");
  if (int hip = 0; runtime_version != nullptr && runtime_version(&hip) == 0 && hip > 0) {
    version = fmt::format("hiprtc {}.{}.{}", hip / 10'000'000, hip / 100'000 % 100, hip % 100'000);
  }
  library.keep();
  return std::make_unique<HiprtcCompiler>(api, std::move(version));
}

}  // namespace hone
