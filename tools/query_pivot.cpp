// hone query pivot: two parameters against each other, one table a problem.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "db/ties.hpp"
#include "runtime/bytes.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/measured.hpp"
#include "tools/outdated.hpp"
#include "tools/terminal.hpp"
#include "tools/text.hpp"
#include "tools/units.hpp"
#include "tools/verbs.hpp"
#include "tools/where.hpp"
#include "tools/winner_table.hpp"

namespace hone::tools {
namespace {

/// The two parameters and their values, in the manifest's order.
struct Axes {
  std::string rows, columns;
  std::vector<db::Value> row_values, column_values;
};

Axes axes_of(const Options& options, const Where& where) {
  for (const char* flag : {"rows", "cols"}) {
    if (!options.has(flag))
      throw Error(ErrorCode::invalid, fmt::format("query pivot needs --{} PARAMETER", flag));
  }
  Axes axes{options.get("rows", ""), options.get("cols", ""), {}, {}};
  axes.row_values = where.values("--rows", axes.rows);
  axes.column_values = where.values("--cols", axes.columns);
  if (axes.rows == axes.columns)
    throw Error(ErrorCode::invalid, fmt::format("--cols: `{}` is in the rows; give another", axes.columns));
  return axes;
}

/// The fastest row with each pair of values.
using Cells = std::map<std::pair<db::Value, db::Value>, const db::MeasuredRow*>;

Cells cells_of(const MeasuredProblem& measured, const Axes& axes, const Where& where) {
  Cells cells;
  for (const db::MeasuredRow* row : each_configuration(measured)) {
    const auto at_row = value_of(row->configuration, axes.rows);
    const auto at_column = value_of(row->configuration, axes.columns);
    if (at_row && at_column && where.match(row->configuration)) cells.try_emplace({*at_row, *at_column}, row);
  }
  return cells;
}

const db::MeasuredRow* at(const Cells& cells, const db::Value& row, const db::Value& column) {
  const auto found = cells.find({row, column});
  return found == cells.end() ? nullptr : found->second;
}

/// What the figures below are, and where they are from.
std::string heading(const MeasuredProblem& measured, const Axes& axes, const Where& where, const Cells& cells,
                    std::size_t width) {
  std::size_t raced = 0;
  std::set<db::Id> runs;
  for (const auto& [values, row] : cells) {
    raced += row->measurement.stage == db::Stage::race ? 1 : 0;
    runs.insert(row->measurement.run);
  }
  const auto over = where.open_but({axes.rows, axes.columns});
  const std::string paragraphs[] = {
      fmt::format("{}, {}, {} of traffic, on {}", measured.problem.text(), db::name(measured.regime),
                  bytes_text(static_cast<double>(measured.working_set)), measured.device.name),
      fmt::format("GB/s{}{}{}",
                  over.empty() ? "" : fmt::format(" of the fastest over {}", fmt::join(over, ", ")),
                  where.text().empty() ? "" : ", where ", where.text()),
      fmt::format("measured in races: {}, at first looks: {}, by {}; * fastest, = ties", raced,
                  cells.size() - raced, plural(static_cast<std::int64_t>(runs.size()), "run"))};
  std::string text;
  for (const std::string& paragraph : paragraphs)
    for (const std::string& line : wrapped(paragraph, width)) text += line + '\n';
  return text;
}

/// The fastest of all cells; none where all are empty.
const db::MeasuredRow* best_of(const Cells& cells) {
  const auto best = std::min_element(cells.begin(), cells.end(), [](const auto& a, const auto& b) {
    return a.second->measurement.statistics.median < b.second->measurement.statistics.median;
  });
  return best == cells.end() ? nullptr : best->second;
}

bool is_tied(const db::MeasuredRow* row, const db::MeasuredRow* best) {
  return row == best || db::ties(best->measurement.statistics, row->measurement.statistics);
}

/// Behind a figure; the others get the room.
const char* mark_of(const db::MeasuredRow* row, const db::MeasuredRow* best) {
  return row == best ? " *" : is_tied(row, best) ? " =" : "  ";
}

/// For people: a row a value of the one, a column a value of the other.
Table grid(const MeasuredProblem& measured, const Axes& axes, const Cells& cells) {
  std::vector<Column> columns{{"", fmt::format("{} \\ {}", axes.rows, axes.columns)}};
  for (const db::Value& value : axes.column_values)
    columns.push_back({db::to_string(value), db::to_string(value)});
  Table table("pivot", columns);
  const db::MeasuredRow* best = best_of(cells);
  std::size_t width = 0;
  for (const auto& [values, row] : cells)
    width = std::max(width, number_text(measured.gb_per_s(*row)).size());
  for (const db::Value& at_row : axes.row_values) {
    Table::Row line{{"", value_cell(at_row)}};
    for (std::size_t i = 0; i < axes.column_values.size(); ++i) {
      if (const db::MeasuredRow* row = at(cells, at_row, axes.column_values[i]))
        line.emplace_back(columns[i + 1].key, fmt::format("{:>{}}{}", number_text(measured.gb_per_s(*row)),
                                                          width, mark_of(row, best)));
    }
    table.add(line);
  }
  return table;
}

std::vector<Column> cell_columns() {
  std::vector<Column> columns;
  for (const char* key : {"device",     "backend",  "architecture",      "family", "regime",        "layout",
                          "type",       "shape",    "working_set_bytes", "rows",   "row",           "columns",
                          "column",     "gb_per_s", "median_ns",         "stage",  "configuration", "variant",
                          "parameters", "run",      "measurement",       "best",   "ties"})
    columns.push_back({key, ""});
  return columns;
}

/// For programs: a row a cell, with where it comes from.
void add_cells(Table& table, const MeasuredProblem& measured, const Axes& axes, const Cells& cells) {
  const db::MeasuredRow* best = best_of(cells);
  for (const db::Value& at_row : axes.row_values) {
    for (const db::Value& at_column : axes.column_values) {
      Table::Row line = problem_row(measured.problem, measured.device, measured.regime);
      const auto put = [&](std::string_view key, Cell cell) { line.emplace_back(key, std::move(cell)); };
      put("working_set_bytes", measured.working_set);
      put("rows", axes.rows);
      put("row", value_cell(at_row));
      put("columns", axes.columns);
      put("column", value_cell(at_column));
      if (const db::MeasuredRow* row = at(cells, at_row, at_column)) {
        put("gb_per_s", measured.gb_per_s(*row));
        put("median_ns", row->measurement.statistics.median);
        put("best", yes_no(row == best));
        put("ties", yes_no(is_tied(row, best)));
        put("stage", std::string(db::name(row->measurement.stage)));
        put("configuration", row->configuration.text());
        put("variant", row->configuration.variant);
        put("parameters", parameters_cell(row->configuration));
        put("run", row->measurement.run.hex());
        put("measurement", row->measurement.id.hex());
      }
      table.add(line);
    }
  }
}

}  // namespace

int query_pivot(const Arguments& arguments) {
  Options options(
      "query pivot", "FAMILY", "hone query pivot relu --rows block --cols unroll --dtype f16",
      "Shows two parameters against each other, one table a problem: each cell has the GB/s of the fastest "
      "configuration measured with those values, whatever its others. A configuration counts by the newest "
      "race it was in, else by its newest first look. Cells that nothing was measured for stay empty. The "
      "fastest "
      "is marked by * and what ties with it by =. JSON and CSV have a row a cell.");
  options.value("rows", "PARAMETER", "whose values are the rows")
      .value("cols", "PARAMETER", "and the columns")
      .list("at", "NAME=VALUE", "the slice at one value of another parameter; --where takes several values");
  add_where_flag(options);
  add_filter_flags(options);
  add_bounds_flag(options);
  add_table_flags(options);
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const TableStyle style = table_style(options);
  const bool for_people = style.format == TableStyle::Format::table;
  for (const char* flag : {"columns", "sort", "limit"}) {
    if (for_people && options.has(flag))
      throw Error(ErrorCode::invalid,
                  fmt::format("query pivot: --{} is for rows, which --format json and csv have", flag));
  }

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters filters(options, store);
  const Family family = tuned_family(store, options.positional()[0]);
  const Where where(options, family);
  const Axes axes = axes_of(options, where);
  const std::size_t width = width_for_people(style);
  Table all("pivot", cell_columns());
  bool any = false;
  for (const MeasuredProblem& measured : measured_problems(store, filters, family)) {
    const Cells cells = cells_of(measured, axes, where);
    if (cells.empty()) continue;
    if (for_people) {
      write_out((any ? "\n" : "") + heading(measured, axes, where, cells, width));
      grid(measured, axes, cells).print(style);
    } else {
      add_cells(all, measured, axes, cells);
    }
    any = true;
  }
  if (!for_people) all.print(style);
  if (!any) {
    write_error(fmt::format("{}: no measurement matches; `hone tune {}` takes them", store.file().string(),
                            family.name));
  }
  tell_outdated(store, filters, template_folders({}));
  return exit_done;
}

}  // namespace hone::tools
