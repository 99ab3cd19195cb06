#include "runtime/user_data.hpp"

#include <cstdlib>

namespace hone {

std::filesystem::path user_data_folder() {
  // The specification says to ignore a path that is not absolute.
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && data[0] == '/')
    return std::filesystem::path(data) / "hone";
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] != '\0')
    return std::filesystem::path(home) / ".local" / "share" / "hone";
  return {};
}

}  // namespace hone
