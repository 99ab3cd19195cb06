// What may stand for an option's value or an argument, as far as this machine and the database tell.
#pragma once

#include <string>
#include <vector>

#include "tools/options.hpp"

namespace hone::tools {

/// What is known of a command line that is still being written.
struct Written {
  std::string verb;
  Arguments positional;
  std::string database;  ///< --db; empty: not given
};

/// Families that the verb can take.
std::vector<std::string> families_for(const Written& written);

/// Empty: only the option's reader knows.
std::vector<std::string> values_for(const Written& written, const Options::Declared& option);

}  // namespace hone::tools
