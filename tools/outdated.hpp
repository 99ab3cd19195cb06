// Winners and bands that are no more, since the database itself has newer sources of their variants.
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

struct OutdatedBands {
  db::Sweep sweep;
  db::Id device;
  db::Configuration configuration;  ///< one that the sweep raced with another source
  db::Id measurement;               ///< of it
  Changed changed;
};

/// Of problems that have no winner any more.
std::vector<OutdatedWinner> outdated_winners(db::Store& store, const Filters& filters);

/// The newest sweep of each device, regime, family, element type and layout that has no bands any more.
std::vector<OutdatedBands> outdated_bands(db::Store& store, const Filters& filters);

/// One line on stderr where winners or bands that match were tuned with other sources than the database's
/// newest or those in `folders`, so that nobody takes them for never tuned.
void tell_outdated(db::Store& store, const Filters& filters, std::vector<TemplateFolder> folders);

}  // namespace hone::tools
