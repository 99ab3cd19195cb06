// What architectures' names say: their backend, their limits as documented.
#include "runtime/architectures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/host_device.hpp"

namespace hone {
namespace {

constexpr std::uint64_t KiB = 1024;
constexpr std::uint64_t MiB = 1024 * KiB;
constexpr std::uint64_t GiB = 1024 * MiB;

/// One product of each architecture, the usual one in a server where there is one.
struct Nominal {
  const char* architecture;
  const char* product;
  int compute_units;  ///< multiprocessors, compute units, or work-group processors (AMD since gfx10), as
                      ///< drivers count
  int warp_size;
  std::uint64_t shared_memory_bytes;
  std::uint64_t last_level_cache_bytes;
  std::uint64_t memory_bytes;
};

constexpr Nominal nominals[] = {
    {"sm_70", "V100", 80, 32, 96 * KiB, 6 * MiB, 16 * GiB},
    {"sm_72", "Xavier", 8, 32, 96 * KiB, 512 * KiB, 16 * GiB},
    {"sm_75", "T4", 40, 32, 64 * KiB, 4 * MiB, 16 * GiB},
    {"sm_80", "A100", 108, 32, 163 * KiB, 40 * MiB, 40 * GiB},
    {"sm_86", "A40", 84, 32, 99 * KiB, 6 * MiB, 48 * GiB},
    {"sm_87", "Orin", 16, 32, 163 * KiB, 4 * MiB, 32 * GiB},
    {"sm_89", "L40S", 142, 32, 99 * KiB, 96 * MiB, 48 * GiB},
    {"sm_90", "H100", 132, 32, 227 * KiB, 50 * MiB, 80 * GiB},
    {"sm_100", "B200", 148, 32, 227 * KiB, 126 * MiB, 180 * GiB},
    {"sm_101", "Thor", 20, 32, 227 * KiB, 32 * MiB, 128 * GiB},
    {"sm_103", "B300", 148, 32, 227 * KiB, 126 * MiB, 268 * GiB},
    {"sm_110", "Thor", 20, 32, 227 * KiB, 32 * MiB, 128 * GiB},
    {"sm_120", "RTX PRO 6000 Blackwell", 188, 32, 99 * KiB, 128 * MiB, 96 * GiB},
    {"sm_121", "GB10", 48, 32, 99 * KiB, 24 * MiB, 128 * GiB},
    {"gfx906", "MI50", 60, 64, 64 * KiB, 4 * MiB, 16 * GiB},
    {"gfx908", "MI100", 120, 64, 64 * KiB, 8 * MiB, 32 * GiB},
    {"gfx90a", "MI210", 104, 64, 64 * KiB, 8 * MiB, 64 * GiB},
    {"gfx942", "MI300X", 304, 64, 64 * KiB, 256 * MiB, 192 * GiB},
    {"gfx950", "MI350X", 256, 64, 160 * KiB, 256 * MiB, 288 * GiB},
    {"gfx1030", "RX 6900 XT", 40, 32, 64 * KiB, 128 * MiB, 16 * GiB},
    {"gfx1031", "RX 6700 XT", 20, 32, 64 * KiB, 96 * MiB, 12 * GiB},
    {"gfx1032", "RX 6600 XT", 16, 32, 64 * KiB, 32 * MiB, 8 * GiB},
    {"gfx1100", "RX 7900 XTX", 48, 32, 64 * KiB, 96 * MiB, 24 * GiB},
    {"gfx1101", "RX 7800 XT", 30, 32, 64 * KiB, 64 * MiB, 16 * GiB},
    {"gfx1102", "RX 7600", 16, 32, 64 * KiB, 32 * MiB, 8 * GiB},
    {"gfx1151", "Radeon 8060S", 20, 32, 64 * KiB, 32 * MiB, 96 * GiB},
    {"gfx1200", "RX 9060 XT", 16, 32, 64 * KiB, 32 * MiB, 16 * GiB},
    {"gfx1201", "RX 9070 XT", 32, 32, 64 * KiB, 64 * MiB, 16 * GiB},
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

bool is_sm_name(std::string_view text) {
  if (!text.starts_with("sm_")) return false;
  text.remove_prefix(3);
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  return (text.size() == 2 || text.size() == 3) && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_host_name(std::string_view text) {
  constexpr std::array<std::string_view, 5> levels{"x86-64", "x86-64-v1", "x86-64-v2", "x86-64-v3",
                                                   "x86-64-v4"};
  return std::find(levels.begin(), levels.end(), text) != levels.end();
}

/// `sm_90a` to `sm_90`, `gfx90a:xnack-` to `gfx90a`.
std::string base_of(const std::string& architecture) {
  std::string base = without_flags(architecture);
  if (is_sm_name(base) && !is_digit(base.back())) base.pop_back();
  return base;
}

}  // namespace

int compute_capability(std::string_view architecture) {
  if (!architecture.starts_with("sm_")) return 0;
  int number = 0;
  const char* end = architecture.data() + architecture.size();
  const auto [rest, error] = std::from_chars(architecture.data() + 3, end, number);
  if (error != std::errc{} || end - rest > 1 || (end - rest == 1 && *rest != 'a' && *rest != 'f')) return 0;
  return number;
}

bool is_gfx_name(std::string_view text) {
  if (!text.starts_with("gfx")) return false;
  text.remove_prefix(3);
  std::size_t digits = 0;
  while (digits < text.size() && is_hex(text[digits])) ++digits;
  if (digits < 3 || digits > 4 || !is_digit(text[0])) return false;
  text.remove_prefix(digits);
  while (!text.empty()) {
    if (text[0] != ':') return false;
    text.remove_prefix(1);
    std::size_t letters = 0;
    while (letters < text.size() && std::islower(static_cast<unsigned char>(text[letters])) != 0) ++letters;
    if (letters == 0 || letters == text.size() || (text[letters] != '+' && text[letters] != '-'))
      return false;
    text.remove_prefix(letters + 1);
  }
  return true;
}

std::string without_flags(std::string_view architecture) {
  return std::string(architecture.substr(0, architecture.find(':')));
}

Backend backend_of(const std::string& architecture) {
  if (is_sm_name(architecture)) return Backend::cuda;
  if (is_gfx_name(architecture)) return Backend::hip;
  if (is_host_name(architecture) || architecture == host_device_info().architecture) return Backend::host;
  throw Error(
      ErrorCode::invalid,
      fmt::format("'{}' is no architecture: give one such as sm_90a, sm_80, gfx90a, gfx942:sramecc+:xnack-, "
                  "gfx1030 or x86-64-v3",
                  architecture));
}

DeviceInfo nominal_device(const std::string& architecture) {
  const Backend backend = backend_of(architecture);
  if (backend == Backend::host) {
    DeviceInfo info = host_device_info();
    info.architecture = architecture;
    return info;
  }
  const std::string base = base_of(architecture);
  const auto* const found =
      std::find_if(std::begin(nominals), std::end(nominals),
                   [&](const Nominal& nominal) { return base == nominal.architecture; });
  if (found == std::end(nominals)) {
    std::string known;
    for (const Nominal& nominal : nominals) {
      if (backend_of(nominal.architecture) == backend)
        known += (known.empty() ? "" : ", ") + std::string(nominal.architecture);
    }
    throw Error(ErrorCode::invalid,
                fmt::format("the limits of {} are not known: choose from {}", architecture, known));
  }
  DeviceInfo info;
  info.backend = backend;
  info.name = found->product;
  info.architecture = architecture;
  info.compute_units = found->compute_units;
  info.memory_bytes = found->memory_bytes;
  info.last_level_cache_bytes = found->last_level_cache_bytes;
  info.shared_memory_bytes = found->shared_memory_bytes;
  info.max_threads = 1024;
  info.warp_size = found->warp_size;
  return info;
}

}  // namespace hone
