#include "db/canonical.hpp"

#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hone::db::canonical {

void append_word(std::string& form, std::uint64_t word) {
  char bytes[8];
  for (char& byte : bytes) {
    byte = static_cast<char>(word & 0xff);
    word >>= 8;
  }
  form.append(bytes, sizeof bytes);
}

std::uint64_t read_word(const std::byte* bytes) {
  std::uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = word << 8 | static_cast<std::uint64_t>(bytes[i]);
  return word;
}

void append_text(std::string& form, std::string_view text) {
  form += 't';
  append_word(form, text.size());
  form += text;
}

void append_integer(std::string& form, std::int64_t number) {
  form += 'i';
  append_word(form, static_cast<std::uint64_t>(number));
}

void append_real(std::string& form, double number) {
  form += 'r';
  // SQLite does not keep the sign of a zero.
  append_word(form, std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number));
}

void append_bytes(std::string& form, std::span<const std::byte> bytes) {
  form += 'b';
  append_word(form, bytes.size());
  if (!bytes.empty()) form.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void append_null(std::string& form) {
  form += 'n';
}

Id hash128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  XXH128_canonical_t form;
  XXH128_canonicalFromHash(&form, hash);
  Id id;
  static_assert(sizeof form.digest == sizeof id.bytes);
  std::memcpy(id.bytes.data(), form.digest, sizeof form.digest);
  return id;
}

std::int64_t hash64(std::string_view bytes) {
  return std::bit_cast<std::int64_t>(static_cast<std::uint64_t>(XXH3_64bits(bytes.data(), bytes.size())));
}

void append_id(std::string& form, const Id& id) {
  form.append(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
}

Id read_id(const std::byte* bytes) {
  Id id;
  std::memcpy(id.bytes.data(), bytes, sizeof id.bytes);
  return id;
}

}  // namespace hone::db::canonical
