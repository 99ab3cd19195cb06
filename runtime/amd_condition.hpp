// How an AMD GPU is doing: clock and temperature from the kernel's hardware monitor, throttling from
// librocm_smi64. Only ever reads.
#pragma once

#include <string>
#include <vector>

#include "db/records.hpp"
#include "runtime/kfd.hpp"

namespace hone {

/// Of the GPU at PCI address `bus`; what is not told stays zero.
db::Condition amd_condition(const SystemFolders& folders, const std::string& bus);

/// Whether rocm_smi, from the first of `libraries` that loads, says that the GPU is slowed down. False where
/// it does not tell (before ROCm 6, and on devices whose metrics have no such field).
bool rocm_smi_throttled(const std::vector<std::string>& libraries, const std::string& bus);

}  // namespace hone
