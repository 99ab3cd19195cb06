// hone query pivot: two parameters against each other, one table a problem.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/bytes.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/measured.hpp"
#include "tools/outdated.hpp"
#include "tools/pivot.hpp"
#include "tools/terminal.hpp"
#include "tools/text.hpp"
#include "tools/units.hpp"
#include "tools/verbs.hpp"
#include "tools/where.hpp"
#include "tools/winner_table.hpp"

namespace hone::tools {
namespace {

/// GB/s; where nobody told the working set, the time.
std::string figure_text(const MeasuredProblem& measured, const db::MeasuredRow& row) {
  return measured.working_set > 0 ? number_text(measured.gb_per_s(row))
                                  : nanoseconds_text(row.measurement.statistics.median);
}

/// What the figures below are, and where they are from.
std::string heading(const MeasuredProblem& measured, const PivotAxes& axes, const Where& where,
                    const Pivot& pivot, std::size_t width) {
  const auto over = where.open_but({axes.rows, axes.columns});
  const bool otherwise = std::any_of(pivot.cells.begin(), pivot.cells.end(), [](const PivotCell& cell) {
    return cell.row != nullptr && !cell.alike;
  });
  const std::string traffic =
      measured.working_set > 0 ? bytes_text(static_cast<double>(measured.working_set)) + " of traffic, " : "";
  const std::string paragraphs[] = {
      fmt::format("{}, {}, {}on {}", measured.problem.text(), db::name(measured.regime), traffic,
                  measured.device.name),
      fmt::format("{}{}{}{}", measured.working_set > 0 ? "GB/s" : "median",
                  over.empty() ? "" : fmt::format(" of the fastest over {}", fmt::join(over, ", ")),
                  where.text().empty() ? "" : ", where ", where.text()),
      fmt::format("samples: {}; * fastest, = ties{}", pivot.alike.text(),
                  otherwise ? ", ( ) taken otherwise: not compared" : "")};
  std::string text;
  for (const std::string& paragraph : paragraphs)
    for (const std::string& line : wrapped(paragraph, width)) text += line + '\n';
  return text;
}

std::string corner(const PivotAxes& axes) {
  return fmt::format("{} \\ {}", axes.rows, axes.columns);
}

/// A cell for people: the figures of one width, what can be compared by marks, what cannot in parentheses.
class FigureTexts {
 public:
  FigureTexts(const MeasuredProblem& measured, const Pivot& pivot) : measured_(measured), pivot_(pivot) {
    for (const PivotCell& cell : pivot.cells) {
      if (cell.row == nullptr) continue;
      figure_ = std::max(figure_, figure_text(measured, *cell.row).size());
      any_apart_ = any_apart_ || !cell.alike;
    }
  }

  std::size_t width() const { return figure_ + (any_apart_ ? 3 : 2); }

  std::string of(const PivotCell& cell) const {
    const std::string figure = figure_text(measured_, *cell.row);
    if (!cell.alike) return fmt::format("{:>{}} ", '(' + figure + ')', width() - 1);
    const char* mark = cell.row == pivot_.best ? " *" : pivot_.ties(cell) ? " =" : "  ";
    return fmt::format("{:>{}}{}", figure, width() - 2, mark);
  }

