// Winners, bands and portfolios that are no more, since the database itself has newer sources of their
// variants.
#pragma once

#include <vector>

#include "db/store.hpp"
#include "tools/filters.hpp"
#include "tools/staleness.hpp"

namespace hone::tools {

struct OutdatedWinner {
  db::MeasuredRow row;         ///< as the newest race of its problem measured it
  std::int64_t alignment = 1;  ///< the class it was the fastest of, bytes
  Changed changed;
};

struct OutdatedSweep {
  db::Sweep sweep;
  bool across_problems = false;  ///< it gave a portfolio; else bands
  db::Id device;
  db::Configuration configuration;  ///< one that the sweep raced with another source
  db::Id measurement;               ///< of it
  Changed changed;
};

/// Of problems that have no winner any more.
std::vector<OutdatedWinner> outdated_winners(db::Store& store, const Filters& filters);

/// The newest sweep of each device, regime, family, element type and layout that nothing follows from any
/// more.
std::vector<OutdatedSweep> outdated_sweeps(db::Store& store, const Filters& filters);

/// Each band and each portfolio's member that `filter` lets through: `visit(derived, whether of a
/// portfolio)`.
void each_swept(db::Store& store, const db::Filter& filter, const auto& visit) {
  for (const db::Band& band : store.bands(filter)) visit(band, false);
  for (const db::PortfolioMember& member : store.portfolio(filter)) visit(member, true);
}

/// One line on stderr where winners, bands or portfolios that match were tuned with other sources than the
/// database's newest or those in `folders`, so that nobody takes them for never tuned.
void tell_outdated(db::Store& store, const Filters& filters, std::vector<TemplateFolder> folders);

}  // namespace hone::tools
