// The flat JSON objects that keep names with their values in a text column, so that SQLite's JSON functions
// can read them. The reader takes what the writer writes and nothing else.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/value.hpp"

namespace hone::db::json {

using Members = std::vector<std::pair<std::string, Value>>;

/// `{"block":256,"load":"cs"}`: members in the order given, no white space, integers and texts.
std::string write(const Members& members);

/// `text` as a JSON string, quotes included, as write() has it.
void append_string(std::string& out, std::string_view text);

/// Throws std::invalid_argument for any other text.
Members read(std::string_view text);

}  // namespace hone::db::json
