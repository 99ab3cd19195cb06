#include "runtime/rtc_compiler.hpp"

#include <fmt/format.h>

namespace hone {
namespace {

struct ProgramOwner {
  const RtcApi& api;
  RtcApi::Program handle = nullptr;
  ~ProgramOwner() {
    if (handle != nullptr) static_cast<void>(api.destroy(&handle));
  }
};

std::string read_log(const RtcApi& api, RtcApi::Program program) {
  std::size_t bytes = 0;
  if (api.log_size(program, &bytes) != 0 || bytes == 0) return {};
  std::string log(bytes, '\0');
  if (api.log(program, log.data()) != 0) return {};
  log.resize(log.find_last_not_of(std::string_view("\0\n", 2)) + 1);
  return log;
}

}  // namespace

CompileResult RtcCompiler::compile(const CompileJob& job) {
  CompileResult result;
  const auto failed = [&](RtcApi::Status status) {
    result.object.clear();
    result.log = log_with_reason_first(result.log, fmt::format("error: {}", api_.error(status)));
    return std::move(result);
  };
  ProgramOwner program{api_};
  if (const auto status =
          api_.create(&program.handle, job.source.c_str(), job.entry.c_str(), 0, nullptr, nullptr);
      status != 0) {
    return failed(status);
  }
  const std::vector<std::string> given = options(job.architecture);
  std::vector<const char*> pointers;
  pointers.reserve(given.size());
  for (const std::string& option : given) pointers.push_back(option.c_str());
  const auto compiled = api_.compile(program.handle, static_cast<int>(pointers.size()), pointers.data());
  result.log = read_log(api_, program.handle);
  if (compiled != 0) return failed(compiled);

  std::size_t bytes = 0;
  if (const auto status = api_.code_size(program.handle, &bytes); status != 0) return failed(status);
  result.object.resize(bytes);
  if (const auto status = api_.code(program.handle, reinterpret_cast<char*>(result.object.data()));
      status != 0) {
    return failed(status);
  }
  const std::optional<Resources> resources = inspect(job, result);
  if (!resources) {
    result.object.clear();
    result.log = fmt::format("error: the source defines no kernel `extern \"C\" __global__ void {}`{}{}",
                             job.entry, result.log.empty() ? "" : "\n", result.log);
    return result;
  }
  result.resources = *resources;
  result.ok = true;
  return result;
}

}  // namespace hone
