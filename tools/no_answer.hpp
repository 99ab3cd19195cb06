// Why no rung of the ladder answers a call.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "hone/hone.hpp"

namespace hone::tools {

/// In words, without the command that would help. `files` are the databases that were asked; `filter` has the
/// call's family, element type, regime and device; `templates` are those of --templates.
std::string why_nothing(const Pick& pick, const std::set<std::string>& files, const db::Filter& filter,
                        const std::vector<std::string>& templates);

}  // namespace hone::tools
