// What `hone query importance` says of a problem, as rows of its table.
#pragma once

#include <vector>

#include "tools/measured.hpp"
#include "tools/table.hpp"

namespace hone::tools {

struct ImportanceRows {
  std::vector<Table::Row> way;     ///< from the default to the winner, with what holes gain together and all
  std::vector<Table::Row> shares;  ///< of the variance, and the rest
  bool several_variants = false;   ///< have shares
};

/// `winners` may be of any problem.
ImportanceRows importance_rows(db::Store& store, const MeasuredProblem& measured, const Family& family,
                               const std::vector<db::Winner>& winners);

}  // namespace hone::tools
