// JSON texts, written.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/value.hpp"

namespace hone::tools {

/// `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

/// The shortest decimal that reads back as `number`; `null` where JSON has no number for it.
std::string json_number(double number);

/// `{"block": 256, "load": "cs"}` from names with integers or texts.
std::string json_object(const std::vector<std::pair<std::string, db::Value>>& members);

/// `["a", "b"]`.
std::string json_array(const std::vector<std::string>& texts);

}  // namespace hone::tools
