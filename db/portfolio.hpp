// Portfolios, derived from sweeps across problems of several dimensions: the configurations that tie with the
// best at one or more of the problems, with what each costs at all of them, for the runtime to choose by.
#pragma once

#include <vector>

#include "db/swept.hpp"

namespace hone::db::portfolio {

/// The table's columns of those that, at some point, tie with the best for pointers aligned to `alignment`
/// bytes. Fewer would do at the points themselves, and not between them: where a configuration is legal, and
/// how its blocks fill the device, changes from problem to problem. Pure: the same costs give the same ones.
std::vector<std::size_t> choose(const CostTable& costs, std::int64_t alignment);

/// The rows that a sweep asks for.
std::vector<derived::DerivedRow> derive(const swept::Measured& measured, Lookup& lookup);

/// A row of the table.
PortfolioMember read(const sqlite::Statement& row, Lookup& lookup);

}  // namespace hone::db::portfolio
