#include "tuner/device_run.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>

#include "runtime/plan.hpp"
#include "tuner/measuring.hpp"
#include "tuner/problems.hpp"
#include "tuner/space.hpp"
#include "tuner/statistics.hpp"

namespace hone::tuner {

namespace {

using Seconds = std::chrono::duration<double>;

double since(Clock::time_point start) {
  return Seconds(Clock::now() - start).count();
}

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Adds the time of a scope to a total.
class Timed {
 public:
  explicit Timed(double& total) : total_(total) {}
  ~Timed() { total_ += since(start_); }

 private:
  double& total_;
  Clock::time_point start_ = Clock::now();
};

/// The best time among those that need at most a given alignment.
class ClassBest {
 public:
  void add(std::int64_t alignment, double time) {
    auto [at, is_new] = best_.try_emplace(alignment, time);
    if (!is_new) at->second = std::min(at->second, time);
  }
  double of(std::int64_t alignment) const {
    double best = INFINITY;
    for (const auto& [needs, time] : best_)
      if (needs <= alignment) best = std::min(best, time);
    return best;
  }

 private:
  std::map<std::int64_t, double> best_;
};

constexpr double commit_seconds = 0.25;  ///< first looks are committed together, at least so often
/// Configurations this much slower than the best of their class in an earlier run are not looked at again.
constexpr double known_slow = 1.5;
constexpr double full_protocol_rounds = 15, full_protocol_launches = 120;

db::Environment environment_of(const DeviceInfo& device, const std::string& compiler) {
  db::Environment environment;
  environment.items["driver"] = device.driver;
  environment.items["compiler"] = compiler;
  utsname host{};
  if (::uname(&host) == 0) environment.items["host"] = fmt::format("{} {}", host.sysname, host.machine);
  return environment;
}

}  // namespace

DeviceRun::DeviceRun(const TuneSettings& settings, const Family& family, const DeviceInfo& device,
                     db::Store& store, Observer& observer, const std::atomic<bool>& stop,
                     TuneSummary& summary)
    : settings_(settings),
      family_(family),
      device_(device),
      device_id_(device.record().id()),
      measures_alone_(device.backend == Backend::host),
      store_(store),
      observer_(observer),
      stop_(stop),
      summary_(summary),
      pool_(settings.limits) {}

DeviceRun::~DeviceRun() = default;

void DeviceRun::run(const std::vector<db::Problem>& problems, Clock::time_point deadline) {
  prepare();
  summary_.problems.reserve(summary_.problems.size() +
                            problems.size());  // each is written to through a pointer
  const bool timed = settings_.budget.seconds.has_value();
  std::string how = "failed";
  try {
    for (std::size_t i = 0; i < problems.size() && !stop_; ++i) {
      const auto left = deadline - Clock::now();
      if (timed && left <= Clock::duration::zero()) {
        summary_.budget_spent = true;
        break;
      }
      // What remains is shared evenly; a problem that needs less leaves more to the others.
      const auto share =
          timed ? Clock::now() + left / static_cast<std::int64_t>(problems.size() - i) : deadline;
      tune_problem(problems[i], share);
    }
    how = stop_ ? "interrupted" : "done";
  } catch (const Interrupted&) {
    how = "interrupted";
  } catch (...) {
    commit(true);
    store_.finish(run_.id, how);
    store_.rebuild_winners();
    throw;
  }
  Timed timed_store(summary_.timing.store);
  commit(true);
  store_.finish(run_.id, how);
  store_.rebuild_winners();
}

void DeviceRun::prepare() {
  Timed timed(summary_.timing.prepare);
  std::string compiler;
  OpenRequest open = open_request(family_, device_, pool_, &compiler);
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
                   {"warm_ups", std::to_string(protocol.warm_ups)}};
  if (settings_.budget.configurations)
    run_.settings["budget"] = std::to_string(*settings_.budget.configurations);
  if (settings_.budget.seconds) run_.settings["budget"] = fmt::format("{} s", *settings_.budget.seconds);
  if (settings_.regime == db::Regime::cold)
    run_.settings["flushed_bytes"] = std::to_string(2 * open.cache_bytes);
  store_.put(run_);

