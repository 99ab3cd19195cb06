// hone query importance: which parameters matter, and in which order they lead from the default to the
// winner.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/importance_rows.hpp"
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
                       {"start", "from the default", Unit::none, true},
                       {"goal", "to the goal", Unit::none, true},
                       {"goal_is", "which is", Unit::none, true},
                       {"what", "what"},
                       {"variant", "variant"},
                       {"parameter", "parameter"},
                       {"from", "from"},
                       {"to", "to"},
                       {"before_ns", "before", Unit::nanoseconds},
                       {"median_ns", "after", Unit::nanoseconds},
                       {"gain", "gain", Unit::ratio},
                       {"ties", "tied"},
                       {"samples", "samples", Unit::none, true},
                       {"explained", "of variance", Unit::ratio},
                       {"alignment", ""},
                       {"before_measurement", "", Unit::id},
                       {"measurement", "", Unit::id},
                       {"decision", "", Unit::id}});
}

/// As a table of the columns with these keys alone.
void print(const std::vector<Table::Row>& rows, const std::set<std::string_view>& keys,
           const TableStyle& style) {
  std::vector<Column> chosen = columns();
  std::erase_if(chosen, [&](const Column& column) { return !keys.contains(column.key); });
  Table table("importance", chosen);
  for (Table::Row row : rows) {
    std::erase_if(row, [&](const auto& cell) { return !keys.contains(cell.first); });
    table.add(row);
  }
  table.print(style);
}

/// For people: the way and the shares as tables of their own, below what both are of.
void print_apart(const ImportanceRows& rows, const TableStyle& style) {
  std::set<std::string_view> way{"what",      "parameter", "from", "to",     "before_ns",
                                 "median_ns", "gain",      "ties", "samples"};
  std::set<std::string_view> shares{"what", "parameter", "explained", "samples"};
  const std::set<std::string_view> above{"device", "family", "regime", "layout",  "type",
                                         "shape",  "start",  "goal",   "goal_is", "configurations"};
  (rows.way.empty() ? shares : way).insert(above.begin(), above.end());
  if (rows.several_variants) shares.insert("variant");
  print(rows.way, way, style);
  if (!rows.way.empty() && !rows.shares.empty()) write_out("\n");
  print(rows.shares, shares, style);
}

}  // namespace

int query_importance(const Arguments& arguments) {
  Options options(
      "query importance", "FAMILY", "hone query importance relu --dtype f16 --shape numel=16777216",
      "Shows what parameters are worth. Steps lead from the default to the winner for the most aligned "
      "pointers (to the fastest measured, where there is no winner), one parameter at a time, always the one "
      "with the largest gain. Both times of a step are taken alike: in one race, or else at first looks. "
      "Where "
      "nobody measured what lies between, the parameters are holes, and the jump is what they gain together. "
      "Shares say how the variance of the logarithm of the time comes about, among figures taken alike; they "
      "add up to one. `variant` has the variance of its groups' means; within a variant each parameter has "
      "what it adds to an additive model (least squares, the one that explains most first; on a full grid "
      "that is the first-order index of Sobol). The rest is parameters that matter together, and noise.");
  add_filter_flags(options);
  add_bounds_flag(options);
  add_table_flags(options, columns());
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const TableStyle style = table_style(options);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters filters(options, store);
  const Family family = tuned_family(store, options.positional()[0]);
  // People see what columns do not mix, unless they ask for columns or rows.
  const bool apart = style.format == TableStyle::Format::table && style.columns.empty() &&
                     style.sort.empty() && !style.limit;
  Table table("importance", columns(), 2);
  std::vector<db::Winner> winners = store.winners(filters.filter());
  std::erase_if(winners, [&](const db::Winner& winner) { return !filters.match(winner); });
  bool any = false;
  for (const MeasuredProblem& measured : measured_problems(store, filters, family)) {
    const ImportanceRows rows = importance_rows(store, measured, family, winners);
    if (apart) {
      write_out(any ? "\n" : "");
      print_apart(rows, style);
    } else {
      for (const auto* part : {&rows.way, &rows.shares})
        for (const Table::Row& row : *part) table.add(row);
    }
    any = any || !rows.way.empty() || !rows.shares.empty();
  }
  if (!apart) table.print(style);
  if (!any)
    write_error(fmt::format("{}: no measurement matches; `hone tune {}` takes them", store.file().string(),
                            family.name));
  tell_outdated(store, filters, template_folders({}));
  return exit_done;
}

}  // namespace hone::tools
