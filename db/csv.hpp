// Comma-separated values, as RFC 4180 has them.
#pragma once

#include <string>
#include <string_view>

namespace hone::db {

/// A text as a field: quoted where a separator, a quote or a line's end is in it.
std::string csv_field(std::string_view text);

}  // namespace hone::db
