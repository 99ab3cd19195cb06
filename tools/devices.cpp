// hone devices: what can be tuned here, with its limits.
#include <fmt/format.h>

#include <map>

#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/table.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {
namespace {

/// Compilers' versions, each opened once; one that cannot be opened is told on stderr.
class Compilers {
 public:
  std::string version(Backend backend) {
    const auto [found, is_new] = versions_.try_emplace(backend);
    if (is_new) {
      try {
        found->second = open_compiler(backend)->version();
      } catch (const Error& error) {
        write_error(fmt::format("{}: cannot compile: {}", name(backend), error.what()));
      }
    }
    return found->second;
  }

 private:
  std::map<Backend, std::string> versions_;
};

Cell known(std::uint64_t bytes) {
  return bytes == 0 ? Cell{} : Cell{static_cast<std::int64_t>(bytes)};
}

std::vector<Column> columns() {
  return {{"index", "#"},
          {"backend", "backend"},
          {"name", "name"},
          {"architecture", "architecture"},
          {"compute_units", "units"},
          {"memory_bytes", "memory", Unit::bytes},
          {"last_level_cache_bytes", "cache", Unit::bytes},
          {"shared_memory_bytes", "shared", Unit::bytes},
          {"max_threads", ""},
          {"warp_size", ""},
          {"partition", "partition", Unit::none, true},
          {"bus", ""},
          {"driver", "driver", Unit::none, true},
          {"compiler", "compiler", Unit::none, false, true, true}};
}

}  // namespace

int devices(const Arguments& arguments) {
  Options options(
      "devices", "", "hone devices",
      "Lists every device that can be tuned here, with its limits. A backend without a device is told on "
      "stderr, with why.");
  add_device_flag(options);
  add_table_flags(options, columns());
  if (!options.parse(arguments, 0, 0)) return exit_done;
  const TableStyle style = table_style(options);

  const DeviceList list = list_devices();
  std::vector<DeviceInfo> chosen = list.devices;
  if (options.has("device")) chosen = choose_devices(options.get("device", ""));

  Table table("devices", columns());
  Compilers compilers;
  for (const DeviceInfo& device : chosen) {
    std::int64_t index = 0;
    for (std::size_t i = 0; i < list.devices.size(); ++i) {
      const DeviceInfo& listed = list.devices[i];
      if (listed.backend == device.backend && listed.index == device.index)
        index = static_cast<std::int64_t>(i);
    }
    table.add({{"index", index},
               {"backend", std::string(name(device.backend))},
               {"name", device.name},
               {"architecture", device.architecture},
               {"compute_units", std::int64_t{device.compute_units}},
               {"memory_bytes", known(device.memory_bytes)},
               {"last_level_cache_bytes", known(device.last_level_cache_bytes)},
               {"shared_memory_bytes", known(device.shared_memory_bytes)},
               {"max_threads", std::int64_t{device.max_threads}},
               {"warp_size", std::int64_t{device.warp_size}},
               {"partition", device.partition},
               {"bus", device.bus},
               {"driver", device.driver},
               {"compiler", compilers.version(device.backend)}});
  }
  table.print(style);
  for (const BackendProblem& problem : list.problems) {
    write_error(fmt::format("{}: no device: {}", name(problem.backend), problem.why));
  }
  return exit_done;
}

}  // namespace hone::tools
