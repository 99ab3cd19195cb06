#include "runtime/amd_condition.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>

#include "runtime/shared_library.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

std::int64_t number_in(const fs::path& file) {
  std::int64_t value = 0;
  std::ifstream(file) >> value;
  return value;
}

/// Millidegrees at the hottest spot where the chip tells it, else at its edge.
std::int64_t temperature(const fs::path& monitor) {
  for (const char* const sensor : {"temp1", "temp2", "temp3"}) {
    std::string label;
    std::ifstream(monitor / (std::string(sensor) + "_label")) >> label;
    if (label == "junction") return number_in(monitor / (std::string(sensor) + "_input"));
  }
  return number_in(monitor / "temp1_input");
}

/// The few entry points that have kept their signature in all versions that have them.
struct RocmSmi {
  using Status = int;
  Status (*init)(std::uint64_t flags) = nullptr;
  Status (*count)(std::uint32_t* devices) = nullptr;
  Status (*pci_id)(std::uint32_t device, std::uint64_t* id) = nullptr;
  Status (*throttle_status)(std::uint32_t device, std::uint32_t* reasons) = nullptr;
  std::uint32_t devices = 0;
  bool usable = false;

  explicit RocmSmi(const std::vector<std::string>& names) {
    SharedLibrary library = SharedLibrary::open(names);
    if (!library) return;
    init = library.find<decltype(init)>("rsmi_init");
    count = library.find<decltype(count)>("rsmi_num_monitor_devices");
    pci_id = library.find<decltype(pci_id)>("rsmi_dev_pci_id_get");
    throttle_status = library.find<decltype(throttle_status)>("rsmi_dev_metrics_throttle_status_get");
    usable = init != nullptr && count != nullptr && pci_id != nullptr && throttle_status != nullptr &&
             init(0) == 0 && count(&devices) == 0;
    library.keep();
  }
};

/// The libraries opened so far, kept as drivers are.
const RocmSmi& rocm_smi(const std::vector<std::string>& names) {
  static std::mutex mutex;
  static auto* const opened = new std::map<std::vector<std::string>, RocmSmi>;
  const std::lock_guard lock(mutex);
  return opened->try_emplace(names, names).first->second;
}

constexpr std::uint32_t not_told = 0xFFFFFFFF;  // how metrics without the field read

}  // namespace

bool rocm_smi_throttled(const std::vector<std::string>& libraries, const std::string& bus) {
  unsigned domain = 0, bus_number = 0, device = 0, function = 0;
  if (std::sscanf(bus.c_str(), "%x:%x:%x.%x", &domain, &bus_number, &device, &function) != 4) return false;
  const RocmSmi& smi = rocm_smi(libraries);
  if (!smi.usable) return false;
  // Bits 28 to 31 number the partitions of one device, which share its clock.
  constexpr std::uint64_t partition_bits = std::uint64_t{0xF} << 28;
  const std::uint64_t wanted = std::uint64_t{domain} << 32 | bus_number << 8 | device << 3 | function;
  for (std::uint32_t i = 0; i < smi.devices; ++i) {
    std::uint64_t id = 0;
    std::uint32_t reasons = 0;
    if (smi.pci_id(i, &id) != 0 || (id & ~partition_bits) != wanted) continue;
    return smi.throttle_status(i, &reasons) == 0 && reasons != 0 && reasons != not_told;
  }
  return false;
}

db::Condition amd_condition(const SystemFolders& folders, const std::string& bus) {
  db::Condition condition;
  std::string name = bus;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folders.pci_devices / name / "hwmon", error)) {
    condition.clock_mhz = number_in(entry.path() / "freq1_input") / 1'000'000;
    condition.temperature_c = temperature(entry.path()) / 1000;
    break;
  }
  condition.throttled = rocm_smi_throttled(
      {"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.1", "librocm_smi64.so"}, bus);
  return condition;
}

}  // namespace hone
