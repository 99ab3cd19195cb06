// hone query winners: the configuration each problem gets.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/outdated.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tools/winner_table.hpp"
#include "tools/working_sets.hpp"

namespace hone::tools {
namespace {

/// What the winner's decision calls tied with it.
std::optional<Ties> ties_of(db::Store& store, const db::Winner& winner) {
  const auto decision = store.decision(winner.decision);
  if (!decision) return std::nullopt;
  Ties ties{decision->tie_bound, {}};
  for (const db::Id& id : decision->tied) {
    if (id == winner.measurement) continue;
    const auto measurement = store.measurement(id);
    const auto configuration = measurement ? store.configuration(measurement->configuration) : std::nullopt;
    if (configuration) ties.with.push_back(configuration->text());
  }
  return ties;
}

}  // namespace

int query_winners(const Arguments& arguments) {
  Options options(
      "query winners", "[FAMILY]", "hone query winners relu --dtype f16 --shape numel=1048576:16777216",
      "Shows the configuration that each tuned problem gets, with its time, the working set over the time, "
      "the interquartile range and how many others tie with it.");
  add_filter_flags(options);
  add_bounds_flag(options);
  options.value("show", "WHAT", "spread: n, minimum, quartiles, the tie bound and whom each winner ties with",
                {"spread"});
  add_table_flags(options, winner_columns(false));
  if (!options.parse(arguments, 0, 1)) return exit_done;
  const TableStyle style = table_style(options);
  const bool spread =
      options.has("show") && parse_choice("--show", options.get("show", ""), {"spread"}) == "spread";

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters filters(options, store);
  std::vector<db::Winner> winners = store.winners(filters.filter());
  std::erase_if(winners, [&](const db::Winner& winner) { return !filters.match(winner); });
  std::stable_sort(winners.begin(), winners.end(), [](const db::Winner& a, const db::Winner& b) {
    return std::tie(a.device, a.regime, a.problem, a.alignment) <
           std::tie(b.device, b.regime, b.problem, b.alignment);
  });
  WorkingSets working_sets(store);
  Table table("winners", winner_columns(spread));
  for (const db::Winner& winner : winners) {
    table.add(winner_row(winner, filters.device(winner.device), working_sets.of(winner.problem),
                         spread ? ties_of(store, winner) : std::nullopt));
  }
  table.print(style);
  if (table.empty()) {
    write_error(fmt::format("{}: no winner matches; `hone tune FAMILY` finds them", store.file().string()));
  }
  tell_outdated(store, filters, template_folders({}));
  return exit_done;
}

}  // namespace hone::tools
