// Which devices there are, and which of them is meant. gpu_device.cpp and host_device.cpp implement them.
#include "runtime/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <string_view>

#include "runtime/architectures.hpp"
#include "runtime/device_choice.hpp"
#include "runtime/gpu_device.hpp"
#include "runtime/host_device.hpp"

namespace hone {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return result;
}

std::string describe(const DeviceList& list) {
  std::string text;
  for (std::size_t i = 0; i < list.devices.size(); ++i) {
    const DeviceInfo& device = list.devices[i];
    text += fmt::format("{}{}: {} {} {}", i == 0 ? "" : ", ", i, name(device.backend), device.architecture,
                        device.name);
  }
  return text;
}

/// `sm_90` names `sm_90a` as well: the letter is how the compiler is asked for that device's own features.
bool is_architecture(const DeviceInfo& device, std::string_view choice) {
  const std::string base = without_flags(device.architecture);
  return choice == device.architecture || choice == base ||
         (device.backend == Backend::cuda && base.ends_with('a') &&
          choice == base.substr(0, base.size() - 1));
}

}  // namespace

const char* name(Backend backend) {
  switch (backend) {
    case Backend::host:
      return "host";
    case Backend::cuda:
      return "cuda";
    case Backend::hip:
      return "hip";
  }
  return "unknown";
}

db::Device DeviceInfo::record() const {
  db::Device device;
  device.backend = hone::name(backend);
  device.name = name;
  device.architecture = architecture;
  device.compute_units = compute_units;
  device.memory_bytes = static_cast<std::int64_t>(memory_bytes);
  device.last_level_cache_bytes = static_cast<std::int64_t>(last_level_cache_bytes);
  device.partition = partition;
  return device;
}

db::Values DeviceInfo::names() const {
  db::Values values;
  values["backend"] = std::string(hone::name(backend));
  values["architecture"] = without_flags(architecture);
  values["capability"] = std::int64_t{compute_capability(architecture)};
  values["compute_units"] = std::int64_t{compute_units};
  values["last_level_cache"] = static_cast<std::int64_t>(last_level_cache_bytes);
  values["shared_memory"] = static_cast<std::int64_t>(shared_memory_bytes);
  values["max_threads"] = std::int64_t{max_threads};
  values["warp_size"] = std::int64_t{warp_size};
  return values;
}

namespace {

void add_gpus(DeviceList& list, Backend backend) {
  GpuList gpus = list_gpus(gpu_library(backend));
  list.devices.insert(list.devices.end(), gpus.devices.begin(), gpus.devices.end());
  if (!gpus.problem.empty()) list.problems.push_back({backend, std::move(gpus.problem)});
}

}  // namespace

DeviceList list_devices() {
  DeviceList list;
  add_gpus(list, Backend::cuda);
  add_gpus(list, Backend::hip);
  list.devices.push_back(host_device_info());
  return list;
}

std::vector<DeviceInfo> choose_devices(const std::string& choice) {
  // A vendor's driver takes tens of milliseconds to load, and AMD's brings a compiler with it: only those are
  // asked that can be meant.
  DeviceList list;
  for (const Backend backend : {Backend::cuda, Backend::hip})
    if (choice == name(backend) || (choice.empty() && list.devices.empty())) add_gpus(list, backend);
  if (choice.empty() || choice == name(Backend::host)) {
    if (list.devices.empty()) list.devices.push_back(host_device_info());
    return {list.devices.front()};
  }
  const bool is_backend = choice == name(Backend::cuda) || choice == name(Backend::hip);
  if (is_backend && !list.devices.empty()) return choose_devices(list, choice);
  return choose_devices(list_devices(), choice);
}

std::vector<DeviceInfo> choose_devices(const DeviceList& list, const std::string& choice) {
  if (choice.empty()) return {list.devices.front()};
  if (choice == "all") return list.devices;
  if (const auto comma = choice.find(','); comma != std::string::npos) {
    const std::string first = choice.substr(0, comma), rest = choice.substr(comma + 1);
    if (first.empty() || rest.empty())
      throw Error(ErrorCode::invalid,
                  fmt::format("'{}' names an empty device; give them as in `0,1`", choice));
    std::vector<DeviceInfo> devices = choose_devices(list, first);
    for (DeviceInfo& device : choose_devices(list, rest)) {
      const bool is_new = std::none_of(devices.begin(), devices.end(), [&](const DeviceInfo& other) {
        return other.backend == device.backend && other.index == device.index;
      });
      if (is_new) devices.push_back(std::move(device));
    }
    return devices;
  }

  std::size_t index = 0;
  const char* const end = choice.data() + choice.size();
  if (const auto [stop, error] = std::from_chars(choice.data(), end, index);
      stop == end && error != std::errc::invalid_argument) {
    if (error == std::errc() && index < list.devices.size()) return {list.devices[index]};
    throw Error(ErrorCode::environment,
                fmt::format("there is no device {}: choose from {}", choice, describe(list)));
  }

  const auto matching = [&](auto&& matches) {
    std::vector<DeviceInfo> devices;
    std::set<db::Id> identities;  // equal devices have one answer between them
    for (const DeviceInfo& device : list.devices) {
      if (matches(device) && identities.insert(device.record().id()).second) devices.push_back(device);
    }
    return devices;
  };
  std::vector<DeviceInfo> found =
      matching([&](const DeviceInfo& device) { return choice == name(device.backend); });
  if (found.empty())
    found = matching([&](const DeviceInfo& device) { return is_architecture(device, choice); });
  if (found.empty()) {
    found = matching([&](const DeviceInfo& device) {
      return lower(device.name).find(lower(choice)) != std::string::npos;
    });
  }
  if (!found.empty()) return found;

  for (const BackendProblem& problem : list.problems) {
    if (choice == name(problem.backend)) {
      throw Error(ErrorCode::environment, fmt::format("no {} device: {}", choice, problem.why));
    }
  }
  throw Error(ErrorCode::environment,
              fmt::format("no device matches '{}': choose from {}, or all", choice, describe(list)));
}

std::unique_ptr<Device> open_device(const DeviceInfo& info) {
  if (info.backend == Backend::host) return open_host_device(info);
  return open_gpu_device(gpu_library(info.backend), info);
}

}  // namespace hone
