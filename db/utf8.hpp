// UTF-8, which JSON texts are made of.
#pragma once

#include <cstddef>
#include <string_view>

namespace hone::db {

/// Bytes of the UTF-8 sequence that `text` starts with; 0 when it starts with none.
std::size_t utf8_sequence(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace hone::db
