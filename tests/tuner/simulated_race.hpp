// Races without a device: what a candidate took is what the test says.
#pragma once

#include <memory>

#include "tests/db/sample_database.hpp"
#include "tuner/conclude.hpp"

namespace hone::tuner {

/// A candidate's part of a race in `run`, as if it had been compiled and taken `nanoseconds`.
inline RaceRow simulated_row(const db::Run& run, const db::Problem& problem, Candidate& candidate,
                             double nanoseconds) {
  Compiled compiled;
  compiled.build_key = db::testing::id_of("build" + candidate.configuration.text());
  compiled.object.resize(1);
  candidate.compiled = std::make_shared<const Compiled>(std::move(compiled));
  return {&candidate, db::testing::measurement(run, problem, candidate.configuration, candidate.source_hash,
                                               {nanoseconds})};
}

}  // namespace hone::tuner
