// What `hone report` shows, read from a database: every configuration timed, winners, bands, ladders,
// failures by kind and the runs behind them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tools/filters.hpp"
#include "tools/peaks.hpp"

namespace hone::tools {

struct ReportDevice {
  db::Device device;
  std::optional<MemoryPeak> peak;
  std::map<std::string, double> work_peaks;  ///< operations a second, given, by element type
};

struct ReportRun {
  db::Run run;
  std::string ended;  ///< `done`, `interrupted`, `failed`; empty: it did not
  std::map<std::string, std::string> environment;
  std::size_t device = 0;         ///< into Report::devices
  std::int64_t measurements = 0;  ///< of those that the report counts
};

/// One configuration's timing on one problem.
struct ReportMark {
  std::size_t configuration = 0;  ///< into its family's
  std::size_t run = 0;            ///< into Report::runs
  std::size_t race = 0;  ///< number of its race at the problem, from 1 for the newest on; 0: a first look
  db::Statistics statistics;
};

struct ReportWinner {
  ReportMark mark;
  std::int64_t alignment = 1;  ///< the class served, bytes
  std::int64_t tied = 0;       ///< others within the tie bound
};

struct ReportProblem {
  db::Problem problem;
  std::int64_t working_set = 0;   ///< bytes
  std::int64_t work = 0;          ///< operations; 0: none, or the manifest's expression does not hold for it
  std::vector<ReportMark> marks;  ///< by configuration: of its newest race, then of its newest first look
  std::vector<ReportWinner> winners;              ///< by alignment
  std::vector<std::optional<ReportMark>> ladder;  ///< of the newest race, a point each; empty: there was none
};

struct ReportBand {
  db::Band band;
  std::size_t configuration = 0;
};

/// What one chart of bands shows.
struct ReportGroup {
  std::size_t family = 0, device = 0;  ///< into Report's
  db::Regime regime = db::Regime::steady;
  std::string element_type, layout;
  std::vector<ReportProblem> problems;  ///< by working set
  std::vector<ReportBand> bands;        ///< by alignment and lower edge
};

/// A parameter with the values that configurations of the report have. `variant` is the first of each family.
struct ReportParameter {
  std::string name;
  std::vector<db::Value> values;  ///< in the manifest's order
};

struct ReportFamily {
  std::string name, description;
  std::vector<ReportParameter> parameters;
  /// A number a parameter: 0 where the configuration has no such parameter, else 1 + the value's place.
  std::vector<std::vector<std::size_t>> configurations;
  std::vector<std::string> ladder;  ///< names of the points, in the manifest's order
};

struct ReportFailure {
  std::size_t family = 0, device = 0;
  db::Outcome outcome = db::Outcome::crashed;
  std::string reason;
  std::int64_t count = 0;
  std::string example;  ///< a problem and a configuration that failed so
};

struct Report {
  std::filesystem::path database;
  std::int64_t made_us = 0;
  std::int64_t measurements = 0;        ///< that match, whatever their outcome
  std::int64_t pairs = 0;               ///< of configuration and problem timed, over all groups
  std::int64_t pruned = 0;              ///< never compiled: a bound or the resource report
  std::int64_t older = 0;               ///< of sources that are no longer current: counted, not shown
  std::int64_t without_traffic = 0;     ///< of problems whose working set nobody told: counted, not shown
  std::vector<std::string> unreadable;  ///< families left out, since their stored manifests cannot be read
  std::vector<ReportDevice> devices;
  std::vector<ReportRun> runs;  ///< newest first; those that measurements of the report are of
  std::vector<ReportFamily> families;
  std::vector<ReportGroup> groups;      ///< by family, device, regime, element type and layout
  std::vector<ReportFailure> failures;  ///< by family and device, the most frequent first
};

/// Only what `filters` match, of sources that are current. Throws db::Error where the database is damaged.
Report gather_report(db::Store& store, const Filters& filters);

}  // namespace hone::tools
