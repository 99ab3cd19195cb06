#include "tools/pivot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "db/ties.hpp"
#include "hone/error.hpp"

namespace hone::tools {
namespace {

void sort_numbers(std::vector<db::Value>& values) {
  if (std::all_of(values.begin(), values.end(), [](const db::Value& value) { return value.index() == 0; }))
    std::sort(values.begin(), values.end());
}

}  // namespace

PivotAxes pivot_axes(const Options& options, const Where& where) {
  for (const char* flag : {"rows", "cols"}) {
    if (!options.has(flag))
      throw Error(ErrorCode::invalid, fmt::format("query pivot needs --{} PARAMETER", flag));
  }
  PivotAxes axes{options.get("rows", ""), options.get("cols", ""), {}, {}};
  axes.row_values = where.values("--rows", axes.rows);
  axes.column_values = where.values("--cols", axes.columns);
  if (axes.rows == axes.columns)
    throw Error(ErrorCode::invalid, fmt::format("--cols: `{}` is in the rows; give another", axes.columns));
  sort_numbers(axes.row_values);
  sort_numbers(axes.column_values);
  return axes;
}

bool Pivot::empty() const {
  return std::all_of(cells.begin(), cells.end(), [](const PivotCell& cell) { return cell.row == nullptr; });
}

bool Pivot::ties(const PivotCell& cell) const {
  return cell.alike && db::ties(best->measurement.statistics, cell.row->measurement.statistics);
}

Pivot pivot_of(db::Store& store, const MeasuredProblem& measured, const PivotAxes& axes, const Where& where) {
  Pivot grid;
  grid.width = axes.column_values.size();
  grid.cells.resize(axes.row_values.size() * grid.width);
  AlikeFigures::Groups groups(grid.cells.size());
  const auto place = [](const std::vector<db::Value>& values, const std::optional<db::Value>& value) {
    return static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin());
  };
  for (const db::MeasuredRow* row : each_configuration(measured)) {
    const std::size_t r = place(axes.row_values, value_of(row->configuration, axes.rows));
    const std::size_t c = place(axes.column_values, value_of(row->configuration, axes.columns));
    if (r == axes.row_values.size() || c == grid.width || !where.match(row->configuration)) continue;
    PivotCell& cell = grid.cells[r * grid.width + c];
    if (cell.row == nullptr) cell.row = row;  // the fastest come first
    groups[r * grid.width + c].push_back(row->measurement.configuration);
  }
  grid.alike = AlikeFigures(store, measured).fastest(groups);
  for (std::size_t i = 0; i < grid.cells.size(); ++i) {
    const db::MeasuredRow* row = grid.alike.fastest[i];
    if (row == nullptr) continue;
    grid.cells[i] = {row, true};
    if (grid.best == nullptr || row->measurement.statistics.median < grid.best->measurement.statistics.median)
      grid.best = row;
  }
  return grid;
}

}  // namespace hone::tools
