#include "db/id.hpp"

#include <sys/random.h>

#include <cerrno>

#include "db/canonical.hpp"
#include "db/error.hpp"

namespace hone::db {

std::string Id::hex() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::optional<Id> Id::parse(std::string_view hex) {
  Id id;
  if (hex.size() != 2 * id.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const char c = hex[i];
    int digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {  // SQLite's hex() writes capitals
      digit = c - 'A' + 10;
    } else {
      return std::nullopt;
    }
    std::uint8_t& byte = id.bytes[i / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | digit);
  }
  return id;
}

Id Id::random() {
  Id id;
  std::size_t have = 0;
  while (have < id.bytes.size()) {
    const ssize_t got = getrandom(id.bytes.data() + have, id.bytes.size() - have, 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      throw Error(Error::Kind::internal, "the kernel gives no random numbers (getrandom failed)");
    }
    have += static_cast<std::size_t>(got);
  }
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | 0x40);  // UUID version 4
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);  // variant of RFC 4122
  return id;
}

KeyBuilder& KeyBuilder::add(std::string_view text) {
  canonical::append_text(canonical_, text);
  return *this;
}

KeyBuilder& KeyBuilder::add(std::int64_t number) {
  canonical::append_integer(canonical_, number);
  return *this;
}

KeyBuilder& KeyBuilder::add(std::span<const std::byte> bytes) {
  canonical::append_bytes(canonical_, bytes);
  return *this;
}

Id KeyBuilder::id() const {
  return canonical::hash128(canonical_);
}

}  // namespace hone::db
