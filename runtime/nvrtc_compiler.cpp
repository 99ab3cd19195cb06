// NVIDIA's run-time compiler: source to cubin.
#include <fmt/format.h>

#include "runtime/elf_image.hpp"
#include "runtime/gpu_symbols.hpp"
#include "runtime/library_paths.hpp"
#include "runtime/rtc_compiler.hpp"

namespace hone {
namespace {

class NvrtcCompiler final : public RtcCompiler {
 public:
  NvrtcCompiler(const RtcApi& api, std::string version) : RtcCompiler(api, std::move(version)) {}

  std::vector<std::string> options(const std::string& architecture) const override {
    // ptxas's report of registers and spills goes into the log.
    return {"--gpu-architecture=" + architecture, "-std=c++17", "-default-device", "--ptxas-options=-v"};
  }

 private:
  std::optional<Resources> inspect(const CompileJob& job, const CompileResult& result) const override {
    const std::optional<ElfImage> image = ElfImage::parse(result.object);
    if (!image || !image->has_section(".text." + job.entry)) return std::nullopt;
    return parse_ptxas_report(result.log, job.entry);
  }
};

}  // namespace

std::vector<std::string> nvrtc_library_names() {
  return cuda_library_names({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"});
}

std::unique_ptr<Compiler> open_nvrtc_compiler(const std::vector<std::string>& names) {
  SharedLibrary library = SharedLibrary::open(names);
  if (!library) throw Error(ErrorCode::environment, "NVIDIA's run-time compiler NVRTC: " + library.problem());
  RtcApi api;
  RtcApi::Status (*get_version)(int* major, int* minor) = nullptr;
  SymbolFinder find(library);
  find.require(get_version, "nvrtcVersion");
  find.require(api.create, "nvrtcCreateProgram");
  find.require(api.destroy, "nvrtcDestroyProgram");
  find.require(api.compile, "nvrtcCompileProgram");
  find.require(api.log_size, "nvrtcGetProgramLogSize");
  find.require(api.log, "nvrtcGetProgramLog");
  find.require(api.code_size, "nvrtcGetCUBINSize");
  find.require(api.code, "nvrtcGetCUBIN");
  find.require(api.error, "nvrtcGetErrorString");
  if (!find.missing().empty()) {
    throw Error(ErrorCode::environment,
                fmt::format("NVIDIA's run-time compiler {} is too old: it has no {} (CUDA 11.2 "
                            "or newer is needed)",
                            library.name(), find.missing()));
  }
  int major = 0;
  int minor = 0;
  if (const RtcApi::Status status = get_version(&major, &minor); status != 0) {
    throw Error(ErrorCode::environment, fmt::format("NVIDIA's run-time compiler {}: nvrtcVersion: {}",
                                                    library.name(), api.error(status)));
  }
  library.keep();
  return std::make_unique<NvrtcCompiler>(api, fmt::format("nvrtc {}.{}", major, minor));
}

}  // namespace hone
