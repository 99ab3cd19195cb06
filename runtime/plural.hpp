// Counts in words.
#pragma once

#include <concepts>
#include <string>

namespace hone {

/// `problems` of `problem`, `launches` of `launch`, `families` of `family`.
std::string plural_form(const std::string& what);

/// `1 problem`, `3 problems`.
inline std::string plural(std::integral auto count, const std::string& what) {
  return std::to_string(count) + ' ' + (count == 1 ? what : plural_form(what));
}

}  // namespace hone
