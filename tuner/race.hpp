// Racing: everyone gets a cheap look, a candidate is dropped once its best sample is worse than the leader's
// third quartile, and finalists get the full protocol, timed once each a round in random order so that drift
// of the clock hits all alike. After F-Race (Birattari et al. 2002), with quartiles instead of a rank test.
// The logic alone: samples come from a function, so that it can be tried on simulated noise.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "db/records.hpp"

namespace hone::tuner {

/// One candidate of a race. Candidates compete per alignment class (class_best.hpp).
struct Entrant {
  std::uint32_t slot = 0;
  std::int64_t alignment = 1;
  bool kept = false;          ///< default, incumbent, ladder: never dropped before the final
  double look = 0;            ///< best sample of its first look, nanoseconds
  std::vector<double> heats;  ///< samples of the heats
  std::vector<double> final;  ///< samples of the final; empty: it did not get there
  std::int64_t launches = 0;  ///< in each sample of the final
  bool lost = false;          ///< its worker was lost while it was timed; `take` says so by a NaN
};

/// Takes one sample of each entrant, in this order, of `launches[i]` launches after `warm_ups` others.
using Take = std::function<std::vector<double>(
    std::span<const std::uint32_t> slots, std::span<const std::uint32_t> launches, std::uint32_t warm_ups)>;

struct RaceSettings {
  int heats = 6;                 ///< most rounds before the final
  int finalists = 12;            ///< of the widest alignment class; a third of that for each narrower one
  int rounds = 15;               ///< of the final
  std::uint32_t warm_ups = 20;   ///< before each sample of the final; none in the cold regime
  std::uint32_t launches = 100;  ///< in each sample of the final, fewer for long kernels
  double heat_seconds = 0.0005;  ///< of launches in a heat's sample
  double final_seconds = 3;      ///< the final may take about so long; its samples get fewer launches for it
  double drift = 0.05;           ///< how far the clock may have moved between two first looks
  std::uint64_t seed = 1;
};

/// A candidate that passed its first look.
struct Looked {
  std::uint32_t slot = 0;
  std::int64_t alignment = 1;
  bool kept = false;
  db::Statistics look;
};

/// Those that may still win, and the slots of those whose first look already shows that they cannot: worse
/// than a better one's by more than the drift and its own spread allow. `kept` ones always may.
struct Field {
  std::vector<Entrant> entrants;
  std::vector<std::uint32_t> out;
};
Field after_looks(std::span<const Looked> looked, const RaceSettings& settings);

/// Launches that one candidate takes in a final of `settings.finalists`, by the best sample of its first
/// look.
std::int64_t full_protocol_launches(const RaceSettings& settings, double look_nanoseconds);

/// Drops until few are left, then runs the final. `stop` true ends early; the final is then incomplete and
/// the result false. Launches timed are added to `launches_timed`.
bool race(std::vector<Entrant>& entrants, const RaceSettings& settings, const Take& take,
          const std::function<bool()>& stop, std::int64_t& launches_timed);

}  // namespace hone::tuner
