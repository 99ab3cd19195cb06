#include "tuner/device_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "runtime/plan.hpp"
#include "tuner/clock.hpp"
#include "tuner/elsewhere.hpp"
#include "tuner/environment.hpp"
#include "tuner/measuring.hpp"
#include "tuner/portfolio.hpp"
#include "tuner/problems.hpp"
#include "tuner/statistics.hpp"
#include "tuner/sweep.hpp"

namespace hone::tuner {

namespace {

using Seconds = std::chrono::duration<double>;

/// Adds the time of a scope to a total.
class Timed {
 public:
  explicit Timed(double& total) : total_(total) {}
  ~Timed() { total_ += since(start_); }

 private:
  double& total_;
  Clock::time_point start_ = Clock::now();
};

constexpr double commit_seconds = 0.25;  ///< first looks are committed together, at least so often
/// What the race of a problem is left of a long budget: its final takes 3 s (RaceSettings), its heats and the
/// checks after it about as long.
constexpr double most_race_seconds = 10;
/// What the final of one problem of a portfolio may take: it tells what is near the best, and decides
/// nothing.
constexpr double portfolio_final_seconds = 0.5;
/// A run's setting that tells cards of one identity apart.
constexpr const char* unit_setting = "unit";

std::string types_of(const db::Problem& problem) {
  return problem.element_type + " " + problem.layout;
}

std::string unit_of(const DeviceInfo& device) {
  return device.bus.empty() ? fmt::format("{}", device.index) : device.bus;
}

/// A part of a run, and its share of the time.
struct Step {
  db::Problem problem;
  bool races_finalists = false;  ///< of the problem's element type and layout: for bands, or for a portfolio
  double share = 1;
};

/// Each problem, where they are to be tuned; then, where asked for, the race of the finalists of those of one
/// element type and layout, which takes about half as long as they do.
std::vector<Step> steps_of(const std::vector<db::Problem>& problems, bool tunes, bool races_finalists) {
  std::vector<Step> steps;
  double alike = 0;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (tunes) steps.push_back({problems[i], false, 1});
    ++alike;
    if (i + 1 < problems.size() && types_of(problems[i + 1]) == types_of(problems[i])) continue;
    if (races_finalists) steps.push_back({problems[i], true, alike / 2});
    alike = 0;
  }
  return steps;
}

/// Those that passed, by their places as slots.
std::vector<Looked> looked_at(const std::vector<Candidate>& candidates) {
  std::vector<Looked> looked;
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    if (c.outcome == db::Outcome::ok) looked.push_back({i, c.alignment, c.kept, c.look});
  }
  return looked;
}

std::string best_text(const std::vector<Candidate>& candidates) {
  const Candidate* best = nullptr;
  for (const Candidate& c : candidates)
    if (c.outcome == db::Outcome::ok && c.look.n > 0 &&
        (best == nullptr || c.look.minimum < best->look.minimum))
      best = &c;
  return best == nullptr ? ""
                         : fmt::format("{} {:.2f} us", best->configuration.text(), best->look.minimum / 1000);
}

}  // namespace

DeviceRun::DeviceRun(const TuneSettings& settings, const Family& family, const DeviceInfo& device,
                     bool one_of_several, CompilePool& pool, Observer& observer,
                     const std::atomic<bool>& stop)
    : settings_(settings),
      family_(family),
      device_(device),
      device_id_(device.record().id()),
      one_of_several_(one_of_several),
      measures_alone_(device.backend == Backend::host),
      store_(db::Store::open(settings.database, db::Access::create)),
      grown_spaces_(store_),
      observer_(observer),
      stop_(stop),
      queue_(pool),
      objects_(queue_, family_, device_) {}

DeviceRun::~DeviceRun() = default;

