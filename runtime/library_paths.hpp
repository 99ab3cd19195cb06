// Where the vendors' toolkits keep their libraries when the loader does not know them.
#pragma once

#include <string>
#include <vector>

namespace hone {

/// `names` as the loader finds them, then in the library folders of ROCM_PATH, HIP_PATH and /opt/rocm*.
std::vector<std::string> rocm_library_names(const std::vector<std::string>& names);

/// `names` as the loader finds them, then in the library folders of CUDA_HOME, CUDA_PATH and
/// /usr/local/cuda*.
std::vector<std::string> cuda_library_names(const std::vector<std::string>& names);

}  // namespace hone
