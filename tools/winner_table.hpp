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

/// `rest` after the columns that every table of what was tuned begins with: device, backend, architecture,
/// family, regime, layout.
std::vector<Column> after_origin(std::vector<Column> rest);

/// The cells of those columns, and type and shape.
Table::Row problem_row(const db::Problem& problem, const db::Device& device, db::Regime regime);

/// An integer or a text.
Cell value_cell(const db::Value& value);
Structured shape_cell(const db::Problem& problem);
Structured parameters_cell(const db::Configuration& configuration);

}  // namespace hone::tools
