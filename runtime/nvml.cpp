#include "runtime/nvml.hpp"

#include <fmt/format.h>

#include <utility>

#include "runtime/shared_library.hpp"

namespace hone {
namespace {

struct Nvml {
  using Status = int;
  using Handle = void*;
  Status (*init)() = nullptr;
  Status (*driver_version)(char* text, unsigned length) = nullptr;
  Status (*handle_by_bus)(const char* bus, Handle* device) = nullptr;
  Status (*clock)(Handle device, int domain, unsigned* mhz) = nullptr;
  Status (*temperature)(Handle device, int sensor, unsigned* celsius) = nullptr;
  Status (*reasons)(Handle device, unsigned long long* mask) = nullptr;
  Status (*power_limit)(Handle device, unsigned* milliwatts) = nullptr;
  Status (*firmware)(Handle device, char* text, unsigned length) = nullptr;
  bool usable = false;

  Nvml() {
    SharedLibrary library = SharedLibrary::open({"libnvidia-ml.so.1"});
    if (!library) return;
    init = library.find<decltype(init)>("nvmlInit_v2");
    driver_version = library.find<decltype(driver_version)>("nvmlSystemGetDriverVersion");
    handle_by_bus = library.find<decltype(handle_by_bus)>("nvmlDeviceGetHandleByPciBusId_v2");
    clock = library.find<decltype(clock)>("nvmlDeviceGetClockInfo");
    temperature = library.find<decltype(temperature)>("nvmlDeviceGetTemperature");
    power_limit = library.find<decltype(power_limit)>("nvmlDeviceGetEnforcedPowerLimit");
    firmware = library.find<decltype(firmware)>("nvmlDeviceGetVbiosVersion");
    reasons = library.find<decltype(reasons)>("nvmlDeviceGetCurrentClocksEventReasons");
    if (reasons == nullptr) {  // its name before driver 535
      reasons = library.find<decltype(reasons)>("nvmlDeviceGetCurrentClocksThrottleReasons");
    }
    usable = init != nullptr && driver_version != nullptr && handle_by_bus != nullptr && clock != nullptr &&
             init() == 0;
    library.keep();
  }
};

const Nvml& nvml() {
  static const Nvml* const library = new Nvml;  // never destroyed, as the drivers
  return *library;
}

constexpr int streaming_multiprocessors = 1;  // NVML_CLOCK_SM
constexpr int chip = 0;                       // NVML_TEMPERATURE_GPU
// Slowed down by the hardware, its temperature (software's limit or hardware's) or the power brake. A power
// cap that is reached is left out: it is how a busy GPU runs, and the clock tells it.
constexpr unsigned long long throttled_mask = 0x08 | 0x20 | 0x40 | 0x80;

/// Null where there is no such device or no library. Remembered by thread: it is asked for with every sample.
Nvml::Handle device_at(const std::string& bus) {
  thread_local std::pair<std::string, Nvml::Handle> last;
  if (last.second != nullptr && last.first == bus) return last.second;
  Nvml::Handle device = nullptr;
  if (!nvml().usable || nvml().handle_by_bus(bus.c_str(), &device) != 0) return nullptr;
  last = {bus, device};
  return device;
}

}  // namespace

std::string nvml_driver_version() {
  char text[96] = {};
  if (!nvml().usable || nvml().driver_version(text, sizeof text - 1) != 0) return {};
  return text;
}

db::Condition nvml_condition(const std::string& bus) {
  db::Condition condition;
  const Nvml::Handle device = device_at(bus);
  if (device == nullptr) return condition;
  unsigned value = 0;
  if (nvml().clock(device, streaming_multiprocessors, &value) == 0) condition.clock_mhz = value;
  if (nvml().temperature != nullptr && nvml().temperature(device, chip, &value) == 0)
    condition.temperature_c = value;
  unsigned long long mask = 0;
  if (nvml().reasons != nullptr && nvml().reasons(device, &mask) == 0)
    condition.throttled = (mask & throttled_mask) != 0;
  return condition;
}

std::string nvml_power_limit(const std::string& bus) {
  const Nvml::Handle device = device_at(bus);
  unsigned milliwatts = 0;
  if (device == nullptr || nvml().power_limit == nullptr || nvml().power_limit(device, &milliwatts) != 0)
    return {};
  return fmt::format("{} W", milliwatts / 1000);
}

std::string nvml_firmware(const std::string& bus) {
  const Nvml::Handle device = device_at(bus);
  char text[64] = {};
  if (device == nullptr || nvml().firmware == nullptr || nvml().firmware(device, text, sizeof text - 1) != 0)
    return {};
  return text;
}

}  // namespace hone
