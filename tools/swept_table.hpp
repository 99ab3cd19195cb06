// What the tables of bands and of portfolios have in common.
#pragma once

#include <vector>

#include "db/records.hpp"
#include "tools/table.hpp"

namespace hone::tools {

/// `shown` and `hidden` among the columns of all that follows from sweeps.
std::vector<Column> swept_columns(const std::vector<Column>& shown, const std::vector<Column>& hidden = {});

/// The cells of those that are not the caller's own.
Table::Row swept_row(const db::Swept& swept, const db::Device& device);

}  // namespace hone::tools
