// hone --version: its version, the compiler it was built with, the backends usable here, the schema.
#include <fmt/format.h>

#include "db/schema.hpp"
#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/plural.hpp"
#include "tools/exit_code.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {
namespace {

std::string built_with() {
#if defined(__clang__)
  return fmt::format("clang++ {}", __clang_version__);
#else
  return fmt::format("g++ {}", __VERSION__);
#endif
}

std::string compiler_of(Backend backend) {
  try {
    return open_compiler(backend)->version();
  } catch (const Error& error) {
    return fmt::format("no compiler: {}", error.what());
  }
}

}  // namespace

int version() {
  std::string text = fmt::format("hone {} (built with {})\n", HONE_VERSION, built_with());
  const DeviceList list = list_devices();
  for (const Backend backend : {Backend::cuda, Backend::hip, Backend::host}) {
    int count = 0;
    for (const DeviceInfo& device : list.devices) count += device.backend == backend ? 1 : 0;
    std::string state = plural(count, "device");
    for (const BackendProblem& problem : list.problems) {
      if (problem.backend == backend) state = fmt::format("no device: {}", problem.why);
    }
    text += fmt::format("{}: {}; {}\n", name(backend), compiler_of(backend), state);
  }
  write_out(text + fmt::format("database schema: {}\n", db::schema::steps().back().version));
  return exit_done;
}

}  // namespace hone::tools
