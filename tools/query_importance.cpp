// hone query importance: which parameters matter, and in which order they lead from the default to the
// winner.
#include <fmt/format.h>

#include <algorithm>

#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/importance.hpp"
#include "tools/measured.hpp"
#include "tools/outdated.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tools/winner_table.hpp"

namespace hone::tools {
namespace {

std::vector<Column> columns() {
  return after_origin({{"type", "type", Unit::none, true},
                       {"shape", "shape", Unit::none, true},
                       {"configurations", "measured", Unit::none, true},
                       {"what", "what"},
                       {"parameter", "parameter"},
                       {"from", "from"},
                       {"to", "to"},
                       {"median_ns", "median", Unit::nanoseconds},
                       {"gain", "gain", Unit::ratio},
                       {"explained", "explained", Unit::ratio},
                       {"start", "", Unit::none, false, true},
                       {"goal", "", Unit::none, false, true}});
}

/// The default of the fastest configuration's variant: the one that a step each leads from.
const db::MeasuredRow* default_in(const FastestFirst& rows, const Family& family) {
  const Variant* variant = family.variant(rows.front()->configuration.variant);
  const auto is_default = [&](const db::MeasuredRow* row) {
    return row->configuration.variant == variant->name && row->configuration.parameters == variant->defaults;
  };
  const auto found = std::find_if(rows.begin(), rows.end(), is_default);
  return found == rows.end() ? nullptr : *found;
}

void add_rows(Table& table, const MeasuredProblem& measured, const Family& family) {
  const FastestFirst rows = each_configuration(measured);
  std::vector<Timed> timed;
  for (const db::MeasuredRow* row : rows)
    timed.push_back({row->configuration, row->measurement.statistics.median});
  const auto start = [&](const char* what, const std::string& parameter) {
    Table::Row row = problem_row(measured.problem, measured.device, measured.regime);
    row.emplace_back("configurations", static_cast<std::int64_t>(rows.size()));
    row.emplace_back("what", std::string(what));
    row.emplace_back("parameter", parameter);
    return row;
  };
  const db::Configuration& goal = rows.front()->configuration;
  if (const db::MeasuredRow* from = default_in(rows, family)) {
    for (const Step& step : way(from->configuration, goal, timed)) {
      Table::Row row = start("step", step.parameter);
      row.emplace_back("from", value_cell(step.from));
      row.emplace_back("to", value_cell(step.to));
      if (step.nanoseconds)
        row.emplace_back("median_ns", *step.nanoseconds);
      else
        row.emplace_back("median_ns", Structured{"null", "not measured"});
      if (step.gain) row.emplace_back("gain", *step.gain);
      row.emplace_back("start", from->configuration.text());
      row.emplace_back("goal", goal.text());
      table.add(row);
    }
  }
  for (const Share& share : shares(timed)) {
    Table::Row row = start("share", share.parameter);
    row.emplace_back("explained", share.explained);
    table.add(row);
  }
}

}  // namespace

int query_importance(const Arguments& arguments) {
  Options options(
      "query importance", "FAMILY", "hone query importance relu --dtype f16 --shape numel=16777216",
      "Shows what parameters are worth. Steps lead from the default of the fastest configuration's variant "
      "to that configuration, one parameter at a time, always the one with the largest gain; where the "
      "configuration between was not measured the step is a hole. Shares say how much of the variance of the "
      "logarithm of the time each parameter explains by itself over all that was measured: the variance of "
      "the means of its values over the variance of all (the correlation ratio; on a full grid the "
      "first-order index of Sobol). Parameters that matter only together have small shares. A configuration "
      "counts by the newest race it was in, else by its newest first look.");
  add_filter_flags(options);
  add_bounds_flag(options);
  add_table_flags(options);
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const TableStyle style = table_style(options);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters filters(options, store);
  const Family family = tuned_family(store, options.positional()[0]);
  Table table("importance", columns());
  for (const MeasuredProblem& measured : measured_problems(store, filters, family))
    add_rows(table, measured, family);
  table.print(style);
  if (table.empty())
    write_error(fmt::format("{}: no measurement matches; `hone tune {}` takes them", store.file().string(),
                            family.name));
  tell_outdated(store, filters, template_folders({}));
  return exit_done;
}

}  // namespace hone::tools
