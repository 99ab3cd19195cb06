// Two parameters of a problem against each other.
#pragma once

#include <string>
#include <vector>

#include "tools/alike.hpp"
#include "tools/where.hpp"

namespace hone::tools {

/// The two parameters and their values, in the order they are shown: numbers by size, texts as in the
/// manifest.
struct PivotAxes {
  std::string rows, columns;
  std::vector<db::Value> row_values, column_values;
};

/// From --rows and --cols.
PivotAxes pivot_axes(const Options& options, const Where& where);

/// What was measured with a pair of values.
struct PivotCell {
  const db::MeasuredRow* row = nullptr;  ///< the fastest; null: nothing was
  bool alike = false;                    ///< taken like the others: can be compared with them
};

/// A problem's cells, row by row.
struct Pivot {
  std::vector<PivotCell> cells;
  std::size_t width = 0;                  ///< cells in a row
  const db::MeasuredRow* best = nullptr;  ///< of those that can be compared
  Alike alike;

  const PivotCell& at(std::size_t row, std::size_t column) const { return cells[row * width + column]; }
  bool empty() const;
  bool ties(const PivotCell& cell) const;  ///< with the best
};

/// In each cell the fastest of what `where` matches, as AlikeFigures compares them.
Pivot pivot_of(db::Store& store, const MeasuredProblem& measured, const PivotAxes& axes, const Where& where);

}  // namespace hone::tools
