// What the Linux kernel says of AMD GPUs and HIP's runtime does not: the last-level cache (HIP may report one
// XCD's L2 where the device has a 256 MB Infinity Cache), the partition mode, the instruction set's version.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace hone {

/// Folders read, so that tests can give their own.
struct SystemFolders {
  std::filesystem::path kfd_nodes = "/sys/class/kfd/kfd/topology/nodes";
  std::filesystem::path pci_devices = "/sys/bus/pci/devices";
};

struct KfdNode {
  std::uint64_t last_level_cache_bytes = 0;  ///< the largest cache of level 2 or beyond; 0: not told
  std::string architecture;                  ///< `gfx90a`, without feature flags; empty: not told
};

/// The topology node of the GPU at PCI address `bus` (`0000:c1:00.0`); none where KFD does not show it.
std::optional<KfdNode> find_kfd_node(const SystemFolders& folders, const std::string& bus);

/// `SPX`, `CPX/NPS4`, `VF` or empty.
std::string gpu_partition(const SystemFolders& folders, const std::string& bus);

}  // namespace hone
