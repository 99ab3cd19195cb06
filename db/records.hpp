// The records of a tuning database, as plain structs. Append-only; identified by content or by random ids.
// db/SCHEMA.md documents their tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/id.hpp"
#include "db/value.hpp"

namespace hone::db {

/// What one tuned device is: exactly the properties that change the answer.
struct Device {
  std::string backend;  ///< `host`, `cuda`, `hip`
  std::string name;
  std::string architecture;  ///< `sm_90a`, `gfx90a:sramecc+:xnack-`, `x86-64-v3`
  std::int64_t compute_units = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t last_level_cache_bytes = 0;  ///< 0: unknown
  std::string partition;                    ///< MIG, CPX/SPX or VF where visible, else empty
  Id id() const;
};

/// Driver, firmware, power limit, compiler versions, host: what may make a winner stale softly.
struct Environment {
  std::map<std::string, std::string> items;
  Id id() const;
};

/// One variant's source as it was tuned, and what launches it.
struct Template {
  std::string family;
  std::string variant;
  Id source_hash;        ///< of the source after its includes with its launch and argument description
  std::string manifest;  ///< the family's manifest, whole
  std::string source;    ///< after its includes
};

/// Of a long text, as a manifest's: what is recorded once and pointed to.
Id text_id(const std::string& content);

struct Problem {
  std::string family;
  std::string element_type;                                      ///< `f16`
  std::string layout;                                            ///< empty where the family has only one
  std::vector<std::pair<std::string, std::int64_t>> dimensions;  ///< in the manifest's order, strides last
  Id id() const;
  /// `relu f16 numel=1048576`.
  std::string text() const;
  auto operator<=>(const Problem&) const = default;
};

struct Configuration {
  std::string family;
  std::string variant;
  Values parameters;
  Id id() const;
  /// `simt block=256 vector=16`.
  std::string text() const;
  bool operator==(const Configuration&) const = default;
};

enum class Regime { steady, cold };
enum class Outcome {
  ok,
  raced_out,
  pruned,
  compile_failed,
  resources_exceeded,
  launch_failed,
  wrong_result,
  wrote_outside,
  input_changed,
  over_launched,
  timed_out,
  crashed,
};
enum class Stage {
  first_look,  ///< compiled, checked, timed a little; committed on its own
  race,        ///< of one final race, committed as a unit, comparable with the others of the same run
};
/// Whether a configuration did what it must not, so that it cannot be trusted with other problems either.
bool is_fault(Outcome outcome);
/// Whether it did not build, run or compute as it must; what was raced out or pruned did not fail.
bool is_failure(Outcome outcome);
const char* name(Regime regime);
const char* name(Outcome outcome);
const char* name(Stage stage);
std::optional<Regime> parse_regime(std::string_view text);
std::optional<Outcome> parse_outcome(std::string_view text);
std::optional<Stage> parse_stage(std::string_view text);

/// One invocation of the tuner.
struct Run {
  Id id = Id::random();
  std::int64_t started_us = 0;  ///< microseconds since 1970, UTC
  Id device;
  Id environment;
  std::string command;  ///< the command line, to repeat it
  std::string hone_version;
  std::int64_t seed = 0;
  std::map<std::string, std::string>
      settings;  ///< search, budget, protocol, bytes flushed in the cold regime
};

/// Statistics of one configuration's samples, nanoseconds a launch.
struct Statistics {
  std::int64_t n = 0;
  double minimum = 0, q1 = 0, median = 0, q3 = 0;
  double spread() const { return q3 - q1; }
};

/// How the device was while something was measured, as far as the vendor's library tells.
struct Condition {
  std::int64_t clock_mhz = 0;      ///< 0: not told
  std::int64_t temperature_c = 0;  ///< of the chip; 0: not told
  bool throttled = false;      ///< slowed down by heat or the hardware, also in the samples that were kept
  std::int64_t discarded = 0;  ///< samples thrown away and taken again because it was throttled
};

struct Measurement {
  Id id = Id::random();
  Id run{};
  Id problem{};
  Id configuration{};
  Id source_hash{};
  Regime regime = Regime::steady;
  Stage stage = Stage::first_look;
  Outcome outcome = Outcome::ok;
  std::string reason{};           ///< why, where the outcome is not `ok`; one line
  std::int64_t alignment = 1;     ///< bytes every pointer must be aligned to
  std::int64_t launches = 0;      ///< launches in each sample
  Statistics statistics{};        ///< n = 0 where nothing was timed
  std::vector<double> samples{};  ///< nanoseconds a launch, in the order taken
  Condition condition{};          ///< at the last sample; samples thrown away are of all
  Id build_key{};                 ///< of the code object measured; zero where none was built
  std::int64_t taken_us = 0;      ///< when, microseconds since 1970
};

/// What a run concluded for one problem, regime and alignment class.
struct Decision {
  Id id = Id::random();
  Id run;
  Id problem;
  Regime regime = Regime::steady;
  std::int64_t alignment = 16;   ///< serves pointers aligned to at least this many bytes
  Id chosen;                     ///< measurement
  std::optional<Id> incumbent;   ///< measurement of the winner before, in this run's race
  std::optional<Id> by_default;  ///< measurement of the manifest's default, in this run's race
  std::vector<Id> tied;          ///< measurements within the tie bound of the fastest
  double tie_bound = 0;          ///< relative
  std::int64_t decided_us = 0;
};

/// What a run measured at one point of a sweep: a race of the same configurations as at its other points.
struct SweepPoint {
  Id id = Id::random();
  Id run;
  Id problem;
  Regime regime = Regime::steady;
  std::int64_t working_set = 0;  ///< bytes
  std::vector<Id> measurements;  ///< of one race, failures too
  std::int64_t taken_us = 0;
};

/// A finished sweep of one family, element type and layout, perhaps of several runs: along the working set,
/// which bands are derived from; or across problems of several dimensions, which a portfolio is derived from.
struct Sweep {
  Id id = Id::random();
  Id run;  ///< that finished it
  std::string family, element_type, layout;
  Regime regime = Regime::steady;
  double resolution = 1;    ///< edges lie between points at most this ratio apart, or where both sides tie
  std::vector<Id> points;   ///< by working set, then by problem, each once
  std::vector<Id> refused;  ///< configurations that failed a check in any of its races: they serve nowhere
  std::int64_t swept_us = 0;
};

/// The most that a device can do, as somebody gave it.
struct Peak {
  Id device;
  std::string kind = "memory";  ///< `memory`: bytes read and written; `work f16`: operations on that type
  std::int64_t per_second = 0;
};

struct CodeObject {
  Id build_key;
  std::string architecture;
  std::string compiler;  ///< name and version
  std::string entry;
  std::vector<std::byte> bytes;
};

/// One row of what the runtime serves: the newest decision for its key whose source hash is current.
struct Winner {
  Problem problem;
  Configuration configuration;
  Regime regime = Regime::steady;
  std::int64_t alignment = 16;       ///< the alignment class served
  std::int64_t needs_alignment = 1;  ///< what the configuration needs
  Id source_hash, build_key, device, environment, run, measurement, decision;
  Statistics statistics;
  std::int64_t tied = 0;  ///< others within the tie bound
  std::int64_t decided_us = 0;
};

/// What a sweep says of one configuration and alignment class, and where that comes from.
struct Swept {
  std::string family, element_type, layout;
  Regime regime = Regime::steady;
  std::int64_t alignment = 16;  ///< the alignment class served
  Configuration configuration;
  std::int64_t needs_alignment = 1;  ///< what the configuration needs
  Id measurement;                    ///< of the configuration, at one of the points
  Id source_hash, build_key, device, environment, run, sweep;
  std::int64_t swept_us = 0;
};

/// An interval of the working set in which one configuration serves, of the newest sweep whose sources are
/// current. Its measurement is where the regret is.
struct Band : Swept {
  std::int64_t lo = 0, hi = 0;                                  ///< [lo, hi) bytes
  bool extrapolated_below = false, extrapolated_above = false;  ///< it goes on where nothing was measured
  double regret = 0;                 ///< the most that its median exceeds the best one's at a point, relative
  std::int64_t points = 0;           ///< measured in it
  std::int64_t first = 0, last = 0;  ///< working sets of the smallest and the largest of them
  std::int64_t worst = 0;            ///< working set of the one where the regret is
  double resolution = 1;             ///< the sweep's
  /// `below`, `above`, `both` or empty.
  const char* extrapolated() const;
};

/// A configuration that ties with the best at one or more of the problems that the newest sweep with current
/// sources went across, with what it costs at each. Its measurement is where it is the nearest to the best.
struct PortfolioMember : Swept {
  /// At a problem where it may run.
  struct Cost {
    Id problem;
    double median = 0;  ///< nanoseconds a launch; where it was dropped early, of few samples
  };
  std::int64_t points = 0;  ///< at which it is the fastest of the portfolio
  double regret = 0;        ///< the most that its median exceeds the best one's at those, relative
  std::vector<Cost> costs;  ///< in the order of the sweep's points
};

/// A default configuration that passed its checks on a device: what the `default` rung serves.
struct CheckedDefault {
  std::string family, element_type, layout;
  Configuration configuration;
  std::int64_t needs_alignment = 1;
  Id source_hash, build_key, device;
};

}  // namespace hone::db
