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

/// Configurations that decisions call tied, by measurement.
class TieNames {
 public:
  TieNames(db::Store& store, const db::Filter& filter) : store_(store) {
    for (const db::MeasuredRow& row : store.measurements(filter)) {
      names_.emplace(row.measurement.id, row.configuration.text());
    }
  }

  std::optional<Ties> of(const db::Winner& winner) {
    const auto decision = store_.decision(winner.decision);
    if (!decision) return std::nullopt;
    Ties ties{decision->tie_bound, {}};
    for (const db::Id& id : decision->tied) {
      const auto found = names_.find(id);
      if (found != names_.end() && id != winner.measurement) ties.with.push_back(found->second);
    }
    return ties;
  }

 private:
  db::Store& store_;
  std::map<db::Id, std::string> names_;
};

}  // namespace

int query_winners(const Arguments& arguments) {
  Options options(
      "query winners", "[FAMILY]", "hone query winners relu --dtype f16 --shape numel=1048576:16777216",
      "Shows the configuration that each tuned problem gets, with its time, the working set over the time, "
      "the interquartile range and how many others tie with it.");
  add_filter_flags(options);
  add_bounds_flag(options);
  options.value("show", "WHAT",
                "spread: n, minimum, quartiles, the tie bound and whom each winner ties with");
  add_table_flags(options);
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
  std::optional<TieNames> ties;
  if (spread) ties.emplace(store, filters.filter());
  Table table("winners", winner_columns(spread));
  for (const db::Winner& winner : winners) {
    table.add(winner_row(winner, filters.device(winner.device), working_sets.of(winner.problem),
                         ties ? ties->of(winner) : std::nullopt));
  }
  table.print(style);
  if (table.empty()) {
    write_error(fmt::format("{}: no winner matches; `hone tune FAMILY` finds them", store.file().string()));
  }
  tell_outdated(store, filters, template_folders({}));
  return exit_done;
}

}  // namespace hone::tools
