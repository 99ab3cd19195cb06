// Base64 (RFC 4648), for bytes in texts.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::db {

std::string base64(std::span<const std::byte> bytes);

/// With its padding, and nothing besides; none for any other text.
std::optional<std::vector<std::byte>> parse_base64(std::string_view text);

}  // namespace hone::db
