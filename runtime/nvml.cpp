#include "runtime/nvml.hpp"

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
  Status (*reasons)(Handle device, unsigned long long* mask) = nullptr;
  bool usable = false;

  Nvml() {
    SharedLibrary library = SharedLibrary::open({"libnvidia-ml.so.1"});
    if (!library) return;
    init = library.find<decltype(init)>("nvmlInit_v2");
    driver_version = library.find<decltype(driver_version)>("nvmlSystemGetDriverVersion");
    handle_by_bus = library.find<decltype(handle_by_bus)>("nvmlDeviceGetHandleByPciBusId_v2");
    clock = library.find<decltype(clock)>("nvmlDeviceGetClockInfo");
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
// Slowed down by the hardware, its temperature (software's limit or hardware's) or the power brake. A power
// cap that is reached is left out: it is how a busy GPU runs, and the clock tells it.
constexpr unsigned long long throttled_mask = 0x08 | 0x20 | 0x40 | 0x80;

}  // namespace

std::string nvml_driver_version() {
  char text[96] = {};
  if (!nvml().usable || nvml().driver_version(text, sizeof text - 1) != 0) return {};
  return text;
}

Device::Clock nvml_clock(const std::string& bus) {
  Device::Clock clock;
  Nvml::Handle device = nullptr;
  if (!nvml().usable || nvml().handle_by_bus(bus.c_str(), &device) != 0) return clock;
  unsigned mhz = 0;
  if (nvml().clock(device, streaming_multiprocessors, &mhz) == 0) clock.mhz = static_cast<int>(mhz);
  unsigned long long mask = 0;
  if (nvml().reasons != nullptr && nvml().reasons(device, &mask) == 0)
    clock.throttled = (mask & throttled_mask) != 0;
  return clock;
}

}  // namespace hone
