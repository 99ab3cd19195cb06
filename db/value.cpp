#include "db/value.hpp"

namespace hone::db {

std::string to_string(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

std::string to_string(const Values& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    if (!text.empty()) text += ' ';
    text += name + '=' + to_string(value);
  }
  return text;
}

}  // namespace hone::db
