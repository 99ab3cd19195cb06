#include "runtime/compiler.hpp"

#include "runtime/host_compiler.hpp"
#include "runtime/rtc_compiler.hpp"

namespace hone {

std::unique_ptr<Compiler> open_compiler(Backend backend) {
  switch (backend) {
    case Backend::cuda:
      return open_nvrtc_compiler(nvrtc_library_names());
    case Backend::hip:
      return open_hiprtc_compiler(hiprtc_library_names());
    case Backend::host:
      break;
  }
  return open_host_compiler();
}

db::Id build_key(const CompileJob& job, const std::vector<std::string>& options,
                 const std::string& compiler_version) {
  db::KeyBuilder key;
  key.add("build").add(name(job.backend)).add(job.architecture).add(compiler_version);
  key.add(static_cast<std::int64_t>(options.size()));
  for (const std::string& option : options) key.add(option);
  return key.add(job.source).add(job.entry).id();
}

}  // namespace hone
