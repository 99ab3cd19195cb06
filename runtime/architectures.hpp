// Architectures' names.
#pragma once

#include <string>
#include <string_view>

namespace hone {

/// `gfx90a`, with or without feature flags: `gfx90a:sramecc+:xnack-`.
bool is_gfx_name(std::string_view text);

/// `gfx90a:sramecc+:xnack-` without its feature flags.
std::string without_flags(std::string_view architecture);

/// NVIDIA's compute capability: 90 for `sm_90` and `sm_90a`; 0 for what is no CUDA architecture.
int compute_capability(std::string_view architecture);

}  // namespace hone
