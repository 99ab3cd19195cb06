// The tuning run: every problem asked for, on every device chosen, from the space to the winners in the
// database. The calling process coordinates, with a thread for each device, and alone writes the database;
// compiling and measuring happen in workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "runtime/family.hpp"
#include "tuner/observer.hpp"

namespace hone::tuner {

/// Where a run stops early: after so many configurations a problem, or so much time altogether.
struct Budget {
  std::optional<std::int64_t> configurations;
  std::optional<double> seconds;
};

using Shape = std::vector<std::pair<std::string, std::int64_t>>;

/// What limits a process that works for a run.
struct Limits {
  int jobs = 0;                 ///< compile workers; 0: one a core
  double compile_seconds = 60;  ///< for one configuration
  double measure_seconds = 10;  ///< for one step of one configuration, beyond what its size needs
  std::filesystem::path worker = "/proc/self/exe";  ///< the hone command, run as `<worker> worker`
};

struct TuneSettings {
  std::string family;
  std::vector<TemplateFolder> folders;
  bool trust = false;                      ///< run templates outside the installed and the user's own folders
  std::string device;                      ///< as choose_devices() takes it
  std::vector<std::string> element_types;  ///< empty: all of the family
  std::string layout;
  std::vector<Shape> shapes;
  std::vector<db::Problem> problems;  ///< exact ones besides (from misses)
  std::optional<std::pair<std::int64_t, std::int64_t>>
      sweep;                   ///< working sets from, to (bytes); see sweep_sizes()
  double resolution = 1.0625;  ///< to which the edges of a sweep's bands are bisected, a ratio
  db::Regime regime = db::Regime::steady;
  std::string search = "auto";  ///< one of search_names()
  Budget budget;
  bool refresh = false;          ///< measure again the finalists of stale winners only
  bool again = false;            ///< measure what has fresh winners too
  bool portfolio = false;        ///< then race the winners there are at every problem that has one
  std::int64_t cache_bytes = 0;  ///< last-level cache where the device does not tell (cold regime)
  std::uint64_t seed = 1;
  std::filesystem::path database;
  std::string command;  ///< the command line, for the record
  Limits limits;
};

struct ProblemSummary {
  db::Problem problem;
  db::Device device;
  std::int64_t working_set = 0;
  std::int64_t space = 0;  ///< legal configurations
  std::int64_t tried = 0;
  std::map<db::Outcome, std::int64_t> outcomes;  ///< of those tried
  std::string ended;                             ///< why the search ended by itself; empty: it did not
  bool skipped = false;                          ///< had fresh winners already
  bool grown = false;                            ///< its space has, since its winners were tuned
  double seconds = 0;                            ///< that this run took for it
  double seconds_before =
      0;                ///< a refresh: between the first and the last measurement of its longest run before
  std::string failure;  ///< why it has no winner; empty: it has
  std::vector<db::Winner> winners;  ///< one an alignment class
};

/// What the bands of one element type and layout came to.
struct SweepSummary {
  std::string element_type, layout;
  std::int64_t points = 0;  ///< along the working set
  std::int64_t races = 0;   ///< of them now; the rest was on record
  std::int64_t bands = 0;   ///< over all alignment classes
  std::string unfinished;   ///< why it has no bands, or edges coarser than asked for; empty: it is done
};

/// What the portfolio of one element type and layout came to.
struct PortfolioSummary {
  std::string element_type, layout;
  std::int64_t problems = 0;  ///< at which winners raced
  std::int64_t races = 0;     ///< of them now; the rest was on record
  std::int64_t members = 0;   ///< configurations, over all alignment classes
  std::string unfinished;     ///< why there is none; empty: it is done
};

/// Where the time went, in seconds; all but `total` summed over the devices, which are tuned at the same
/// time.
struct Timing {
  double total = 0, compile_wait = 0, look = 0, race = 0, prepare = 0, store = 0;
  double restart = 0;  ///< replacing measuring workers; also part of what they were lost in
  std::int64_t compiled = 0, checked = 0, restarts = 0;
  std::int64_t launches_timed = 0,
               launches_saved = 0;  ///< saved: what the full protocol on every candidate would add
};

struct TuneSummary {
  std::vector<ProblemSummary> problems;
  std::vector<SweepSummary> sweeps;
  std::vector<PortfolioSummary> portfolios;
  Timing timing;
  bool device_failed = false;  ///< one of several devices was not tuned to the end; a note said why
  bool interrupted = false;
  bool budget_spent = false;
};

/// GPUs are tuned at the same time, the host after them, since nothing else may run while it measures.
/// Throws Error: invalid for bad settings or templates, environment when no device, compiler or database
/// serves. `stop` set by another thread or a signal handler ends the run soon, with everything committed
/// kept.
TuneSummary tune(const TuneSettings& settings, Observer& observer, const std::atomic<bool>& stop);

}  // namespace hone::tuner
