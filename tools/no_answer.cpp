#include "tools/no_answer.hpp"

#include <fmt/format.h>

#include "runtime/plural.hpp"
#include "tools/outdated.hpp"
#include "tools/staleness.hpp"
#include "tools/units.hpp"

namespace hone::tools {
namespace {

/// What databases have for a call's family and element type on its device.
struct Stock {
  bool recorded = false;   ///< problems, of any device
  bool decided = false;    ///< winners, though perhaps of sources that are no more
  std::int64_t stale = 0;  ///< winners, bands and portfolios that a folder's source keeps from serving
  bool fresh = false;      ///< others, and checked defaults
};

void take_stock(Stock& stock, db::Store& store, const db::Filter& filter,
                const std::vector<std::string>& templates) {
  Staleness staleness(store, template_folders(templates));
  const auto count = [&](const db::Configuration& configuration, const db::Id& source_hash) {
    const auto changed = staleness.of_source(configuration.family, configuration.variant, source_hash);
    const bool serves = !changed || changed->serves;
    stock.stale += serves ? 0 : 1;
    stock.fresh = stock.fresh || serves;
  };
  for (const db::Winner& winner : store.winners(filter)) count(winner.configuration, winner.source_hash);
  each_swept(store, filter,
             [&](const auto& derived, bool) { count(derived.configuration, derived.source_hash); });
  for (const db::CheckedDefault& checked : store.defaults(*filter.device))
    if (checked.family == filter.family && checked.element_type == filter.element_type)
      count(checked.configuration, checked.source_hash);
  stock.recorded = stock.recorded || !store.problems(filter).empty();
  stock.decided = stock.decided || !store.choices(filter).empty();
}

}  // namespace

std::string why_nothing(const Pick& pick, const std::set<std::string>& files, const db::Filter& filter,
                        const std::vector<std::string>& templates) {
  Stock stock;
  for (const std::string& file : files) {
    db::Store store = db::Store::open(file, db::Access::read_only);
    take_stock(stock, store, filter, templates);
  }
  const std::string what = filter.family + " " + filter.element_type;
  if (stock.fresh) {
    std::string why(pick.why());
    why = why.substr(0, why.find("; run `"));
    if (stock.stale > 0) why += fmt::format("; {} beside is stale", plural(stock.stale, "record"));
    return why;
  }
  if (stock.stale > 0)
    return fmt::format("all of {} here is stale, tuned with other sources than those of {}: {}", what,
                       fmt::join(named_folders(templates), ", "), plural(stock.stale, "record"));
  if (stock.decided) return fmt::format("no winner of {} is of the newest sources", what);
  return fmt::format("{} {} on this device in the {} regime", what,
                     stock.recorded ? "has no winner" : "was never tuned", db::name(*filter.regime));
}

}  // namespace hone::tools