void DeviceRun::run(const std::vector<db::Problem>& asked, Clock::time_point deadline) {
  const std::vector<db::Problem> problems = asked.empty() ? tuned_problems() : asked;
  if (problems.empty()) return;
  prepare();
  const bool timed = settings_.budget.seconds.has_value();
  std::string how = "failed";
  const auto end = [&] {
    Timed timed_store(summary_.timing.store);
    commit(true);
    if (recorded_) store_.finish(run_.id, how);
    store_.rebuild_derived();
    summary_.timing.compiled = objects_.compiled();
    summary_.timing.restarts = client_->restarts();
    summary_.timing.restart = client_->restart_seconds();
  };
  // Bands are of families of one dimension, and need nothing that a refresh measures.
  const bool sweeps = settings_.sweep && family_.dimensions.size() == 1 && !settings_.refresh;
  const bool tunes = !asked.empty() || settings_.refresh;
  const std::vector<Step> steps = steps_of(problems, tunes, sweeps || settings_.portfolio);
  double shares = 0;
  for (const Step& step : steps) shares += step.share;
  try {
    for (const Step& step : steps) {
      if (stop_) break;
      const auto left = deadline - Clock::now();
      if (timed && left <= Clock::duration::zero()) {
        summary_.budget_spent = true;
        break;
      }
      // What remains is shared; a step that needs less leaves more to the others.
      const auto until =
          timed ? Clock::now() + std::chrono::duration_cast<Clock::duration>(left * (step.share / shares))
                : deadline;
      shares -= step.share;
      if (step.races_finalists) {
        sweeps ? run_sweep(step.problem, until) : run_portfolio(step.problem, until);
        continue;
      }
      Work work;
      work.problem = step.problem;
      work.deadline = until;
      try {
        Timed timed_problem(work.summary.seconds);
        tune_problem(work);
      } catch (...) {
        summary_.problems.push_back(std::move(work.summary));
        throw;
      }
      summary_.problems.push_back(std::move(work.summary));
    }
    how = stop_ ? "interrupted" : "done";
  } catch (const Interrupted&) {
    how = "interrupted";
  } catch (...) {
    end();
    throw;
  }
  end();
}

std::vector<db::Problem> DeviceRun::tuned_problems() {
  TuneSettings tuned = settings_;
  const db::Filter filter{family_.name, "", settings_.regime, device_id_, {}};
  const std::vector<std::string> types = element_types_of(family_, settings_.element_types);
  for (db::Winner& winner : store_.winners(filter))
    if (std::find(types.begin(), types.end(), winner.problem.element_type) != types.end())
      tuned.problems.push_back(std::move(winner.problem));
  return problems_of(evaluator_, family_, tuned, device_.last_level_cache_bytes);
}

void DeviceRun::prepare() {
  Timed timed(summary_.timing.prepare);
  std::string compiler;
  OpenRequest open = open_request(family_, device_, queue_, &compiler);
  open.seed = settings_.seed;
  if (open.cache_bytes == 0) open.cache_bytes = settings_.cache_bytes;
  if (settings_.regime == db::Regime::cold && open.cache_bytes == 0)
    throw Error(ErrorCode::environment,
                fmt::format("{} does not tell the size of its last-level cache, which the cold "
                            "regime must overflow; give it with --cache-size",
                            device_.name));
  for (const Variant& variant : family_.variants)
    if (variant.runs_on(device_))
      store_.put(
          db::Template{family_.name, variant.name, variant.source_hash, family_.manifest, variant.source});
  run_.started_us = now_us();
  run_.device = store_.put(device_.record());
  run_.environment = store_.put(environment_of(device_, compiler));
  run_.command = settings_.command;
  run_.hone_version = HONE_VERSION;
  run_.seed = static_cast<std::int64_t>(settings_.seed);
  const RaceSettings protocol;
  run_.settings = {{"search", settings_.search},
                   {"regime", db::name(settings_.regime)},
                   {"rounds", std::to_string(protocol.rounds)},
                   {"launches", std::to_string(protocol.launches)},
                   {"warm_ups", std::to_string(protocol.warm_ups)},
                   {unit_setting, unit_of(device_)}};
  if (!settings_.refresh) run_.settings[manifest_setting] = db::text_id(family_.manifest).hex();
  if (settings_.budget.configurations)
    run_.settings["budget"] = std::to_string(*settings_.budget.configurations);
  if (settings_.budget.seconds) run_.settings["budget"] = fmt::format("{} s", *settings_.budget.seconds);
  if (settings_.sweep) {
    run_.settings["sweep"] = fmt::format("{}:{}", settings_.sweep->first, settings_.sweep->second);
    run_.settings["resolution"] = fmt::format("{}", settings_.resolution);
  }
  if (settings_.regime == db::Regime::cold)
    run_.settings["flushed_bytes"] = std::to_string(2 * open.cache_bytes);

  client_ = std::make_unique<MeasureClient>(settings_.limits, std::move(open), stop_);
  client_->open();
}

