// One device's part of a tuning run: problem by problem, look at configurations, race, decide, store.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <unordered_map>

#include "db/store.hpp"
#include "tuner/compile_pool.hpp"
#include "tuner/decide.hpp"
#include "tuner/measure_client.hpp"
#include "tuner/race.hpp"
#include "tuner/search.hpp"
#include "tuner/tune.hpp"

namespace hone::tuner {

class DeviceRun {
 public:
  DeviceRun(const TuneSettings& settings, const Family& family, const DeviceInfo& device, db::Store& store,
            Observer& observer, const std::atomic<bool>& stop, TuneSummary& summary);
  ~DeviceRun();

  /// Tunes each problem; stops when told to, with what is committed kept.
  void run(const std::vector<db::Problem>& problems, Clock::time_point deadline);

 private:
  /// One configuration on the way through a problem.
  struct Candidate {
    db::Configuration configuration;
    db::Id id;
    std::int64_t alignment = 1;
    db::Id source_hash;
    const Compiled* compiled = nullptr;  ///< owned by compiled_
    bool settled = false;                ///< by earlier runs: not looked at again
    bool passed_before = false;          ///< in a run that ended before its race
    bool kept = false;                   ///< default, ladder or incumbent: always in the final
    std::optional<db::Outcome> outcome;
    db::Statistics look;
  };
  /// The problem at hand.
  struct Work {
    db::Problem problem;
    db::Id problem_id;
    std::vector<Candidate> candidates;
    std::size_t by_default = SIZE_MAX;
    std::vector<db::Winner> incumbents;
    bool decided = false;  ///< has fresh winners from before
    Clock::time_point deadline;
    ProblemSummary* summary = nullptr;
  };

  void prepare();
  void tune_problem(const db::Problem& problem, Clock::time_point deadline);
  void plan_space(Work& work);
  /// Leaves out what earlier runs already settled; how many are left to do.
  std::size_t settle_known(Work& work);
  std::vector<std::size_t> candidates_of_refresh(const Work& work);
  void look_at_all(Work& work, Search& search, std::size_t most);
  void look(Work& work, std::size_t index);
  void race_and_decide(Work& work);
  void decide_and_store(Work& work, std::vector<Entrant>& entrants, std::vector<db::Measurement> rows);

  std::uint64_t tag(const Work& work, std::size_t index);
  const Compiled* find_compiled(std::uint64_t tag) const;
  void receive_compiled(std::vector<Compiled> results);
  void wait_for_compilers();

  db::Measurement row(const Work& work, const Candidate& candidate, db::Stage stage) const;
  void commit(bool now);
  bool stopped(const Work& work) const { return stop_ || Clock::now() >= work.deadline; }
  void report(const Work& work, const std::string& stage);
  std::string best_text(const Work& work) const;

  const TuneSettings& settings_;
  const Family& family_;
  const DeviceInfo device_;
  const db::Id device_id_;
  const bool measures_alone_;  ///< the host: nothing compiles while something is measured
  db::Store& store_;
  Observer& observer_;
  const std::atomic<bool>& stop_;
  TuneSummary& summary_;
  db::Evaluator evaluator_;

  db::Run run_;
  CompilePool pool_;
  std::unique_ptr<MeasureClient> client_;
  std::string compiled_for_;                              ///< element type and layout of compiled_
  std::unordered_map<std::uint64_t, Compiled> compiled_;  ///< by tag
  std::unordered_map<std::uint64_t, bool> submitted_;     ///< by tag
  std::map<db::Id, std::uint64_t> tags_;                  ///< by configuration, of the current element type
  std::uint64_t next_tag_ = 1;
  /// By element type and layout, and configuration: what passed the manifest's extents in this run.
  std::set<std::pair<std::string, db::Id>> extents_checked_, large_checked_;
  std::vector<std::pair<db::Configuration, db::Measurement>> uncommitted_;
  Clock::time_point committed_ = Clock::now();
  std::int64_t done_ = 0, total_ = 0, failed_ = 0;
};

}  // namespace hone::tuner
