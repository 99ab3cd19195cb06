// Sizes as people read them.
#pragma once

#include <string>

namespace hone {

/// `512 B`, `1.5 MiB`, `64 MiB`.
std::string bytes_text(double bytes);

}  // namespace hone
