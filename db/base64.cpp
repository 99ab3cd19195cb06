#include "db/base64.hpp"

#include <cstdint>

namespace hone::db {
namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < count ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0);
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? digits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::optional<std::vector<std::byte>> parse_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t at = 0; at < text.size(); at += 4) {
    std::string_view group = text.substr(at, 4);
    const bool last = at + 4 == text.size();
    while (last && group.size() > 2 && group.back() == '=') group.remove_suffix(1);
    std::uint32_t bits = 0;
    for (const char c : group) {
      const std::size_t digit = digits.find(c);
      if (digit == std::string_view::npos) return std::nullopt;
      bits = bits << 6 | static_cast<std::uint32_t>(digit);
    }
    const std::size_t unused = 6 * group.size() % 8;
    if ((bits & ((1u << unused) - 1)) != 0) return std::nullopt;  // another text means the same bytes
    for (std::size_t i = 6 * group.size() / 8; i-- > 0;)
      bytes.push_back(static_cast<std::byte>(bits >> unused >> (8 * i) & 0xff));
  }
  return bytes;
}

}  // namespace hone::db
