// Python's expressions over parameters, as the T1 format has them, as the manifest's: what both write alike,
// or nearly so. Anything else is refused.
#pragma once

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "db/value.hpp"

namespace hone::tuner {

/// What is not understood, and what to write instead.
class NotUnderstood : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// `[16, 32]`, `('a', 'b')`, `range(1, 9)`, `list(range(1, 9))`. Throws NotUnderstood.
std::vector<db::Value> values_of_python(const std::string& text);

/// `x % 4 == 0 and y in (1, 2)` as SQL. The names are all that it may read. Throws NotUnderstood.
std::string sql_of_python(const std::string& expression, const std::set<std::string>& names);

}  // namespace hone::tuner
