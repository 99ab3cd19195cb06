// A sweep along the working set: the finalists of its problems race at every point, since racing for winners
// leaves holes; points are added until the edges of bands are known; and each race is stored as it ends, so
// that the same command takes up what another run has recorded. Bands follow in the database (db/bands.hpp).
//
// Only the problems of sweep_sizes() are tuned for. Between each two of them, and where edges are bisected,
// the finalists alone are raced: those problems get no winners of their own, since nobody knows of a better
// configuration for them until their space is searched.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/store.hpp"
#include "runtime/family.hpp"
#include "tuner/candidates.hpp"
#include "tuner/conclude.hpp"
#include "tuner/tune.hpp"

namespace hone::tuner {

/// What is swept: one element type and layout of a family of one dimension, on one device.
struct SweepTask {
  const Family& family;
  const DeviceInfo& device;
  const db::Run& run;
  db::Regime regime = db::Regime::steady;
  std::pair<std::int64_t, std::int64_t> range;  ///< working sets, bytes
  double resolution = 1.0625;
  std::string element_type, layout;
  bool again = false;                   ///< measure what is on record too
  std::optional<std::set<db::Id>> own;  ///< runs whose records count; none: all do
};

/// Races all of these at a problem to the end, and gives a row for each. Empty: the problem cannot be set up.
/// None: told to stop, or out of time.
using RaceAll = std::function<std::optional<std::vector<RaceRow>>(const db::Problem& problem,
                                                                  std::vector<Candidate>& candidates)>;

/// Bands are stored once every point of the range was raced, though time may have ended before all edges were
/// bisected.
SweepSummary sweep(db::Store& store, db::Evaluator& evaluator, const SweepTask& task, const RaceAll& race);

}  // namespace hone::tuner
