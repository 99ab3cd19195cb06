// What may stand for an option's value or an argument, as far as this machine and the database tell.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/options.hpp"

namespace hone::tools {

/// What is known of a command line that is still being written.
struct Written {
  std::string verb;
  Arguments positional;
  std::map<std::string, std::string> options;  ///< with values, by their long names; of several the last

  /// Empty: not given.
  std::string option(const std::string& name) const {
    const auto found = options.find(name);
    return found == options.end() ? "" : found->second;
  }
};

/// Families that the verb can take.
std::vector<std::string> families_for(const Written& written);

/// `current` is what there is of the value. Empty: only the option's reader knows.
std::vector<std::string> values_for(const Written& written, const Options::Declared& option,
                                    const std::string& current);

}  // namespace hone::tools
