#include "tools/tune_closing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "db/store.hpp"
#include "runtime/plural.hpp"
#include "tools/flags.hpp"
#include "tools/units.hpp"

namespace hone::tools {
namespace {

std::string sweep_text(const tuner::SweepSummary& sweep) {
  std::string text = "; bands of " + sweep.element_type;
  if (!sweep.layout.empty()) text += " " + sweep.layout;
  text += fmt::format(": {} over {}, {}", sweep.bands, plural(sweep.points, "point"),
                      plural(sweep.races, "race"));
  return sweep.unfinished.empty() ? text : text + " (" + sweep.unfinished + ")";
}

std::string portfolio_text(const tuner::PortfolioSummary& portfolio) {
  std::string text = "; portfolio of " + portfolio.element_type;
  if (!portfolio.layout.empty()) text += " " + portfolio.layout;
  text += fmt::format(": {} over {}, {} now", plural(portfolio.members, "configuration"),
                      plural(portfolio.problems, "problem"), plural(portfolio.races, "race"));
  return portfolio.unfinished.empty() ? text : text + " (" + portfolio.unfinished + ")";
}

/// The longest phases first; what took no time is left out.
std::string phases_text(const tuner::Timing& timing) {
  std::vector<std::pair<double, const char*>> phases{{timing.look, "looks"},
                                                     {timing.race, "races"},
                                                     {timing.prepare, "preparing"},
                                                     {timing.compile_wait, "waiting for compilers"},
                                                     {timing.store, "storing"}};
  std::sort(phases.rbegin(), phases.rend());
  std::string text;
  for (const auto& [seconds, name] : phases)
    if (seconds >= 0.1)
      text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", name, duration_text(seconds));
  return text.empty() ? text : text + ")";
}

/// How far the run went beyond what was asked of it.
std::string budget_text(const tuner::TuneSummary& summary, const tuner::Budget& budget) {
  constexpr double worth_a_word = 0.05;  // of the time asked for
  std::string text;
  if (budget.configurations &&
      std::any_of(summary.problems.begin(), summary.problems.end(),
                  [&](const auto& problem) { return problem.tried > *budget.configurations; }))
    text += "; the default, earlier winners and the ladder's points are tried whatever the budget";
  if (summary.budget_spent) text += "; the budget is spent";
  if (budget.seconds && summary.timing.total > *budget.seconds * (1 + worth_a_word))
    text += fmt::format("{}, overrun by {}: preparing, and what has begun, is not cut short",
                        summary.budget_spent ? "" : "; the budget is spent",
                        duration_text(summary.timing.total - *budget.seconds));
  return text;
}

std::string work_text(const tuner::TuneSummary& summary, const tuner::Budget& budget) {
  std::map<db::Outcome, std::int64_t> outcomes;
  std::int64_t tried = 0, skipped = 0;
  for (const tuner::ProblemSummary& problem : summary.problems) {
    tried += problem.tried;
    skipped += problem.skipped ? 1 : 0;
    for (const auto& [outcome, count] : problem.outcomes) outcomes[outcome] += count;
  }
  const std::string failures = outcome_text(outcomes, true);
  std::string line = plural(static_cast<std::int64_t>(summary.problems.size()), "problem");
  if (skipped > 0) line += fmt::format(" ({} had fresh winners; --again measures them too)", skipped);
  line += fmt::format(", {} tried, {}, {}{}", plural(tried, "configuration"),
                      failures.empty() ? "no failures" : "failed: " + failures,
                      duration_text(summary.timing.total), phases_text(summary.timing));
  for (const tuner::SweepSummary& sweep : summary.sweeps) line += sweep_text(sweep);
  for (const tuner::PortfolioSummary& portfolio : summary.portfolios) line += portfolio_text(portfolio);
  line += budget_text(summary, budget);
  if (summary.interrupted) line += "; interrupted, what was measured is kept: the same command goes on";
  return line + "\n";
}

/// What tuning anew would take is what it took, as the runs before recorded it.
std::string refresh_text(const tuner::TuneSummary& summary) {
  double now = 0, before = 0;
  std::int64_t refreshed = 0, grown = 0;
  for (const tuner::ProblemSummary& problem : summary.problems) {
    grown += problem.grown ? 1 : 0;
    if (problem.skipped || problem.winners.empty()) continue;
    ++refreshed;
    now += problem.seconds;
    before += problem.seconds_before;
  }
  const std::string new_values =
      grown == 0 ? ""
                 : fmt::format("; the space of {} has grown: `hone tune` without --refresh tries what is new",
                               plural(grown, "problem"));
  if (refreshed == 0) return "refresh: nothing is stale that has a winner here" + new_values + "\n";
  const double saved = before - now;
  return fmt::format("refresh: {} in {}, where tuning had taken {}: {}{}\n", plural(refreshed, "problem"),
                     duration_text(now), duration_text(before),
                     saved > 0 ? duration_text(saved) + " saved" : "nothing saved", new_values);
}

/// Against the winners that there were, which raced along: one race, so that a gain is no drift.
std::string winners_text(const tuner::TuneSummary& summary, const std::filesystem::path& database) {
  if (summary.problems.empty()) return "";
  db::Store store = db::Store::open(database, db::Access::read_only);
  std::int64_t fresh = 0, kept = 0, changed = 0, tied = 0;
  double most = 0;
  for (const tuner::ProblemSummary& problem : summary.problems) {
    if (problem.skipped) continue;
    for (const db::Winner& winner : problem.winners) {
      tied += winner.tied > 0 ? 1 : 0;
      const auto decision = store.decision(winner.decision);
      const auto incumbent =
          decision && decision->incumbent ? store.measurement(*decision->incumbent) : std::nullopt;
      if (!incumbent) {
        ++fresh;
      } else if (incumbent->configuration == winner.configuration.id()) {
        ++kept;
      } else {
        ++changed;
        most = std::max(most, incumbent->statistics.median / winner.statistics.median - 1);
      }
    }
  }
  if (fresh + kept + changed == 0) return "";
  std::string line = fmt::format("{}: {} new, {} kept, {} changed", plural(fresh + kept + changed, "winner"),
                                 fresh, kept, changed);
  if (changed > 0) line += fmt::format(" (by up to {:.1f} %)", 100 * most);
  return line + fmt::format("; {} {} with others\n", tied, tied == 1 ? "ties" : "tie");
}

std::string next_text(const tuner::TuneSummary& summary, const tuner::TuneSettings& settings) {
  bool any = false, failed = false;
  for (const tuner::ProblemSummary& problem : summary.problems) {
    any = any || !problem.winners.empty();
    failed = failed || !outcome_text(problem.outcomes, true).empty();
  }
  if (!any && !failed) return "";
  const auto query = [&](const char* verb) {
    return '`' + command_line_on(settings.database, std::string("query ") + verb, {settings.family}) + '`';
  };
  std::string line = "next: ";
  if (any) line += query("ladder") + " and " + query("importance") + " for what matters";
  if (failed) line += (any ? ", " : "") + query("failures") + " for what failed";
  return line + "\n";
}

}  // namespace

std::vector<tuner::ProblemSummary> by_identity(std::vector<tuner::ProblemSummary> problems) {
  std::vector<tuner::ProblemSummary> together;
  std::map<std::pair<db::Id, db::Problem>, std::size_t> places;
  for (tuner::ProblemSummary& problem : problems) {
    const auto [place, is_new] = places.try_emplace({problem.device.id(), problem.problem}, together.size());
    if (is_new) {
      together.push_back(std::move(problem));
      continue;
    }
    tuner::ProblemSummary& one = together[place->second];
    one.tried += problem.tried;
    for (const auto& [outcome, count] : problem.outcomes) one.outcomes[outcome] += count;
    one.skipped = one.skipped && problem.skipped;
    one.grown = one.grown || problem.grown;
    one.seconds = std::max(one.seconds, problem.seconds);  // cards are tuned at the same time
    one.seconds_before = std::max(one.seconds_before, problem.seconds_before);
    for (db::Winner& winner : problem.winners) {
      const auto same = std::find_if(one.winners.begin(), one.winners.end(), [&](const db::Winner& each) {
        return each.alignment == winner.alignment;
      });
      if (same == one.winners.end())
        one.winners.push_back(std::move(winner));
      else if (winner.decided_us > same->decided_us)
        *same = std::move(winner);
    }
    if (one.failure.empty()) one.failure = std::move(problem.failure);
  }
  return together;
}

std::string outcome_text(const std::map<db::Outcome, std::int64_t>& outcomes, bool failures_only) {
  std::string text;
  for (const auto& [outcome, count] : outcomes) {
    if (count == 0 || (failures_only && !db::is_failure(outcome))) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, db::name(outcome));
  }
  return text;
}

std::string closing_text(const tuner::TuneSummary& summary, const tuner::TuneSettings& settings) {
  return work_text(summary, settings.budget) + (settings.refresh ? refresh_text(summary) : "") +
         winners_text(summary, settings.database) + next_text(summary, settings);
}

}  // namespace hone::tools
