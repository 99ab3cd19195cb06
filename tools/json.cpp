#include "tools/json.hpp"

#include <fmt/format.h>

#include <cmath>

#include "db/utf8.hpp"

namespace hone::tools {

std::string json_string(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const std::size_t length = db::utf8_sequence(text);
    const char c = text[0];
    if (length == 0) {
      json += "\\ufffd";
    } else if (length > 1) {
      json += text.substr(0, length);
    } else if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (c == '\n') {
      json += "\\n";
    } else if (c == '\t') {
      json += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return json + '"';
}

std::string json_object(const std::vector<std::pair<std::string, db::Value>>& members) {
  std::string json;
  for (const auto& [name, value] : members) {
    const auto* number = std::get_if<std::int64_t>(&value);
    json += fmt::format(
        "{}{}: {}", json.empty() ? "{" : ", ", json_string(name),
        number != nullptr ? fmt::format("{}", *number) : json_string(std::get<std::string>(value)));
  }
  return json.empty() ? "{}" : json + '}';
}

std::string json_array(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) json += (json.size() == 1 ? "" : ", ") + json_string(text);
  return json + ']';
}

std::string json_number(double number) {
  return std::isfinite(number) ? fmt::format("{}", number) : "null";
}

}  // namespace hone::tools
