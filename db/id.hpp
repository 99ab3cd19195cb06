// 128-bit identities: content hashes of records, and random ones (UUID version 4) of events.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hone::db {

struct Id {
  std::array<std::uint8_t, 16> bytes{};
  auto operator<=>(const Id&) const = default;
  /// 32 lower-case hexadecimal digits.
  std::string hex() const;
  static std::optional<Id> parse(std::string_view hex);
  static Id random();
};

/// Ids are hashes or random: their first bytes are as good a hash as any.
struct IdHash {
  std::size_t operator()(const Id& id) const noexcept {
    std::size_t hash = 0;
    std::memcpy(&hash, id.bytes.data(), sizeof hash);
    return hash;
  }
};

/// Feeds length-prefixed fields into a 128-bit XXH3 hash, so that ("12,345") and ("12", "345") differ.
/// The one function that makes every key in hone.
class KeyBuilder {
 public:
  KeyBuilder& add(std::string_view text);
  KeyBuilder& add(std::int64_t number);
  KeyBuilder& add(std::span<const std::byte> bytes);
  Id id() const;

 private:
  std::string canonical_;
};

}  // namespace hone::db
