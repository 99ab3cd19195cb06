// Finalists of several problems, raced at one problem after another. Each race is stored as it ends, so that
// the same command takes up what another run has recorded. Along the working set these races are a sweep
// (sweep.hpp), across problems of several dimensions a portfolio (portfolio.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/store.hpp"
#include "runtime/family.hpp"
#include "tuner/candidates.hpp"
#include "tuner/conclude.hpp"

namespace hone::tuner {

/// What is raced: one element type and layout of a family, on one device.
struct FinalistTask {
  const Family& family;
  const DeviceInfo& device;
  const db::Run& run;
  db::Regime regime = db::Regime::steady;
  std::string element_type, layout;
  bool again = false;                   ///< measure what is on record too
  std::optional<std::set<db::Id>> own;  ///< runs whose records count; none: all do

  db::Filter key() const { return {family.name, element_type, regime, run.device, {}}; }
};

/// Races all of these at a problem to the end, and gives a row for each. Empty: the problem cannot be set up.
/// None: told to stop, or out of time.
using RaceAll = std::function<std::optional<std::vector<RaceRow>>(const db::Problem& problem,
                                                                  std::vector<Candidate>& candidates)>;

class FinalistRaces {
 public:
  /// All of them outlive it.
  FinalistRaces(db::Store& store, db::Evaluator& evaluator, const FinalistTask& task, const RaceAll& race)
      : store_(store), evaluator_(evaluator), task_(task), race_(race) {}

  struct Enough {
    std::size_t finalists = 0;  ///< altogether, as far as those tied with winners can make them so many
    std::size_t narrow =
        std::numeric_limits<std::size_t>::max();  ///< winners of each narrower alignment class
  };
  /// The winners of `tuned`, without one of which regret would be held against less than the best that is
  /// known, the most frequent first where not all are wanted; those tied with winners, the most often tied
  /// first; and the default. False: none of `tuned` has a winner.
  bool find(const std::set<db::Problem>& tuned, const Enough& enough);

  std::size_t size() const { return finalists_.size(); }
  /// Of a finalist, by its configuration.
  std::size_t place(const db::Id& configuration) const { return places_.at(configuration); }

  /// One race at one problem.
  struct Taken {
    db::Id point;                               ///< the sweep point; zero: the problem cannot be set up
    std::vector<db::Measurement> measurements;  ///< failures too
  };
  /// The race on record, else one now. None: told to stop, or out of time.
  std::optional<Taken> take(const db::Problem& problem, std::int64_t working_set);

  /// Configurations that failed a check at any problem taken.
  const std::set<db::Id>& refused() const { return refused_; }
  std::int64_t races() const { return raced_; }  ///< now; the rest was on record

  /// Stores the sweep that the points are, unless the newest there is the same.
  void finish(std::vector<db::Id> points, double resolution);

 private:
  void find_newest();
  std::vector<Candidate> candidates_at(const db::Problem& problem);
  std::optional<Taken> recorded(const db::Problem& problem, const std::vector<Candidate>& candidates);
  std::vector<Taken> read_records(const db::Problem& problem, const std::vector<Candidate>& candidates);
  Taken record(const db::Problem& problem, std::int64_t working_set, const std::vector<RaceRow>& rows);

  db::Store& store_;
  db::Evaluator& evaluator_;
  const FinalistTask& task_;
  const RaceAll& race_;
  std::vector<db::Configuration> finalists_;
  std::map<db::Id, std::size_t> places_;
  std::optional<db::Sweep> newest_;
  std::optional<std::int64_t> since_us_;
  std::set<db::Id> its_runs_;  ///< that measured points of `newest_`
  /// By problem: races on record not taken up yet, newest first.
  std::map<db::Id, std::vector<Taken>> records_;
  std::set<db::Id> refused_;
  std::int64_t raced_ = 0;
};

}  // namespace hone::tuner
