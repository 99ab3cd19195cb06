// The record behind an answer of the ladder: its measurement, its run, who raced against it, and what has
// changed since.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "hone/hone.hpp"
#include "runtime/device.hpp"
#include "tools/parse.hpp"
#include "tools/rivals.hpp"
#include "tools/staleness.hpp"

namespace hone::tools {

/// A call as the command line names it.
struct NamedCall {
  std::string family, element_type, layout;
  tuner::Shape shape;
  std::int64_t alignment = 1;  ///< of every pointer, bytes
};

struct AnswerRecord {
  db::Measurement measurement;
  std::optional<db::Problem> problem;  ///< that it was taken on: the call's own where the answer is exact
  std::optional<db::Run> run;
  std::vector<Rival> rivals;
  std::vector<Changed> changed;  ///< as `hone query stale` shows it
};

/// None where no measurement is behind the pick: a default, or nothing. `templates` are those of --templates.
std::optional<AnswerRecord> record_of(const Pick& pick, const NamedCall& call, const DeviceInfo& device,
                                      const std::vector<std::string>& templates);

}  // namespace hone::tools
