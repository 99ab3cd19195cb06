#include "runtime/kfd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>

namespace hone {
namespace {

namespace fs = std::filesystem;

/// A properties file of the topology: one `name value` a line.
std::map<std::string, std::uint64_t> read_properties(const fs::path& file) {
  std::map<std::string, std::uint64_t> properties;
  std::ifstream in(file);
  std::string name;
  std::string value;
  while (in >> name >> value) {
    char* end = nullptr;
    const std::uint64_t number = std::strtoull(value.c_str(), &end, 10);
    if (end != value.c_str() && *end == '\0') properties[name] = number;
  }
  return properties;
}

std::uint64_t value_of(const std::map<std::string, std::uint64_t>& properties, const char* name) {
  const auto found = properties.find(name);
  return found != properties.end() ? found->second : 0;
}

std::string first_word(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

std::uint64_t largest_cache(const fs::path& node) {
  std::uint64_t largest = 0;
  std::error_code error;
  for (fs::directory_iterator entry(node / "caches", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto cache = read_properties(entry->path() / "properties");
    if (value_of(cache, "level") >= 2) largest = std::max(largest, value_of(cache, "size") * 1024);
  }
  return largest;
}

}  // namespace

std::optional<KfdNode> find_kfd_node(const SystemFolders& folders, const std::string& bus) {
  unsigned domain = 0;
  unsigned bus_number = 0;
  unsigned device = 0;
  if (std::sscanf(bus.c_str(), "%x:%x:%x", &domain, &bus_number, &device) != 3) return std::nullopt;
  std::error_code error;
  for (fs::directory_iterator entry(folders.kfd_nodes, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto properties = read_properties(entry->path() / "properties");
    if (value_of(properties, "simd_count") == 0) continue;  // a CPU
    const std::uint64_t location = value_of(properties, "location_id");
    // The function's bits number the partitions of one device, which share its caches.
    if (value_of(properties, "domain") != domain || (location >> 8 & 0xff) != bus_number ||
        (location >> 3 & 0x1f) != device) {
      continue;
    }
    KfdNode node;
    node.last_level_cache_bytes = largest_cache(entry->path());
    if (const std::uint64_t version = value_of(properties, "gfx_target_version"); version != 0) {
      node.architecture = fmt::format("gfx{}{:x}{:x}", version / 10000, version / 100 % 100, version % 100);
    }
    return node;
  }
  return std::nullopt;
}

std::string gpu_partition(const SystemFolders& folders, const std::string& bus) {
  std::string name = bus;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const fs::path device = folders.pci_devices / name;
  std::string partition = first_word(device / "current_compute_partition");
  if (const std::string memory = first_word(device / "current_memory_partition"); !memory.empty()) {
    partition += (partition.empty() ? "" : "/") + memory;
  }
  std::error_code ignored;
  if (fs::exists(device / "physfn", ignored)) partition += partition.empty() ? "VF" : "/VF";
  return partition;
}

}  // namespace hone
