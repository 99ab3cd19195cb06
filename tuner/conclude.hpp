// The end of a race: its measurements, the decisions they lead to and what the runtime needs to serve them,
// in one transaction, since samples of two races cannot be ranked together.
#pragma once

#include <vector>

#include "db/store.hpp"
#include "runtime/family.hpp"
#include "tuner/candidates.hpp"

namespace hone::tuner {

/// One entrant's part of a race.
struct RaceRow {
  const Candidate* candidate = nullptr;
  db::Measurement measurement;
};

/// What was raced, and against what.
struct RaceRecord {
  const Family& family;
  const DeviceInfo& device;
  const db::Run& run;
  const db::Problem& problem;
  db::Regime regime = db::Regime::steady;
  const std::vector<Candidate>& candidates;  ///< the whole space: its alignment classes each get a decision
  const std::vector<db::Winner>& incumbents;
  std::vector<RaceRow> rows;
};

/// Stores the record and returns the winners, one an alignment class; none when nothing passed.
std::vector<db::Winner> conclude(db::Store& store, const RaceRecord& record);

/// Stores the code object of a candidate that was compiled.
void put_object(db::Store& store, const Family& family, const DeviceInfo& device, const Candidate& candidate);

}  // namespace hone::tuner