  client_ = std::make_unique<MeasureClient>(settings_.limits, std::move(open),
                                            measures_alone_ ? nullptr : &pool_, stop_);
  client_->open();
}

void DeviceRun::tune_problem(const db::Problem& problem, Clock::time_point deadline) {
  Work work;
  work.problem = problem;
  work.problem_id = problem.id();
  work.deadline = deadline;
  summary_.problems.emplace_back();
  work.summary = &summary_.problems.back();
  work.summary->problem = problem;
  work.summary->device = device_.record();
  work.summary->working_set = working_set(evaluator_, family_, problem);

  db::Filter filter{family_.name, problem.element_type, settings_.regime, device_id_, {}};
  for (db::Winner& winner : store_.winners(filter))
    if (winner.problem == problem) work.incumbents.push_back(std::move(winner));
  work.decided = !work.incumbents.empty();

  plan_space(work);
  work.summary->space = static_cast<std::int64_t>(work.candidates.size());
  if (work.candidates.empty()) {
    work.summary->failure = "the space is empty: no configuration is legal for this problem on this device";
    return;
  }
  std::vector<std::size_t> first{};
  for (std::size_t i = 0; i < work.candidates.size(); ++i)
    if (work.candidates[i].kept) first.push_back(i);
  std::size_t most =
      settings_.budget.configurations
          ? static_cast<std::size_t>(std::max<std::int64_t>(1, *settings_.budget.configurations))
          : work.candidates.size();
  most = std::min(std::max(most, first.size()), work.candidates.size());
  std::size_t settled = 0;
  if (settings_.refresh) {
    const auto finalists = candidates_of_refresh(work);
    if (finalists.empty()) {
      work.summary->skipped = true;
      work.summary->winners = work.incumbents;
      return;
    }
    first.insert(first.end(), finalists.begin(), finalists.end());
    most = std::set<std::size_t>(first.begin(), first.end()).size();
  } else if (!settings_.again) {
    settled = settle_known(work);
  }
  std::size_t to_do = most > settled ? most - settled : 0;
  if (work.decided && to_do == 0) {
    work.summary->skipped = true;
    work.summary->winners = work.incumbents;
    return;
  }
  if (work.decided && !settings_.again && !settings_.refresh && settings_.budget.seconds &&
      !settings_.budget.configurations) {
    // A budget of time was spent on this problem before; the same command has nothing more to do here.
    work.summary->skipped = true;
    work.summary->winners = work.incumbents;
    return;
  }

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
  store_.put(problem);
  total_ += static_cast<std::int64_t>(to_do);
  {
    Timed timed(summary_.timing.prepare);
    const double gigabytes = static_cast<double>(work.summary->working_set) / 1e9;
    const double extra = gigabytes * (measures_alone_ ? 30 : 5);
    const ProblemReply reply = client_->set_problem({problem, settings_.regime}, extra);
    if (!reply.ok) {
      work.summary->failure = reply.why;
      return;
    }
  }
  const bool cut = most < work.candidates.size() || settings_.budget.seconds.has_value();
  auto search = make_search(settings_.search, work.candidates.size(), first, cut, settings_.seed);
  look_at_all(work, *search, to_do);
  commit(true);
  if (stop_) return;
  race_and_decide(work);
}

void DeviceRun::plan_space(Work& work) {
  const db::Configuration by_default = default_configuration(family_, device_);
  std::set<db::Id> kept;
  for (const LadderPoint& point : family_.ladder)
    if (const auto configuration = ladder_configuration(family_, point, device_))
      kept.insert(configuration->id());
  for (const db::Winner& winner : work.incumbents) kept.insert(winner.configuration.id());
  kept.insert(by_default.id());

  for (db::Configuration& configuration : space(evaluator_, family_, work.problem, device_)) {
    Candidate candidate;
    candidate.id = configuration.id();
    const Variant& variant = *family_.variant(configuration.variant);
    candidate.source_hash = variant.source_hash;
    const auto plan =
        make_plan(evaluator_, family_, variant, configuration.parameters, work.problem, device_);
    candidate.alignment = std::get<Plan>(plan).alignment;
    candidate.kept = kept.contains(candidate.id);
    if (configuration == by_default) work.by_default = work.candidates.size();
    candidate.configuration = std::move(configuration);
    work.candidates.push_back(std::move(candidate));
  }
  // The default comes first of all: everything is held against it.
  if (work.by_default != SIZE_MAX && work.by_default != 0) {
    std::rotate(work.candidates.begin(),
                work.candidates.begin() + static_cast<std::ptrdiff_t>(work.by_default),
                work.candidates.begin() + static_cast<std::ptrdiff_t>(work.by_default) + 1);
    work.by_default = 0;
  }
}

