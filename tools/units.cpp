#include "tools/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>

namespace hone::tools {

std::string number_text(double number) {
  const double size = std::fabs(number);
  if (!std::isfinite(number)) return fmt::format("{}", number);
  if (size >= 999.95) return fmt::format("{:.0f}", number);
  if (size >= 99.995) return fmt::format("{:.1f}", number);
  return fmt::format("{:.2f}", number);
}

std::string nanoseconds_text(double nanoseconds) {
  if (nanoseconds < 999.95) return fmt::format("{:.1f} ns", nanoseconds);
  if (nanoseconds < 999.995e3) return fmt::format("{:.2f} us", nanoseconds / 1e3);
  if (nanoseconds < 999.995e6) return fmt::format("{:.2f} ms", nanoseconds / 1e6);
  return fmt::format("{:.2f} s", nanoseconds / 1e9);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::fmax(seconds, 0)));
  const auto minutes = whole / 60;
  if (minutes >= 60) return fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string duration_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.2f} s", seconds);
  if (seconds < 100) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} m {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} m", whole / 3600, whole / 60 % 60);
}

std::string date_text(std::int64_t microseconds) {
  const auto seconds = static_cast<std::time_t>(microseconds / 1'000'000);
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr) return fmt::format("{}", seconds);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return text.data();
}

std::string id_text(const std::string& hex) {
  constexpr std::size_t shown = 8;
  return hex.substr(0, shown);
}

}  // namespace hone::tools