void DeviceRun::record_run() {
  if (!recorded_) store_.put(run_);
  recorded_ = true;
}

void DeviceRun::tune_problem(Work& work) {
  work.problem_id = work.problem.id();
  ProblemSummary& summary = work.summary;
  summary.problem = work.problem;
  summary.device = device_.record();
  summary.working_set = working_set(evaluator_, family_, work.problem);

  db::Filter filter{family_.name, work.problem.element_type, settings_.regime, device_id_, {}};
  for (db::Winner& winner : store_.winners(filter))
    if (winner.problem == work.problem) work.incumbents.push_back(std::move(winner));
  summary.grown = std::any_of(work.incumbents.begin(), work.incumbents.end(), [&](const db::Winner& winner) {
    return grown_spaces_.since(winner, family_).has_value();
  });
  const CandidateSource source(evaluator_, family_, device_, work.problem, work.incumbents);
  CandidateSet taken = source.take(
      settings_.search == "exhaustive" ? std::numeric_limits<std::size_t>::max() : most_candidates,
      settings_.seed);
  work.candidates = std::move(taken.candidates);
  summary.space = static_cast<std::int64_t>(work.candidates.size());
  if (work.candidates.empty()) {
    summary.failure = "the space is empty: no configuration is legal for this problem on this device";
    return;
  }
  const std::vector<db::Measurement> known = known_rows(work);
  SearchSpace space = source.space(work.candidates);
  if (!taken.whole) {
    space.admit_by([&](const Variant& variant, const db::Values& parameters) -> std::optional<std::int64_t> {
      auto found = source.candidate(variant, parameters);
      if (!found) return std::nullopt;
      work.candidates.push_back(std::move(*found));
      return work.candidates.back().alignment;
    });
    add_known(space, known);
  }
  // Cards of one identity share winners; one that is tuned beside others has decided once its own race is
  // stored.
  work.decided = !work.incumbents.empty() &&
                 (!one_of_several_ || std::any_of(known.begin(), known.end(), [](const db::Measurement& m) {
                   return m.stage == db::Stage::race;
                 }));

  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < work.candidates.size(); ++i)
    if (work.candidates[i].kept) first.push_back(i);
  std::size_t most =
      settings_.budget.configurations
          ? static_cast<std::size_t>(std::max<std::int64_t>(1, *settings_.budget.configurations))
          : work.candidates.size();
  most = std::min(std::max(most, first.size()), work.candidates.size());
  const auto skip = [&] {
    summary.skipped = true;
    summary.winners = work.incumbents;
  };
  std::size_t settled = 0;
  if (settings_.refresh) {
    const auto finalists = candidates_of_refresh(known, work);
    if (finalists.empty()) return skip();
    first.insert(first.end(), finalists.begin(), finalists.end());
    most = std::set<std::size_t>(first.begin(), first.end()).size();
  } else if (!settings_.again) {
    settle_known(work.candidates, known, work.decided);
    settled = static_cast<std::size_t>(std::count_if(work.candidates.begin(), work.candidates.end(),
                                                     [](const Candidate& c) { return c.settled; }));
  }
  // A budget that was spent before was spent on a smaller space, where it has grown.
  std::size_t to_do = summary.grown    ? std::min(most, work.candidates.size() - settled)
                      : most > settled ? most - settled
                                       : 0;
  if (work.decided && to_do == 0) return skip();
  // A budget of time was spent on this problem before; the same command has nothing more to do here.
  if (work.decided && !summary.grown && !settings_.again && !settings_.refresh && settings_.budget.seconds &&
      !settings_.budget.configurations)
    return skip();

  // New candidates have to meet the winner so far, the default and the ladder in one race.
  for (Candidate& candidate : work.candidates) {
    if (!candidate.settled || !candidate.kept) continue;
    candidate.settled = false;
    ++to_do;
  }
  // So have those that an unfinished run left to race, however small the budget now.
  std::size_t to_race = 0;
  for (std::size_t i = 0; i < work.candidates.size(); ++i) {
    if (!work.candidates[i].passed_before) continue;
    if (!work.candidates[i].kept) first.push_back(i);
    ++to_race;
  }
  to_do = std::max(to_do, to_race);
  record_run();
  store_.put(work.problem);
  total_ += static_cast<std::int64_t>(to_do);
  if (!set_problem(work)) return;
  SearchSettings how;
  how.name = settings_.search;
  how.first = std::move(first);
  how.cut = !taken.whole || most < work.candidates.size() || settings_.budget.seconds.has_value();
  how.seed = settings_.seed;
  if (search_named(how.name, space.size(), how.cut) == "guided" && !settings_.refresh)
    how.elsewhere = elsewhere(store_, space, work.problem, device_, settings_.regime);
  const auto search = make_search(space, std::move(how));
  for (std::size_t i = 0; i < work.candidates.size(); ++i)
    if (const Candidate& c = work.candidates[i]; c.settled)
      search->tell(i, c.known > 0 ? std::optional(c.known) : std::nullopt);
  OptimisticBound bound(store_, evaluator_, family_, device_, work.problem);
  look_at_all(work, *search, to_do, &bound);
  commit(true);
  if (!search->ended().empty()) {
    summary.ended = search->ended();
    observer_.note(fmt::format("{}: the search ends, since {}", work.problem.text(), search->ended()));
  }
  if (!stop_) race_and_decide(work);
}

