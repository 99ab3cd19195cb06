// A sweep along the working set: the finalists of its problems race at every point, since racing for winners
// leaves holes; points are added until the edges of bands are known; and each race is stored as it ends, so
// that the same command takes up what another run has recorded. Bands follow in the database (db/bands.hpp).
//
// Only the problems of sweep_sizes() are tuned for. Between each two of them, and where edges are bisected,
// the finalists alone are raced: those problems get no winners of their own, since nobody knows of a better
// configuration for them until their space is searched.
#pragma once

#include <utility>

#include "tuner/finalist_races.hpp"
#include "tuner/tune.hpp"

namespace hone::tuner {

struct SweepTask {
  FinalistTask races;                           ///< of a family of one dimension
  std::pair<std::int64_t, std::int64_t> range;  ///< working sets, bytes
  double resolution = 1.0625;
};

/// Bands are stored once every point of the range was raced, though time may have ended before all edges were
/// bisected.
SweepSummary sweep(db::Store& store, db::Evaluator& evaluator, const SweepTask& task, const RaceAll& race);

}  // namespace hone::tuner
