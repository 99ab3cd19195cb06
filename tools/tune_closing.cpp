#include "tools/tune_closing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/units.hpp"

namespace hone::tools {
namespace {

std::string plural(std::int64_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string sweep_text(const tuner::SweepSummary& sweep) {
  std::string text = "; bands of " + sweep.element_type;
  if (!sweep.layout.empty()) text += " " + sweep.layout;
  text += fmt::format(": {} over {} points, {} races", sweep.bands, sweep.points, sweep.races);
  return sweep.unfinished.empty() ? text : text + " (" + sweep.unfinished + ")";
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

std::string work_text(const tuner::TuneSummary& summary) {
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
  if (summary.budget_spent) line += "; the budget is spent";
  if (summary.interrupted) line += "; interrupted, what was measured is kept: the same command goes on";
  return line + "\n";
}

/// Against the winners that there were, which raced along: one race, so that a gain is no drift.
std::string winners_text(const tuner::TuneSummary& summary, db::Store& store) {
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
  return line + fmt::format("; {} tie with others\n", tied);
}

std::string next_text(const tuner::TuneSummary& summary, const tuner::TuneSettings& settings) {
  bool any = false, failed = false;
  for (const tuner::ProblemSummary& problem : summary.problems) {
    any = any || !problem.winners.empty();
    failed = failed || !outcome_text(problem.outcomes, true).empty();
  }
  if (!any && !failed) return "";
  const std::string& family = settings.family;
  std::string line = "next: ";
  if (any)
    line += fmt::format("`hone query ladder {0}` and `hone query importance {0}` for what matters", family);
  if (failed) line += fmt::format("{}`hone query failures {}` for what failed", any ? ", " : "", family);
  return line + "\n";
}

}  // namespace

std::string outcome_text(const std::map<db::Outcome, std::int64_t>& outcomes, bool failures_only) {
  std::string text;
  for (const auto& [outcome, count] : outcomes) {
    if (count == 0 || (failures_only && !db::is_failure(outcome))) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, db::name(outcome));
  }
  return text;
}

std::string closing_text(const tuner::TuneSummary& summary, const tuner::TuneSettings& settings,
                         db::Store& store) {
  return work_text(summary) + winners_text(summary, store) + next_text(summary, settings);
}

}  // namespace hone::tools