/// Runs of this very card, where several of its identity are tuned.
std::set<db::Id> DeviceRun::own_runs() {
  std::set<db::Id> own;
  for (const auto& [run, how] : store_.runs())
    if (const auto unit = run.settings.find(unit_setting);
        unit != run.settings.end() && unit->second == unit_of(device_))
      own.insert(run.id);
  return own;
}

/// Rows of earlier runs, newest first; only this card's own where several of its identity are tuned.
std::vector<db::Measurement> DeviceRun::known_rows(const Work& work) {
  const std::set<db::Id> own = one_of_several_ ? own_runs() : std::set<db::Id>();
  std::set<db::Id> hashes;
  for (const Variant& variant : family_.variants) hashes.insert(variant.source_hash);
  std::vector<db::Measurement> rows;
  for (const db::Id& hash : hashes)
    for (db::Measurement& m : store_.known(device_id_, work.problem_id, hash, settings_.regime))
      if (!one_of_several_ || own.contains(m.run)) rows.push_back(std::move(m));
  return rows;
}

/// What earlier runs measured is part of a sampled space too.
void DeviceRun::add_known(SearchSpace& space, const std::vector<db::Measurement>& known) {
  std::set<db::Id> seen;
  for (const db::Measurement& m : known) {
    if (!seen.insert(m.configuration).second) continue;
    const auto configuration = store_.configuration(m.configuration);
    const auto levels = configuration ? space.levels_of(*configuration) : std::nullopt;
    if (levels) space.find_or_admit(*levels);
  }
}

