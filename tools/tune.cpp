// hone tune: the fastest configuration of a family for problems, into the database.
#include "tuner/tune.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/plural.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/json.hpp"
#include "tools/misses.hpp"
#include "tools/parse.hpp"
#include "tools/progress.hpp"
#include "tools/signals.hpp"
#include "tools/table.hpp"
#include "tools/terminal.hpp"
#include "tools/tune_closing.hpp"
#include "tools/units.hpp"
#include "tools/verbs.hpp"
#include "tools/winner_table.hpp"
#include "tuner/dry_run.hpp"
#include "tuner/search.hpp"

namespace hone::tools {
namespace {

Structured outcome_cell(const std::map<db::Outcome, std::int64_t>& outcomes) {
  std::vector<std::pair<std::string, db::Value>> members;
  for (const auto& [outcome, count] : outcomes) members.emplace_back(db::name(outcome), count);
  return {json_object(members), outcome_text(outcomes, false)};
}

Table winner_table(const tuner::TuneSummary& summary, db::Regime regime) {
  Table table("tune", winner_columns(false));
  for (const tuner::ProblemSummary& problem : summary.problems) {
    for (const db::Winner& winner : problem.winners) {
      Table::Row row = winner_row(winner, problem.device, problem.working_set, std::nullopt);
      row.emplace_back("outcomes", outcome_cell(problem.outcomes));
      table.add(row);
    }
    if (!problem.winners.empty() && problem.failure.empty()) continue;
    const std::string why = problem.failure.empty() ? "not tuned: the run ended before" : problem.failure;
    Table::Row row = problem_row(problem.problem, problem.device, regime);
    row.emplace_back("working_set_bytes", problem.working_set);
    row.emplace_back("outcomes", outcome_cell(problem.outcomes));
    row.emplace_back("failure", why);
    row.emplace_back("configuration", Structured{"null", fmt::format("no winner: {}", why)});
    table.add(row, {{"configuration", Mark::bad}});
  }
  return table;
}

Table plan_table(const std::vector<tuner::PlannedProblem>& plan, db::Regime regime) {
  Table table("plan", after_origin({{"type", "type"},
                                    {"shape", "shape"},
                                    {"working_set_bytes", "traffic", Unit::bytes},
                                    {"space", "configurations"},
                                    {"sampled", "sampled", Unit::none, true},
                                    {"most", "tried at most"},
                                    {"has_winners", "has winners"}}));
  for (const tuner::PlannedProblem& planned : plan) {
    Table::Row row = problem_row(planned.problem, planned.device, regime);
    row.emplace_back("working_set_bytes", planned.working_set);
    row.emplace_back("space", planned.space);
    row.emplace_back("sampled", yes_no(planned.sampled));
    row.emplace_back("most", planned.most);
    row.emplace_back("has_winners", yes_no(planned.has_winners));
    table.add(row);
  }
  return table;
}

void tell_timing(const tuner::Timing& timing) {
  write_error(fmt::format(
      "time: {} in all: waiting for compilers {}, preparing {}, looks {}, races {}, storing {}",
      duration_text(timing.total), duration_text(timing.compile_wait), duration_text(timing.prepare),
      duration_text(timing.look), duration_text(timing.race), duration_text(timing.store)));
  write_error(fmt::format("work: {} compiled, {} checked, {} timed, {} saved by racing", timing.compiled,
                          timing.checked, plural(timing.launches_timed, "launch"), timing.launches_saved));
  if (timing.restarts > 0)
    write_error(fmt::format("workers: {} replaced in {}", timing.restarts, duration_text(timing.restart)));
}

}  // namespace

int tune(const Arguments& arguments) {
  Options options(
      "tune", "FAMILY", "hone tune relu --dtype f16 --shape numel=16777216",
      "Finds the fastest configuration of a family for each problem and keeps it in the database. Every "
      "configuration is checked before it is timed. The same command goes on where an earlier one ended.");
  add_device_flag(options);
  add_type_flag(options);
  add_shape_flag(options);
  options.value("layout", "L", "the problems' layout, where the family has several")
      .value(
          "sweep", "LO:HI",
          "problems whose working sets double from LO to HI bytes: 1MiB:4GiB (K, M, G, KiB, MiB, GiB: "
          "powers of 1024; kB, MB, GB: powers of 1000); and the bands along them, where the family has one "
          "dimension")
      .value("resolution", "R",
             "bisect the edges of a sweep's bands until they are known to this ratio (1.0625)")
      .value("regime", "R",
             "steady (back to back on the same buffers) or cold (the cache flushed before each)")
      .value("search", "S",
             "auto (all of up to some thousand configurations that no budget cuts, else guided), exhaustive, "
             "random, "
             "local, evolutionary or guided",
             tuner::search_names())
      .value("budget", "B",
             "stop after 60s, 5m, or 500 configurations a problem, or 5m,500; the default, the winners there "
             "are and the ladder's points are tried whatever it is")
      .flag("misses", "tune what applications asked for and got no exact answer to")
      .flag("refresh", "measure the finalists of stale winners again, nothing else")
      .flag("portfolio",
            "then race the winners that the database has at every problem that has one, so that problems "
            "never tuned get the one expected to be the fastest (families of several dimensions)")
      .flag("again", "measure what has fresh winners too")
      .flag("dry-run", "show the problems and how many configurations each has, and do nothing")
      .value("cache-size", "BYTES", "the last-level cache, where the device does not tell (cold regime)")
      .value("seed", "N", "of the random inputs and of the order of measuring (1)");
  add_limit_flags(options);
  add_database_flag(options);
  add_template_flags(options);
  options.flag("timing", "say where the time went").flag("quiet", "no progress, no closing summary");
  add_table_flags(options, winner_columns(false));
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const TableStyle style = table_style(options);

  tuner::TuneSettings settings;
  settings.family = options.positional()[0];
  settings.folders = template_folders_of(options);
  settings.trust = options.has("trust");
  settings.device = options.get("device", "");
  settings.element_types = element_types_of(options);
  settings.layout = options.get("layout", "");
  settings.shapes = shapes_of(options);
  if (options.has("sweep")) settings.sweep = parse_sweep("--sweep", options.get("sweep", ""));
  if (options.has("resolution"))
    settings.resolution = parse_ratio("--resolution", options.get("resolution", ""));
  if (options.has("regime")) settings.regime = parse_regime("--regime", options.get("regime", ""));
  settings.search = parse_choice("--search", options.get("search", "auto"), tuner::search_names());
  if (options.has("budget")) settings.budget = parse_budget("--budget", options.get("budget", ""));
  settings.refresh = options.has("refresh");
  settings.again = options.has("again");
  settings.portfolio = options.has("portfolio");
  if (settings.refresh && settings.again)
    throw Error(ErrorCode::invalid, "tune: --refresh and --again exclude each other; give one of them");
  if (settings.refresh && options.has("dry-run"))
    throw Error(ErrorCode::invalid,
                "tune: --refresh and --dry-run exclude each other; `hone query stale` shows "
                "what a refresh is for");
  if (settings.portfolio && settings.shapes.empty() && options.has("dry-run"))
    throw Error(ErrorCode::invalid,
                "tune: --portfolio without --shape tunes no problem, so that --dry-run has none to show; "
                "`hone query winners` shows those it would race at");
  if (options.has("cache-size"))
    settings.cache_bytes = parse_bytes("--cache-size", options.get("cache-size", ""));
  if (options.has("seed"))
    settings.seed = static_cast<std::uint64_t>(parse_integer("--seed", options.get("seed", ""), 0));
  settings.database = database_of(options);
  settings.command = command_line("tune", arguments);
  settings.limits = limits_of(options);
  std::optional<Misses> misses;
  if (options.has("misses")) {
    std::vector<db::Id> devices;
    for (const DeviceInfo& device : choose_devices(settings.device)) devices.push_back(device.record().id());
    misses.emplace(settings.family, settings.regime, settings.element_types, devices);
    settings.problems = misses->problems();
    for (const std::string& fault : misses->faults()) write_error(fmt::format("hone: skipped {}", fault));
  }
  if (settings.shapes.empty() && !settings.sweep && !settings.refresh && !settings.portfolio &&
      settings.problems.empty()) {
    if (misses) {
      write_error(fmt::format("{}: no misses to tune", settings.family));
      return exit_done;
    }
    const std::string shape = example_shape(find_family(settings.family, settings.folders));
    throw Error(
        ErrorCode::invalid,
        fmt::format("tune: nothing to tune; give problems as `--shape {}` or `--sweep 1MiB:1GiB`", shape));
  }

  if (options.has("dry-run")) {
    plan_table(tuner::dry_run(settings), settings.regime).print(style);
    return exit_done;
  }
  ProgressBar progress(options.has("quiet"));
  tuner::TuneSummary summary = tuner::tune(settings, progress, stop_on_signals());
  summary.problems = by_identity(std::move(summary.problems));
  progress.clear();
  try {
    winner_table(summary, settings.regime).print(style);
  } catch (const Error&) {
    if (!summary.interrupted) throw;  // a terminal that was closed takes stdout with it
  }
  if (options.has("timing")) tell_timing(summary.timing);
  if (!options.has("quiet")) {
    std::string text = closing_text(summary, settings);
    text.pop_back();  // an error's line brings its own end
    write_error(text);
  }
  if (summary.interrupted) return exit_interrupted();
  if (summary.budget_spent && summary.problems.empty())
    write_error(fmt::format("hone: --budget {} ended before anything was measured; give more time",
                            options.get("budget", "")));
  if (misses && !summary.budget_spent) misses->clear();
  const bool no_portfolio = settings.portfolio && summary.portfolios.empty() && !summary.budget_spent;
  if (no_portfolio)
    write_error(
        fmt::format("hone: {} has no winners on this device to make a portfolio of; tune problems "
                    "with --shape first",
                    settings.family));
  const bool all = std::all_of(summary.problems.begin(), summary.problems.end(),
                               [](const auto& problem) { return problem.failure.empty(); });
  const bool none = summary.budget_spent && summary.problems.empty();
  return all && !none && !no_portfolio && !summary.device_failed ? exit_done : exit_failed;
}

}  // namespace hone::tools