std::size_t DeviceRun::settle_known(Work& work) {
  struct Known {
    db::Outcome outcome;
    double best;
    db::Id run;
    std::int64_t alignment;
  };
  std::map<db::Id, Known> known;
  std::map<db::Id, ClassBest> best_of_run;
  std::set<db::Id> hashes;
  for (const Candidate& candidate : work.candidates) hashes.insert(candidate.source_hash);
  for (const db::Id& hash : hashes) {
    for (const db::Measurement& m : store_.known(device_id_, work.problem_id, hash, settings_.regime)) {
      if (m.statistics.n > 0) best_of_run[m.run].add(m.alignment, m.statistics.minimum);
      known.try_emplace(m.configuration, Known{m.outcome, m.statistics.minimum, m.run, m.alignment});
    }
  }
  std::size_t settled = 0;
  for (Candidate& candidate : work.candidates) {
    const auto at = known.find(candidate.id);
    if (at == known.end()) continue;
    const Known& k = at->second;
    const bool passed = k.outcome == db::Outcome::ok || k.outcome == db::Outcome::raced_out;
    const bool slow = passed && k.best > known_slow * best_of_run[k.run].of(k.alignment);
    // With a decision made, what had passed needs no second race; without one, all that may win must race
    // again, since samples of two processes cannot be ranked together.
    candidate.settled = !passed || (slow && !candidate.kept) || work.decided;
    candidate.passed_before = passed && !candidate.settled;
    if (candidate.settled) ++settled;
  }
  return settled;
}

std::vector<std::size_t> DeviceRun::candidates_of_refresh(const Work& work) {
  std::vector<std::size_t> result;
  std::set<db::Id> runs;
  for (const db::Winner& winner : work.incumbents)
    if (winner.environment != run_.environment) runs.insert(winner.run);
  for (const db::Id& run : runs) {
    const db::Filter filter{family_.name, work.problem.element_type, settings_.regime, device_id_, run};
    for (const db::MeasuredRow& row : store_.measurements(filter)) {
      if (row.problem != work.problem || row.measurement.stage != db::Stage::race ||
          row.measurement.outcome != db::Outcome::ok)
        continue;
      for (std::size_t i = 0; i < work.candidates.size(); ++i)
        if (work.candidates[i].id == row.measurement.configuration) result.push_back(i);
    }
  }
  return result;
}

std::uint64_t DeviceRun::tag(const Work& work, std::size_t index) {
  const std::string types = work.problem.element_type + " " + work.problem.layout;
  if (types != compiled_for_) {
    // Code objects serve every problem of their element type and layout, and problems come ordered by those.
    pool_.forget_queued();
    while (!pool_.idle()) pool_.wait(1);
    compiled_.clear();
    submitted_.clear();
    tags_.clear();
    compiled_for_ = types;
  }
  return tags_.try_emplace(work.candidates[index].id, next_tag_).second ? next_tag_++
                                                                        : tags_.at(work.candidates[index].id);
}

const Compiled* DeviceRun::find_compiled(std::uint64_t tag) const {
  const auto at = compiled_.find(tag);
  return at == compiled_.end() ? nullptr : &at->second;
}

void DeviceRun::receive_compiled(std::vector<Compiled> results) {
  for (Compiled& result : results) {
    ++summary_.timing.compiled;
    compiled_[result.tag] = std::move(result);
  }
}