bool DeviceRun::set_problem(Work& work) {
  Timed timed(summary_.timing.prepare);
  const double gigabytes = static_cast<double>(work.summary.working_set) / 1e9;
  const double extra = gigabytes * (measures_alone_ ? 30 : 5);
  // On a GPU that takes no time worth a word.
  if (measures_alone_ && gigabytes > 1)
    observer_.note(fmt::format("{}: inputs and reference of {:.1f} GB are being made, which takes a while",
                               work.problem.text(), gigabytes));
  report(work, "prepare");
  const ProblemReply reply = client_->set_problem({work.problem, settings_.regime}, extra);
  if (!reply.ok) work.summary.failure = reply.why;
  return reply.ok;
}

std::vector<std::size_t> DeviceRun::candidates_of_refresh(const std::vector<db::Measurement>& known,
                                                          Work& work) {
  std::set<db::Id> stale, finalists;
  for (const db::Winner& winner : work.incumbents)
    if (winner.environment != run_.environment) stale.insert(winner.run);
  std::map<db::Id, std::pair<std::int64_t, std::int64_t>> spans;  // of each run, by when it measured
  for (const db::Measurement& m : known) {
    auto& [first, last] = spans.try_emplace(m.run, m.taken_us, m.taken_us).first->second;
    first = std::min(first, m.taken_us);
    last = std::max(last, m.taken_us);
    if (stale.contains(m.run) && m.stage == db::Stage::race && m.outcome == db::Outcome::ok)
      finalists.insert(m.configuration);
  }
  for (const auto& [run, span] : spans)
    work.summary.seconds_before =
        std::max(work.summary.seconds_before, static_cast<double>(span.second - span.first) / 1e6);
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < work.candidates.size(); ++i)
    if (finalists.contains(work.candidates[i].id)) result.push_back(i);
  return result;
}

void DeviceRun::look_at_all(Work& work, Search& search, std::size_t most, OptimisticBound* bound) {
  objects_.serve(work.problem.element_type, work.problem.layout);
  // Asked for and on their way: on a GPU a few times as many as there are compile workers, so that none
  // waits; on the host a batch is compiled, and measured when all compilers are idle. A search that learns is
  // not asked further ahead than keeps them busy.
  const std::size_t workers = queue_.workers();
  const std::size_t window = !search.learns()  ? workers * 4
                             : measures_alone_ ? workers * 2
                                               : workers + (workers + 3) / 4;
  std::vector<std::size_t> asked;
  std::size_t count = 0, looked = 0;
  bool more = true;
  // Looking may take most of a problem's time; the rest is for the race, as far as that can use it.
  const auto look_deadline = [&] {
    if (work.deadline == Clock::time_point::max()) return work.deadline;
    const Seconds left = work.deadline - Clock::now();
    const Seconds race = std::min(left * 0.3, Seconds(most_race_seconds));
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(left - race);
  }();
  const auto wait = [&] {
    report(work, "compile");
    Timed timed(summary_.timing.compile_wait);
    objects_.wait(0.2);
  };
  while (!stop_) {
    // However short the time, what is on its way when it ends is looked at until there is something to decide
    // on.
    const bool ended = Clock::now() >= look_deadline;
    if (ended) summary_.budget_spent = true;
    while (more && (!ended || count == 0) && asked.size() < window && count < most) {
      const auto index = search.ask();
      if (!index) {
        more = false;
        break;
      }
      const Candidate& c = work.candidates[*index];
      if (c.settled) continue;
      if (const auto why =
              bound != nullptr && !c.kept ? bound->prunes(c.configuration, c.alignment) : std::nullopt) {
        prune(work, *index, *why);
        search.tell(*index, bound->least_nanoseconds(c.configuration));
        ++count;
        continue;
      }
      if (c.excess.empty()) objects_.request(c.configuration, c.id);
      asked.push_back(*index);
      ++count;
    }
    if (asked.empty() || (ended && looked > 0)) break;
    if (measures_alone_ && !objects_.idle()) {
      wait();
      continue;
    }
    const auto ready = std::find_if(asked.begin(), asked.end(), [&](std::size_t i) {
      Candidate& c = work.candidates[i];
      return !c.excess.empty() || (c.compiled = objects_.find(c.id)) != nullptr;
    });
    if (ready == asked.end()) {
      wait();
      continue;
    }
    const std::size_t index = *ready;
    asked.erase(ready);
    look(work, index);
    ++looked;
    const Candidate& c = work.candidates[index];
    search.tell(index, c.outcome == db::Outcome::ok ? std::optional(c.look.minimum) : std::nullopt);
    if (bound != nullptr && c.outcome == db::Outcome::ok) {
      bound->measured(c.configuration, c.alignment, c.look);
      if (const std::string line = bound->take_contradiction(); !line.empty()) observer_.note(line);
    }
    report(work, "look");
  }
  if (measures_alone_) objects_.settle();
}

