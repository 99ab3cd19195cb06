#include "runtime/plural.hpp"

namespace hone {

std::string plural_form(const std::string& what) {
  if (what.ends_with("ch")) return what + "es";
  if (what.ends_with("ily")) return what.substr(0, what.size() - 1) + "ies";
  return what + 's';
}

}  // namespace hone