void DeviceRun::wait_for_compilers() {
  Timed timed(summary_.timing.compile_wait);
  receive_compiled(pool_.wait(0.2));
}

void DeviceRun::look_at_all(Work& work, Search& search, std::size_t most) {
  // Asked for and on their way: on a GPU a few times as many as there are compile workers, so that none
  // waits; on the host a batch is compiled, and measured when all compilers are idle.
  const std::size_t window = pool_.workers() * 4;
  std::vector<std::size_t> asked;
  std::size_t count = 0, looked = 0;
  bool more = true;
  // Looking may take most of a problem's time; the rest is for the race.
  const auto look_deadline =
      work.deadline == Clock::time_point::max()
          ? work.deadline
          : Clock::now() + std::chrono::duration_cast<Clock::duration>((work.deadline - Clock::now()) * 0.7);
  while (!stop_) {
    // However short the time, what is on its way when it ends is looked at until there is something to decide
    // on.
    const bool ended = Clock::now() >= look_deadline;
    const bool late = ended && looked > 0;
    if (ended) summary_.budget_spent = true;
    while (more && (!ended || count == 0) && asked.size() < window && count < most) {
      const auto index = search.ask();
      if (!index) {
        more = false;
        break;
      }
      if (work.candidates[*index].settled) continue;
      const std::uint64_t t = tag(work, *index);
      if (submitted_.try_emplace(t, true).second) {
        pool_.submit(t, compile_job(family_, device_, work.candidates[*index].configuration,
                                    work.problem.element_type, work.problem.layout));
      }
      asked.push_back(*index);
      ++count;
    }
    if (asked.empty() || late) break;
    receive_compiled(pool_.take());
    if (measures_alone_ && !pool_.idle()) {
      report(work, "compile");
      wait_for_compilers();
      continue;
    }
    const auto ready = std::find_if(asked.begin(), asked.end(),
                                    [&](std::size_t i) { return find_compiled(tag(work, i)) != nullptr; });
    if (ready == asked.end()) {
      report(work, "compile");
      wait_for_compilers();
      continue;
    }
    const std::size_t index = *ready;
    asked.erase(ready);
    look(work, index);
    ++looked;
    const Candidate& c = work.candidates[index];
    search.tell(index, c.outcome == db::Outcome::ok ? std::optional(c.look.minimum) : std::nullopt);
    report(work, "look");
  }
  if (measures_alone_) {
    pool_.forget_queued();
    for (auto at = submitted_.begin(); at != submitted_.end();)
      at = find_compiled(at->first) == nullptr ? submitted_.erase(at) : std::next(at);
    while (!pool_.idle()) receive_compiled(pool_.wait(1));
    for (const auto& [t, compiled] : compiled_) submitted_[t] = true;
  }
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

void DeviceRun::look(Work& work, std::size_t index) {
  Timed timed(summary_.timing.look);
  Candidate& c = work.candidates[index];
  c.compiled = find_compiled(tag(work, index));
  db::Measurement m = row(work, c, db::Stage::first_look);
  if (c.compiled->outcome != db::Outcome::ok) {
    m.outcome = c.compiled->outcome;
    m.reason = c.compiled->reason;
  } else {
    LookRequest request;
    request.slot = static_cast<std::uint32_t>(index);
    request.configuration = c.configuration;
    request.object = c.compiled->object;
    request.extents = !extents_checked_.contains({compiled_for_, c.id});
    LookReply reply = client_->look(request);
    ++summary_.timing.checked;
    m.outcome = reply.outcome;
    m.reason = std::move(reply.reason);
    m.launches = reply.launches;
    m.samples = std::move(reply.samples);
    m.statistics = summarise(m.samples);
    m.clock_mhz = reply.clock_mhz;
    m.throttled = reply.throttled;
    if (m.outcome == db::Outcome::ok) extents_checked_.insert({compiled_for_, c.id});
    c.look = m.statistics;
    summary_.timing.launches_timed += m.launches * m.statistics.n;
    summary_.timing.launches_saved +=
        static_cast<std::int64_t>(full_protocol_rounds * full_protocol_launches) -
        m.launches * m.statistics.n;
  }
  c.outcome = m.outcome;
  ++done_;
  ++work.summary->tried;
  if (m.outcome != db::Outcome::ok) {
    ++failed_;
    ++work.summary->outcomes[m.outcome];
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

void DeviceRun::race_and_decide(Work& work) {
  ClassBest best;
  for (const Candidate& c : work.candidates)
    if (c.outcome == db::Outcome::ok) best.add(c.alignment, c.look.q3);
  RaceSettings race_settings;
  race_settings.seed = settings_.seed;
  if (settings_.regime == db::Regime::cold) race_settings.warm_ups = 0;
  if (work.deadline != Clock::time_point::max())
    race_settings.final_seconds =
        std::clamp(Seconds(work.deadline - Clock::now()).count(), 0.2, race_settings.final_seconds);

  std::vector<Entrant> entrants;
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < work.candidates.size(); ++i) {
    const Candidate& c = work.candidates[i];
    if (c.outcome != db::Outcome::ok) continue;
    if (!c.kept && hopeless(c.look.minimum, best.of(c.alignment), 1 + race_settings.drift)) {
      out.push_back(static_cast<std::uint32_t>(i));
      ++work.summary->outcomes[db::Outcome::raced_out];
      continue;
    }
    Entrant entrant;
    entrant.slot = static_cast<std::uint32_t>(i);
    entrant.alignment = c.alignment;
    entrant.kept = c.kept;
    entrant.look = c.look.minimum;
    entrants.push_back(std::move(entrant));
  }
  if (!out.empty()) client_->drop(out);
  if (entrants.empty()) {
    work.summary->failure = "no configuration passed";
    return;
  }

  {
    Timed timed(summary_.timing.race);
    report(work, "race");
    const Take take = [&](std::span<const std::uint32_t> slots, std::span<const std::uint32_t> launches,
                          std::uint32_t warm_ups) {
      report(work, "race");
      return client_->round({{slots.begin(), slots.end()}, {launches.begin(), launches.end()}, warm_ups});
    };
    if (!race(
            entrants, race_settings, take, [&] { return stop_.load(); }, summary_.timing.launches_timed))
      return;
  }

  std::vector<db::Measurement> rows;
  for (Entrant& entrant : entrants) {
    Candidate& c = work.candidates[entrant.slot];
    db::Measurement m = row(work, c, db::Stage::race);
    const auto last = client_->last_samples().find(entrant.slot);
    if (last != client_->last_samples().end()) {
      m.clock_mhz = last->second.clock_mhz;
      m.throttled = last->second.throttled;
    }
    if (entrant.lost) {
      const WorkerLost& lost = client_->losses().at(entrant.slot);
      m.outcome = lost.outcome;
      m.reason = "while it was timed: " + lost.why;
    } else if (entrant.final.empty()) {
      m.outcome = db::Outcome::raced_out;
      m.samples = entrant.heats;
    } else {
      // Its outputs are checked again after it was timed: a race shows late. Extents over 2^31 are for
      // finalists.
      const bool large = !measures_alone_ && large_checked_.insert({compiled_for_, c.id}).second;
      const LookReply again = client_->recheck({entrant.slot, large});
      if (!again.not_checked.empty()) observer_.note(again.not_checked);
      m.outcome = again.outcome;
      m.reason = again.reason.empty() ? "" : "after it was timed: " + again.reason;
      m.samples = entrant.final;
      m.launches = entrant.launches;
    }
    m.statistics = summarise(m.samples);
    if (m.outcome != db::Outcome::ok && m.outcome != db::Outcome::raced_out) ++failed_;
    ++work.summary->outcomes[m.outcome];
    c.outcome = m.outcome;
    rows.push_back(std::move(m));
  }
  decide_and_store(work, entrants, std::move(rows));
}

void DeviceRun::decide_and_store(Work& work, std::vector<Entrant>& entrants,
                                 std::vector<db::Measurement> rows) {
  std::vector<Finalist> finalists;
  std::vector<std::size_t> row_of;
  std::optional<db::Id> by_default, incumbent;
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    if (rows[i].outcome != db::Outcome::ok) continue;
    const Candidate& c = work.candidates[entrants[i].slot];
    Finalist f;
    f.measurement = rows[i].id;
    f.alignment = c.alignment;
    f.statistics = rows[i].statistics;
    f.distance = distance_from_default(family_, device_, c.configuration);
    f.by_default = entrants[i].slot == work.by_default;
    f.incumbent = std::any_of(work.incumbents.begin(), work.incumbents.end(),
                              [&](const db::Winner& w) { return w.configuration == c.configuration; });
    if (f.by_default) by_default = f.measurement;
    if (f.incumbent) incumbent = f.measurement;
    finalists.push_back(f);
    row_of.push_back(i);
  }
  if (finalists.empty()) {
    store_.transaction([&] {
      for (const db::Measurement& m : rows) store_.put(m);
    });
    work.summary->failure = "no configuration passed the check after it was timed";
    return;
  }

  Timed timed(summary_.timing.store);
  std::set<std::int64_t> classes;
  for (const Candidate& c : work.candidates) classes.insert(c.alignment);
  const std::vector<Choice> choices = decide(finalists, classes);
  const auto store_object = [&](const Candidate& c) {
    store_.put(db::CodeObject{c.compiled->build_key, device_.architecture, c.compiled->compiler,
                              family_.variant(c.configuration.variant)->entry, c.compiled->object});
  };
  store_.transaction([&] {
    for (const db::Measurement& m : rows) store_.put(m);
    for (const Choice& choice : choices) {
      const std::size_t chosen_row = row_of[choice.chosen];
      store_object(work.candidates[entrants[chosen_row].slot]);
      db::Decision decision;
      decision.run = run_.id;
      decision.problem = work.problem_id;
      decision.regime = settings_.regime;
      decision.alignment = choice.alignment;
      decision.chosen = finalists[choice.chosen].measurement;
      decision.incumbent = incumbent;
      decision.by_default = by_default;
      for (const std::size_t i : choice.tied) decision.tied.push_back(finalists[i].measurement);
      decision.tie_bound = choice.tie_bound;
      decision.decided_us = now_us();
      store_.put(decision);
    }
    if (work.by_default != SIZE_MAX && work.candidates[work.by_default].outcome == db::Outcome::ok) {
      const Candidate& c = work.candidates[work.by_default];
      store_object(c);
      store_.put_default(db::CheckedDefault{family_.name, work.problem.element_type, work.problem.layout,
                                            c.configuration, c.alignment, c.source_hash,
                                            c.compiled->build_key, device_id_});
    }
  });

  for (const Choice& choice : choices) {
    const std::size_t chosen_row = row_of[choice.chosen];
    const Candidate& c = work.candidates[entrants[chosen_row].slot];
    db::Winner winner;
    winner.problem = work.problem;
    winner.configuration = c.configuration;
    winner.regime = settings_.regime;
    winner.alignment = choice.alignment;
    winner.needs_alignment = c.alignment;
    winner.source_hash = c.source_hash;
    winner.build_key = c.compiled->build_key;
    winner.device = device_id_;
    winner.environment = run_.environment;
    winner.run = run_.id;
    winner.measurement = finalists[choice.chosen].measurement;
    winner.statistics = finalists[choice.chosen].statistics;
    winner.tied = static_cast<std::int64_t>(choice.tied.size()) - 1;
    winner.decided_us = now_us();
    work.summary->winners.push_back(std::move(winner));
  }
}

std::string DeviceRun::best_text(const Work& work) const {
  const Candidate* best = nullptr;
  for (const Candidate& c : work.candidates)
    if (c.outcome == db::Outcome::ok && c.look.n > 0 &&
        (best == nullptr || c.look.minimum < best->look.minimum))
      best = &c;
  return best == nullptr ? ""
                         : fmt::format("{} {:.2f} us", best->configuration.text(), best->look.minimum / 1000);
}

void DeviceRun::report(const Work& work, const std::string& stage) {
  observer_.progress({work.problem.text(), stage, done_, total_, failed_, best_text(work)});
}

}  // namespace hone::tuner