db::Measurement DeviceRun::row(const Work& work, const Candidate& candidate, db::Stage stage) const {
  db::Measurement m;
  m.run = run_.id;
  m.problem = work.problem_id;
  m.configuration = candidate.id;
  m.source_hash = candidate.source_hash;
  m.regime = settings_.regime;
  m.stage = stage;
  m.alignment = candidate.alignment;
  m.taken_us = now_us();
  if (candidate.compiled != nullptr) m.build_key = candidate.compiled->build_key;
  return m;
}

/// It is neither compiled nor measured, and has a row that says why.
void DeviceRun::prune(Work& work, std::size_t index, const std::string& why) {
  Candidate& c = work.candidates[index];
  db::Measurement m = row(work, c, db::Stage::first_look);
  c.outcome = m.outcome = db::Outcome::pruned;
  m.reason = why;
  ++done_;
  ++work.summary.tried;
  ++work.summary.outcomes[db::Outcome::pruned];
  uncommitted_.emplace_back(c.configuration, std::move(m));
  commit(false);
}

void DeviceRun::look(Work& work, std::size_t index) {
  Timed timed(summary_.timing.look);
  Candidate& c = work.candidates[index];
  db::Measurement m = row(work, c, db::Stage::first_look);
  if (!c.excess.empty()) {
    m.outcome = db::Outcome::resources_exceeded;
    m.reason = c.excess;
  } else if (c.compiled->outcome != db::Outcome::ok) {
    m.outcome = c.compiled->outcome;
    m.reason = c.compiled->reason;
  } else {
    LookRequest request;
    request.slot = static_cast<std::uint32_t>(index);
    request.configuration = c.configuration;
    request.object = c.compiled->object;
    request.extents = !extents_checked_.contains({types_of(work.problem), c.id});
    LookReply reply = client_->look(request);
    ++summary_.timing.checked;
    m.outcome = reply.outcome;
    m.reason = std::move(reply.reason);
    m.launches = reply.launches;
    m.samples = std::move(reply.samples);
    m.statistics = summarise(m.samples);
    m.condition = reply.condition;
    if (m.outcome == db::Outcome::ok) extents_checked_.insert({types_of(work.problem), c.id});
    c.look = m.statistics;
    summary_.timing.launches_timed += m.launches * m.statistics.n;
  }
  c.outcome = m.outcome;
  ++done_;
  ++work.summary.tried;
  if (m.outcome != db::Outcome::ok) {
    ++failed_;
    ++work.summary.outcomes[m.outcome];
  }
  uncommitted_.emplace_back(c.configuration, std::move(m));
  commit(false);
}

void DeviceRun::commit(bool now) {
  if (uncommitted_.empty() || (!now && since(committed_) < commit_seconds)) return;
  Timed timed(summary_.timing.store);
  store_.transaction([&] {
    for (const auto& [configuration, measurement] : uncommitted_) {
      store_.put(configuration);
      store_.put(measurement);
    }
  });
  uncommitted_.clear();
  committed_ = Clock::now();
}

