// Failures of many configurations, grouped by outcome and reason.
#pragma once

#include <vector>

#include "tools/table.hpp"
#include "tuner/compile_space.hpp"

namespace hone::tools {

/// For people: each kind once, with its count and one configuration; to stderr.
void tell_failures(const std::vector<tuner::CompileFailure>& failures);

/// For JSON: all of them, as an array of objects.
Structured failures_cell(const std::vector<tuner::CompileFailure>& failures);

}  // namespace hone::tools
