// hone query stale: winners that template edits, compilers and drivers have left behind.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/outdated.hpp"
#include "tools/staleness.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tools/winner_table.hpp"

namespace hone::tools {
namespace {

std::vector<Column> columns() {
  return after_origin({{"type", "type"},
                       {"shape", "shape"},
                       {"alignment", "align"},
                       {"serves", "serves"},
                       {"changed", "changed"},
                       {"before", "before", Unit::id, false, true},
                       {"now", "now", Unit::id, false, true},
                       {"configuration", "", Unit::none, false, true},
                       {"tuned_us", "", Unit::date},
                       {"run", "", Unit::id},
                       {"measurement", "", Unit::id},
                       {"what", ""}});
}

/// A winner, or what a sweep gave, and one thing that has changed since.
struct Entry {
  db::Id device;
  db::Regime regime;
  const char* what;        ///< `winner`, `bands`, `portfolio`
  db::Problem problem;     ///< of bands and portfolios: without dimensions
  std::int64_t alignment;  ///< of bands and portfolios: 0
  Changed changed;
  db::Configuration configuration;
  std::int64_t tuned_us;
  db::Id run, measurement;

  auto order() const { return std::tie(device, regime, problem, alignment, changed.what); }
};

std::vector<Entry> entries_of(db::Store& store, const Filters& filters, std::vector<TemplateFolder> folders) {
  Staleness staleness(store, std::move(folders));
  std::vector<Entry> entries;
  for (const db::Winner& winner : store.winners(filters.filter())) {
    if (!filters.match(winner)) continue;
    const auto add = [&](const Changed& changed) {
      entries.push_back({winner.device, winner.regime, "winner", winner.problem, winner.alignment, changed,
                         winner.configuration, winner.decided_us, winner.run, winner.measurement});
    };
    if (const auto changed =
            staleness.of_source(winner.problem.family, winner.configuration.variant, winner.source_hash))
      add(*changed);
    else if (const auto grown = staleness.of_space(winner))
      add(*grown);
    for (const Changed& changed : staleness.of_environment(winner.device, winner.environment)) add(changed);
  }
  std::set<db::Id> told;  // sweeps
  each_swept(store, filters.filter(), [&](const auto& derived, bool of_portfolio) {
    const db::Problem any{derived.family, derived.element_type, derived.layout, {}};
    if (!filters.match(derived)) return;
    if (const auto changed =
            staleness.of_source(derived.family, derived.configuration.variant, derived.source_hash);
        changed && told.insert(derived.sweep).second)
      entries.push_back({derived.device, derived.regime, of_portfolio ? "portfolio" : "bands", any, 0,
                         *changed, derived.configuration, derived.swept_us, derived.run,
                         derived.measurement});
  });
  for (const OutdatedWinner& winner : outdated_winners(store, filters)) {
    const db::Measurement& m = winner.row.measurement;
    entries.push_back({winner.row.device.id(), m.regime, "winner", winner.row.problem, winner.alignment,
                       winner.changed, winner.row.configuration, m.taken_us, m.run, m.id});
  }
  for (const OutdatedSweep& outdated : outdated_sweeps(store, filters)) {
    const db::Sweep& sweep = outdated.sweep;
    entries.push_back({outdated.device,
                       sweep.regime,
                       outdated.across_problems ? "portfolio" : "bands",
                       {sweep.family, sweep.element_type, sweep.layout, {}},
                       0,
                       outdated.changed,
                       outdated.configuration,
                       sweep.swept_us,
                       sweep.run,
                       outdated.measurement});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.order() < b.order(); });
  return entries;
}

Table::Row row_of(const Entry& entry, const db::Device& device) {
  const bool is_winner = entry.alignment > 0;
  Table::Row row = problem_row(entry.problem, device, entry.regime);
  if (is_winner)
    row.emplace_back("alignment", entry.alignment);
  else
    row.emplace_back("shape", Structured{"null", entry.what});
  row.emplace_back("serves", yes_no(entry.changed.serves));
  row.emplace_back("changed", entry.changed.what);
  row.emplace_back("before", entry.changed.before);
  row.emplace_back("now", entry.changed.now);
  row.emplace_back("configuration", entry.configuration.text());
  row.emplace_back("tuned_us", entry.tuned_us);
  row.emplace_back("run", entry.run.hex());
  row.emplace_back("measurement", entry.measurement.hex());
  row.emplace_back("what", std::string(entry.what));
  return row;
}

}  // namespace

int query_stale(const Arguments& arguments) {
  Options options(
      "query stale", "[FAMILY]", "hone query stale relu",
      "Shows winners, bands and portfolios that are stale on this machine, and whether they serve. A "
      "source that has changed, here or in a newer tuning, makes `hone tune` search again; where the "
      "database "
      "has the newer one, or --templates or HONE_TEMPLATES names its folder, what is stale serves nothing. A "
      "changed driver, compiler or firmware is soft: the winner goes on serving, and `hone tune --refresh` "
      "measures its finalists again. So is a space that has grown: `hone tune` tries what is new. Devices "
      "that are not in this machine are compared by sources alone.");
  add_filter_flags(options);
  add_bounds_flag(options);
  add_template_flags(options);
  add_table_flags(options, columns());
  if (!options.parse(arguments, 0, 1)) return exit_done;
  const TableStyle style = table_style(options);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters filters(options, store);
  Table table("stale", columns());
  for (const Entry& entry : entries_of(store, filters, template_folders_of(options)))
    table.add(row_of(entry, filters.device(entry.device)),
              {{"serves", entry.changed.serves ? Mark::doubtful : Mark::bad}});
  table.print(style);
  if (table.empty()) write_error(fmt::format("{}: nothing is stale", store.file().string()));
  return exit_done;
}

}  // namespace hone::tools