RaceSettings DeviceRun::race_settings() const {
  RaceSettings settings;
  settings.seed = settings_.seed;
  if (settings_.regime == db::Regime::cold) settings.warm_ups = 0;
  return settings;
}

void DeviceRun::race_and_decide(Work& work) {
  RaceSettings settings = race_settings();
  if (work.deadline != Clock::time_point::max())
    settings.final_seconds =
        std::clamp(Seconds(work.deadline - Clock::now()).count(), 0.2, settings.final_seconds);

  keep_best_of_ladder(family_, work.candidates);
  auto [entrants, out] = after_looks(looked_at(work.candidates), settings);
  if (!out.empty()) client_->drop(out);
  if (entrants.empty()) {
    work.summary.failure = "no configuration passed";
    return;
  }
  if (!race_entrants(work, entrants, settings)) return;
  RaceRecord record{family_,         device_,         run_, work.problem, settings_.regime,
                    work.candidates, work.incumbents, {}};
  work.summary.outcomes[db::Outcome::raced_out] += static_cast<std::int64_t>(out.size());
  record.rows = judge_all(work, entrants, false);
  Timed timed(summary_.timing.store);
  work.summary.winners = conclude(store_, record);
  if (work.summary.winners.empty())
    work.summary.failure = "no configuration passed the check after it was timed";
}

bool DeviceRun::race_entrants(Work& work, std::vector<Entrant>& entrants, const RaceSettings& settings) {
  Timed timed(summary_.timing.race);
  report(work, "race");
  std::int64_t full = 0, timed_launches = 0;
  std::uint32_t round = 0;
  for (const Candidate& c : work.candidates)
    if (c.outcome == db::Outcome::ok) full += full_protocol_launches(settings, c.look.minimum);
  const Take take = [&](std::span<const std::uint32_t> slots, std::span<const std::uint32_t> launches,
                        std::uint32_t warm_ups) {
    report(work, "race");
    return client_->round(
        {{slots.begin(), slots.end()}, {launches.begin(), launches.end()}, warm_ups, round++});
  };
  if (!race(
          entrants, settings, take, [&] { return stop_.load(); }, timed_launches))
    return false;
  summary_.timing.launches_timed += timed_launches;
  summary_.timing.launches_saved += std::max<std::int64_t>(0, full - timed_launches);
  return true;
}

std::vector<RaceRow> DeviceRun::judge_all(Work& work, const std::vector<Entrant>& entrants, bool brief) {
  std::vector<RaceRow> rows;
  for (const Entrant& entrant : entrants) {
    db::Measurement m = judge(work, entrant, brief);
    if (m.outcome != db::Outcome::ok && m.outcome != db::Outcome::raced_out) ++failed_;
    ++work.summary.outcomes[m.outcome];
    Candidate& c = work.candidates[entrant.slot];
    c.outcome = m.outcome;
    rows.push_back({&c, std::move(m)});
  }
  return rows;
}

/// What an entrant's race came to. The outputs of finalists are checked again after they were timed: a race
/// between threads shows late. Extents over 2^31 are for finalists.
db::Measurement DeviceRun::judge(Work& work, const Entrant& entrant, bool brief) {
  const Candidate& c = work.candidates[entrant.slot];
  db::Measurement m = row(work, c, db::Stage::race);
  if (const auto last = client_->conditions().find(entrant.slot); last != client_->conditions().end())
    m.condition = last->second;
  if (entrant.lost) {
    const WorkerLost& lost = client_->losses().at(entrant.slot);
    m.outcome = lost.outcome;
    m.reason = "while it was timed: " + lost.why;
  } else if (entrant.final.empty()) {
    m.outcome = db::Outcome::raced_out;
    m.samples = entrant.heats;
  } else {
    Timed timed(summary_.timing.look);
    const bool large =
        !measures_alone_ && !brief && large_checked_.insert({types_of(work.problem), c.id}).second;
    const LookReply again = client_->recheck({entrant.slot, large, brief});
    if (!again.not_checked.empty()) observer_.note(again.not_checked);
    m.outcome = again.outcome;
    m.reason = again.reason.empty() ? "" : "after it was timed: " + again.reason;
    m.samples = entrant.final;
    m.launches = entrant.launches;
  }
  m.statistics = summarise(m.samples);
  return m;
}

