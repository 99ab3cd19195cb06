// One device's part of a tuning run: problem by problem, look at configurations, race, decide, store; then,
// for sweeps, race the finalists along the working set.
#pragma once

#include <atomic>
#include <memory>
#include <set>

#include "db/store.hpp"
#include "tuner/bound.hpp"
#include "tuner/candidates.hpp"
#include "tuner/clock.hpp"
#include "tuner/code_objects.hpp"
#include "tuner/finalist_races.hpp"
#include "tuner/grown_space.hpp"
#include "tuner/measure_client.hpp"
#include "tuner/race.hpp"
#include "tuner/search.hpp"
#include "tuner/tune.hpp"

namespace hone::tuner {

/// Used by one thread.
class DeviceRun {
 public:
  /// `one_of_several`: other cards of the same identity are tuned by the same command, and each measures for
  /// itself what the others have measured already.
  DeviceRun(const TuneSettings& settings, const Family& family, const DeviceInfo& device, bool one_of_several,
            CompilePool& pool, Observer& observer, const std::atomic<bool>& stop);
  ~DeviceRun();

  /// Tunes each problem (those that have winners here, for a refresh that names none); stops when told to,
  /// with what is committed kept.
  void run(const std::vector<db::Problem>& problems, Clock::time_point deadline);

  /// What was done so far, in the order of the problems.
  const TuneSummary& summary() const noexcept { return summary_; }

 private:
  /// The problem at hand.
  struct Work {
    db::Problem problem;
    db::Id problem_id;
    std::vector<Candidate> candidates;
    std::vector<db::Winner> incumbents;
    bool decided = false;  ///< has fresh winners from before
    Clock::time_point deadline;
    ProblemSummary summary;
  };

  void prepare();
  std::vector<db::Problem> tuned_problems();
  void tune_problem(Work& work);
  std::vector<db::Measurement> known_rows(const Work& work);
  void add_known(SearchSpace& space, const std::vector<db::Measurement>& known);
  /// What raced to the end in the runs that stale winners are of; and how long the problem took before.
  std::vector<std::size_t> candidates_of_refresh(const std::vector<db::Measurement>& known, Work& work);
  bool set_problem(Work& work);
  std::set<db::Id> own_runs();
  /// Races the finalists of a sweep's problems along the working set.
  /// Once there is something to measure: a run that has nothing to do leaves nothing.
  void record_run();
  void run_sweep(const db::Problem& like, Clock::time_point deadline);
  /// Races all winners at all problems of the element type and layout that have one.
  void run_portfolio(const db::Problem& like, Clock::time_point deadline);
  FinalistTask finalist_task(const db::Problem& like);
  enum class Racing { to_the_end, while_they_may_win };
  std::optional<std::vector<RaceRow>> race_all(const db::Problem& problem, std::vector<Candidate>& candidates,
                                               Racing racing, Clock::time_point deadline);
  void look_at_all(Work& work, Search& search, std::size_t most, OptimisticBound* bound);
  void prune(Work& work, std::size_t index, const std::string& why);
  void look(Work& work, std::size_t index);
  void race_and_decide(Work& work);
  RaceSettings race_settings() const;
  /// False: told to stop.
  bool race_entrants(Work& work, std::vector<Entrant>& entrants, const RaceSettings& settings);
  std::vector<RaceRow> judge_all(Work& work, const std::vector<Entrant>& entrants, bool brief);
  db::Measurement judge(Work& work, const Entrant& entrant, bool brief);

  db::Measurement row(const Work& work, const Candidate& candidate, db::Stage stage) const;
  void commit(bool now);
  void report(const Work& work, const std::string& stage);

  const TuneSettings& settings_;
  const Family& family_;
  const DeviceInfo device_;
  const db::Id device_id_;
  const bool one_of_several_;
  const bool measures_alone_;  ///< the host: nothing compiles while something is measured
  db::Store store_;
  GrownSpaces grown_spaces_;
  Observer& observer_;
  const std::atomic<bool>& stop_;
  TuneSummary summary_;
  db::Evaluator evaluator_;

  db::Run run_;
  bool recorded_ = false;  ///< the run is in the database
  CompileQueue queue_;
  CodeObjects objects_;
  std::unique_ptr<MeasureClient> client_;
  /// By element type and layout, and configuration: what passed the manifest's extents in this run.
  std::set<std::pair<std::string, db::Id>> extents_checked_, large_checked_;
  std::vector<std::pair<db::Configuration, db::Measurement>> uncommitted_;
  Clock::time_point committed_ = Clock::now();
  std::int64_t done_ = 0, total_ = 0, failed_ = 0;
};

}  // namespace hone::tuner
