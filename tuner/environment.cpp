#include "tuner/environment.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

namespace hone::tuner {

db::Environment environment_of(const DeviceInfo& device, const std::string& compiler) {
  db::Environment environment;
  environment.items["driver"] = device.driver;
  environment.items["compiler"] = compiler;
  if (!device.firmware.empty()) environment.items["firmware"] = device.firmware;
  if (!device.power_limit.empty()) environment.items["power_limit"] = device.power_limit;
  utsname host{};
  if (::uname(&host) == 0) environment.items["host"] = fmt::format("{} {}", host.sysname, host.machine);
  return environment;
}

}  // namespace hone::tuner
