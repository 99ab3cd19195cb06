// The unambiguous byte form of fields, over which every id and every checksum is computed. db/SCHEMA.md
// documents it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "db/id.hpp"

namespace hone::db::canonical {

// A field is a tag and, little-endian, its value or its length and bytes: no two lists of fields share a
// form.
void append_text(std::string& form, std::string_view text);
void append_integer(std::string& form, std::int64_t number);
void append_real(std::string& form, double number);
void append_bytes(std::string& form, std::span<const std::byte> bytes);
void append_null(std::string& form);

/// XXH3, 128 bits, most significant byte first.
Id hash128(std::string_view bytes);
/// XXH3, 64 bits, as the signed integer that SQLite stores.
std::int64_t hash64(std::string_view bytes);

/// Little-endian, 8 bytes.
void append_word(std::string& form, std::uint64_t word);
std::uint64_t read_word(const std::byte* bytes);

/// An id's 16 bytes, in their order.
void append_id(std::string& form, const Id& id);
Id read_id(const std::byte* bytes);

}  // namespace hone::db::canonical
