// What was measured of one family, problem by problem: what ladders, pivots and gains are read from.
#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"
#include "runtime/family.hpp"
#include "tools/filters.hpp"

namespace hone::tools {

/// The family as it was tuned last. Throws Error{invalid} that names the tuned ones when it never was.
Family tuned_family(db::Store& store, const std::string& name);

struct MeasuredProblem {
  db::Problem problem;
  db::Device device;
  db::Regime regime = db::Regime::steady;
  std::int64_t working_set = 0;       ///< bytes; 0: nobody told
  std::vector<db::MeasuredRow> rows;  ///< timed, right, of sources that are current; in the order taken

  double gb_per_s(const db::MeasuredRow& row) const;
};

/// By device, regime, element type, layout and working set; only what `filters` match and was timed; or what
/// came through races, of many rows a few.
std::vector<MeasuredProblem> measured_problems(db::Store& store, const Filters& filters, const Family& family,
                                               bool raced_alone = false);

/// Rows of one problem, the fastest first, one a configuration.
using FastestFirst = std::vector<const db::MeasuredRow*>;

/// Those that came through the newest race among all configurations: one run's, interleaved, comparable. A
/// sweep's races do not count: they are among its own few.
FastestFirst newest_race(db::Store& store, const MeasuredProblem& measured);

/// Of a race; null where none of it is of the point.
const db::MeasuredRow* fastest_at(const LadderPoint& point, const FastestFirst& race);

/// Each configuration's of the newest race it came through, else of its newest first look, else of the heats
/// that it was raced out in.
FastestFirst each_configuration(const MeasuredProblem& measured);

}  // namespace hone::tools