FinalistTask DeviceRun::finalist_task(const db::Problem& like) {
  return {family_,
          device_,
          run_,
          settings_.regime,
          like.element_type,
          like.layout,
          settings_.again,
          one_of_several_ ? std::optional(own_runs()) : std::nullopt};
}

void DeviceRun::run_sweep(const db::Problem& like, Clock::time_point deadline) {
  record_run();
  const SweepTask task{finalist_task(like), *settings_.sweep, settings_.resolution};
  summary_.sweeps.push_back(
      sweep(store_, evaluator_, task, [&](const db::Problem& problem, std::vector<Candidate>& candidates) {
        return race_all(problem, candidates, Racing::to_the_end, deadline);
      }));
}

void DeviceRun::run_portfolio(const db::Problem& like, Clock::time_point deadline) {
  record_run();
  const FinalistTask task = finalist_task(like);
  summary_.portfolios.push_back(portfolio(
      store_, evaluator_, task, [&](const db::Problem& problem, std::vector<Candidate>& candidates) {
        return race_all(problem, candidates, Racing::while_they_may_win, deadline);
      }));
}

/// One race among all of these; those that fail their look have a row too. Where they race while they may
/// win, all have a sample of it at least.
std::optional<std::vector<RaceRow>> DeviceRun::race_all(const db::Problem& problem,
                                                        std::vector<Candidate>& candidates, Racing racing,
                                                        Clock::time_point deadline) {
  if (Clock::now() >= deadline) summary_.budget_spent = true;
  if (stop_ || Clock::now() >= deadline) return std::nullopt;
  Work work;
  work.problem = problem;
  work.problem_id = problem.id();
  work.deadline = Clock::time_point::max();  // what was begun is of use only when it ends
  work.summary.working_set = working_set(evaluator_, family_, problem);
  work.candidates.swap(candidates);
  for (Candidate& candidate : work.candidates) candidate.kept = racing == Racing::to_the_end;
  store_.put(problem);
  total_ += static_cast<std::int64_t>(work.candidates.size());
  std::vector<RaceRow> rows;
  if (set_problem(work)) {
    const auto search = search_in_order(work.candidates.size());
    look_at_all(work, *search, work.candidates.size(), nullptr);
    commit(true);
    RaceSettings settings = race_settings();
    for (const Candidate& c : work.candidates) {
      if (!c.outcome || c.outcome == db::Outcome::ok) continue;
      rows.push_back({&c, row(work, c, db::Stage::race)});
      rows.back().measurement.outcome = *c.outcome;
      rows.back().measurement.reason = "at its first look";
    }
    if (racing == Racing::while_they_may_win) {
      settings.drift = std::numeric_limits<double>::infinity();  // a first look drops none
      settings.final_seconds = portfolio_final_seconds;
    }
    std::vector<Entrant> entrants = after_looks(looked_at(work.candidates), settings).entrants;
    if (racing == Racing::to_the_end) settings.finalists = static_cast<int>(entrants.size());
    if (stop_ || (!entrants.empty() && !race_entrants(work, entrants, settings))) return std::nullopt;
    for (RaceRow& judged : judge_all(work, entrants, true)) rows.push_back(std::move(judged));
  } else {
    observer_.note(fmt::format("{}: {}", problem.text(), work.summary.failure));
  }
  work.candidates.swap(candidates);
  return rows;
}

void DeviceRun::report(const Work& work, const std::string& stage) {
  observer_.progress({work.problem.text(), stage, done_, total_, failed_, best_text(work.candidates)});
}

}  // namespace hone::tuner
