// Every verb with what it declares.
#pragma once

#include <vector>

#include "tools/verbs.hpp"

namespace hone::tools {

/// What a verb declares; nothing of it is done.
Options::Description describe(const Verb& verb);

/// `tune`, …, `query winners`, …, `db check`, …, in the order of the help.
std::vector<Options::Description> describe_all(const Verbs& among = command_verbs());

}  // namespace hone::tools
