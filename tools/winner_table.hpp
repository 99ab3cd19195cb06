// Winners as rows: what `hone tune` ends with and `hone query winners` shows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "tools/table.hpp"

namespace hone::tools {

/// How the winner's decision compared the others.
struct Ties {
  double bound = 0;               ///< relative
  std::vector<std::string> with;  ///< configurations within the bound
};

std::vector<Column> winner_columns(bool with_spread);
Table::Row winner_row(const db::Winner& winner, const db::Device& device,
                      std::optional<std::int64_t> working_set, const std::optional<Ties>& ties);

/// The columns that name a problem on a device.
Table::Row problem_row(const db::Problem& problem, const db::Device& device, db::Regime regime);

Structured shape_cell(const db::Problem& problem);

}  // namespace hone::tools