 private:
  const MeasuredProblem& measured_;
  const Pivot& pivot_;
  std::size_t figure_ = 0;
  bool any_apart_ = false;
};

/// A row a value of the one; columns, the values of the other from `first` to before `last`.
Table grid_table(const PivotAxes& axes, const Pivot& pivot, const FigureTexts& texts, std::size_t first,
                 std::size_t last) {
  std::vector<Column> columns{{"", corner(axes)}};
  for (std::size_t c = first; c < last; ++c) {
    const std::string value = db::to_string(axes.column_values[c]);
    columns.push_back({value, fmt::format("{:>{}}", value, texts.width() - 2)});
  }
  Table table("pivot", columns);
  for (std::size_t r = 0; r < axes.row_values.size(); ++r) {
    Table::Row line{{"", value_cell(axes.row_values[r])}};
    Table::Marks marks;
    for (std::size_t c = first; c < last; ++c) {
      const PivotCell& cell = pivot.at(r, c);
      if (cell.row == nullptr) continue;
      const std::string& key = columns[c - first + 1].key;
      line.emplace_back(key, texts.of(cell));
      if (cell.row == pivot.best)
        marks.emplace_back(key, Mark::best);
      else if (cell.alike && pivot.ties(cell))
        marks.emplace_back(key, Mark::good);
    }
    table.add(line, marks);
  }
  return table;
}

/// Where the next table begins, so that one that begins at the value `first` fits.
std::size_t end_of_table(const PivotAxes& axes, const FigureTexts& texts, std::size_t first,
                         std::size_t width) {
  std::size_t used = corner(axes).size();
  for (const db::Value& value : axes.row_values) used = std::max(used, width_of_text(db::to_string(value)));
  std::size_t last = first;
  for (; last < axes.column_values.size(); ++last) {
    constexpr std::size_t gap = 2;
    used += gap + std::max(texts.width(), width_of_text(db::to_string(axes.column_values[last])));
    if (used > width && last > first) break;
  }
  return last;
}

/// As many tables as the values need, each with its heading.
void print_grid(const MeasuredProblem& measured, const PivotAxes& axes, const Pivot& pivot,
                const TableStyle& style) {
  const FigureTexts texts(measured, pivot);
  for (std::size_t first = 0; first < axes.column_values.size();) {
    const std::size_t last = end_of_table(axes, texts, first, width_for_people(style));
    if (first > 0) write_out("\n");
    grid_table(axes, pivot, texts, first, last).print(style);
    first = last;
  }
}

std::vector<Column> cell_columns() {
  std::vector<Column> columns;
  for (const char* key : {"device",     "backend",  "architecture",      "family", "regime",        "layout",
                          "type",       "shape",    "working_set_bytes", "rows",   "row",           "columns",
                          "column",     "gb_per_s", "median_ns",         "stage",  "configuration", "variant",
                          "parameters", "run",      "measurement",       "best",   "ties",          "alike"})
    columns.push_back({key, ""});
  return columns;
}

/// For programs: a row a cell, with where it comes from.
void add_cells(Table& table, const MeasuredProblem& measured, const PivotAxes& axes, const Pivot& pivot) {
  for (std::size_t r = 0; r < axes.row_values.size(); ++r) {
    for (std::size_t c = 0; c < axes.column_values.size(); ++c) {
      Table::Row line = problem_row(measured.problem, measured.device, measured.regime);
      const auto put = [&](std::string_view key, Cell value) { line.emplace_back(key, std::move(value)); };
      const PivotCell& cell = pivot.at(r, c);
      const bool has_traffic = measured.working_set > 0;
      if (has_traffic) put("working_set_bytes", measured.working_set);
      put("rows", axes.rows);
      put("row", value_cell(axes.row_values[r]));
      put("columns", axes.columns);
      put("column", value_cell(axes.column_values[c]));
      if (const db::MeasuredRow* row = cell.row) {
        if (has_traffic) put("gb_per_s", measured.gb_per_s(*row));
        put("median_ns", row->measurement.statistics.median);
        put("alike", yes_no(cell.alike));
        if (cell.alike) {
          put("best", yes_no(row == pivot.best));
          put("ties", yes_no(pivot.ties(cell)));
        }
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
      "configuration measured with those values, whatever its others (the median, where nobody told the "
      "working "
      "set). The figures are taken alike: at first looks, or in the newest race where each cell's fastest "
      "came "
      "through it. Of them the fastest is marked by * and what ties with it by =. What was not taken like "
      "them "
      "is in parentheses, and cells that nothing was measured for stay empty. JSON and CSV have a row a "
      "cell.");
  options.value("rows", "PARAMETER", "whose values are the rows")
      .value("cols", "PARAMETER", "and the columns")
      .list("at", "NAME=VALUE", "the slice at one value of another parameter; --where takes several values");
  add_where_flag(options);
  add_filter_flags(options);
  add_bounds_flag(options);
  add_table_flags(options, cell_columns());
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
  const PivotAxes axes = pivot_axes(options, where);
  const std::size_t width = width_for_people(style);
  Table all("pivot", cell_columns(), 2);
  bool any = false;
  for (const MeasuredProblem& measured : measured_problems(store, filters, family)) {
    const Pivot pivot = pivot_of(store, measured, axes, where);
    if (pivot.empty()) continue;
    if (for_people) {
      write_out((any ? "\n" : "") + heading(measured, axes, where, pivot, width));
      print_grid(measured, axes, pivot, style);
    } else {
      add_cells(all, measured, axes, pivot);
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
