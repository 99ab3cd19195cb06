// How well the times of a portfolio's members are predicted.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "db/store.hpp"
#include "runtime/family.hpp"

namespace hone::tools {

/// Of each member the median relative error of its times, each predicted from the others alone (leave one
/// out, as Stone, "Cross-validatory choice and assessment of statistical predictions", 1974): what a call for
/// a problem never tuned can expect. `members` are of one portfolio. None where nothing can be predicted:
/// a single problem, another manifest, a device that is no device of hone's.
std::vector<std::optional<double>> fit_errors(db::Store& store, const Family& family,
                                              const db::Device& device,
                                              std::span<const db::PortfolioMember> members);

}  // namespace hone::tools
