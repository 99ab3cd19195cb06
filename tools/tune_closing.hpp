// What `hone tune` says when it ends.
#pragma once

#include <string>

#include "tuner/tune.hpp"

namespace hone::tools {

/// How many configurations ended how: `12 ok, 3 raced_out`; only those that failed, or all.
std::string outcome_text(const std::map<db::Outcome, std::int64_t>& outcomes, bool failures_only);

/// Cards of one identity share winners: what each did for a problem, as one. Of several winners of an
/// alignment class the one decided last; of several failures the first.
std::vector<tuner::ProblemSummary> by_identity(std::vector<tuner::ProblemSummary> problems);

/// Some lines: what was done, how the winners in the settings' database changed, where to look next.
std::string closing_text(const tuner::TuneSummary& summary, const tuner::TuneSettings& settings);

}  // namespace hone::tools
