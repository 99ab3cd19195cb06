// The problems that a tuning run is asked for: shapes, sweeps and misses, for each element type.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "db/expression.hpp"
#include "tuner/tune.hpp"

namespace hone::tuner {

/// Complete and checked, each once, ordered so that those that share code objects follow each other, small
/// ones first. `last_level_cache`: of the device, bytes; 0 where it does not tell. Throws Error{invalid}.
std::vector<db::Problem> problems_of(db::Evaluator& evaluator, const Family& family,
                                     const TuneSettings& settings, std::uint64_t last_level_cache);

/// The problem of the largest extent of the swept dimension whose working set is at most `bytes`; other
/// dimensions take their minimum (at least 1). Throws Error{invalid} where even the smallest has more.
db::Problem at_working_set(db::Evaluator& evaluator, const Family& family, const std::string& type,
                           const std::string& layout, std::int64_t bytes);

/// The working sets of a sweep that are tuned for, from the first to at most the second: they double, and
/// among them are the last-level cache's size and three quarters of it, since what wins where data just fits
/// a cache may win nowhere else.
std::vector<std::int64_t> sweep_sizes(const std::pair<std::int64_t, std::int64_t>& sweep,
                                      std::uint64_t last_level_cache);

/// The element types asked for, or all of the family's. Throws Error{invalid} for one it does not have.
std::vector<std::string> element_types_of(const Family& family, const std::vector<std::string>& asked);

/// Throws Error{invalid} when the family has no variant for the device.
void require_variant(const Family& family, const DeviceInfo& device);

/// Throws Error{invalid} when the family lies outside the trusted folders and `trust` is false.
void require_trust(const Family& family, bool trust);

}  // namespace hone::tuner
