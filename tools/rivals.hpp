// Who raced against a configuration, and how far behind or ahead they came in.
#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"
#include "runtime/family.hpp"

namespace hone::tools {

struct Rival {
  db::Configuration configuration;
  db::Measurement measurement;
  double behind = 0;    ///< its median over the one's, less 1; below 0: it was faster
  bool tied = false;    ///< with the one
  std::string barrier;  ///< why it cannot serve the call; empty: it can
};

/// What a call asks that a rival may not be able to serve.
struct RivalCall {
  const Family& family;
  const DeviceInfo& device;
  db::Problem problem;
  std::int64_t alignment = 1;  ///< of every pointer, bytes
};

/// All that came through the race in which `measurement` was taken but it, the fastest first.
std::vector<Rival> rivals_of(db::Store& store, const db::Measurement& measurement, const RivalCall& call);

}  // namespace hone::tools
