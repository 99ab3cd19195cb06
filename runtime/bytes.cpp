#include "runtime/bytes.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace hone {

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 6> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  const bool whole = std::fabs(bytes - std::round(bytes)) < 0.005;
  return whole ? fmt::format("{:.0f} {}", bytes, units[unit]) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

}  // namespace hone
