// Texts out of a file that somebody else may have written, for messages.
#pragma once

#include <string>

namespace hone::db {

/// Without what would begin a line or speak to a terminal: control characters become spaces.
std::string one_line(std::string text);

}  // namespace hone::db
