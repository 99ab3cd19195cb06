// Values that parameters and expressions' names take: 64-bit integers and short texts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace hone::db {

using Value = std::variant<std::int64_t, std::string>;

/// Values by name. A configuration's parameters are one of these, and so are the names an expression may
/// read.
using Values = std::map<std::string, Value, std::less<>>;

/// `256` or `cs`.
std::string to_string(const Value& value);

/// `block=256 vector=16`: names in alphabetical order, for people.
std::string to_string(const Values& values);

}  // namespace hone::db
