#include "tuner/measuring.hpp"

#include <fmt/format.h>

#include "hone/error.hpp"
#include "tuner/check_kernels.hpp"

namespace hone::tuner {

OpenRequest open_request(const Family& family, const DeviceInfo& device, CompileQueue& queue,
                         std::string* compiler) {
  queue.submit(0, {device.backend, device.architecture, CheckKernels::source(family, device.backend),
                   CheckKernels::entry()});
  OpenRequest open;
  open.backend = static_cast<int>(device.backend);
  open.index = device.index;
  open.architecture = device.architecture;
  open.manifest = family.file.string();
  open.cache_bytes = static_cast<std::int64_t>(device.last_level_cache_bytes);
  for (const Variant& variant : family.variants)
    if (variant.runs_on(device)) open.sources.emplace_back(variant.name, variant.source_hash);
  open.reference_object = compile_host_library(family.check.reference);

  std::vector<FinishedJob> results;
  while (results.empty()) results = queue.wait(1);
  const Compiled& check = *results.front().compiled;
  if (check.outcome != db::Outcome::ok)
    throw Error(ErrorCode::environment, fmt::format("the check kernels were not compiled for {}: {}",
                                                    device.architecture, check.reason));
  open.check_object = check.object;
  if (compiler != nullptr) *compiler = check.compiler;
  return open;
}

}  // namespace hone::tuner
