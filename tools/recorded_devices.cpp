#include "tools/recorded_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "runtime/compiler.hpp"
#include "runtime/spelling.hpp"

namespace hone::tools {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_index(const std::string& choice) {
  return !choice.empty() && choice.find_first_not_of("0123456789") == std::string::npos;
}

bool is_called(const db::Device& device, const std::string& choice) {
  const std::string wanted = lower(choice);
  return wanted == "all" || wanted == device.backend || lower(device.architecture).starts_with(wanted) ||
         lower(device.name).find(wanted) != std::string::npos;
}

}  // namespace

RecordedDevices find_devices(db::Store& store, const std::string& choice) {
  RecordedDevices devices = store.devices();
  if (is_index(choice)) {
    const db::Id meant = choose_devices(choice).front().record().id();
    std::erase_if(devices, [&](const auto& each) { return each.first != meant; });
  } else {
    std::erase_if(devices, [&](const auto& each) { return !is_called(each.second, choice); });
  }
  return devices;
}

RecordedDevices devices_called(db::Store& store, const std::string& flag, const std::string& choice) {
  RecordedDevices found = find_devices(store, choice);
  if (!found.empty()) return found;
  std::vector<std::string> known;
  for (const auto& [id, device] : store.devices()) known.push_back(device.name);
  const std::string what = is_index(choice) ? fmt::format("nothing of device {}, {}", choice,
                                                          choose_devices(choice).front().record().name)
                                            : fmt::format("no device `{}`", choice);
  throw Error(ErrorCode::invalid, fmt::format("{}: {} holds {}{}", flag, store.file().string(), what,
                                              suggestion(is_index(choice) ? "" : choice, known)));
}

DeviceInfo with_limits(const db::Device& device) {
  DeviceInfo info = nominal_device(device.architecture);
  info.name = device.name;
  info.compute_units = static_cast<int>(device.compute_units);
  info.memory_bytes = static_cast<std::uint64_t>(device.memory_bytes);
  info.last_level_cache_bytes = static_cast<std::uint64_t>(device.last_level_cache_bytes);
  return info;
}

}  // namespace hone::tools
