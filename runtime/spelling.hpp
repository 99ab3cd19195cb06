// Names, and what a mistyped one may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// [a-zA-Z][a-zA-Z0-9_]*
bool is_name(std::string_view text);

/// What to add to "no such …": the nearest of `known` where one is near, and all of them.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace hone
