// hone query stale: winners that template edits, compilers and drivers have left behind.
#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/json.hpp"
#include "tools/staleness.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tools/winner_table.hpp"

namespace hone::tools {
namespace {

constexpr std::size_t shown_digits = 8;  ///< of a source's hash, for people

using Key = std::tuple<db::Id, db::Regime, db::Problem>;

std::vector<Column> columns() {
  return after_origin({{"type", "type"},
                       {"shape", "shape"},
                       {"alignment", "align"},
                       {"serves", "serves"},
                       {"changed", "changed"},
                       {"before", "before", Unit::none, false, true},
                       {"now", "now", Unit::none, false, true},
                       {"configuration", "", Unit::none, false, true},
                       {"tuned_us", "", Unit::date},
                       {"run", ""},
                       {"measurement", ""}});
}

struct Entry {
  const db::Problem& problem;
  const db::Device& device;
  db::Regime regime;
  const db::Configuration& configuration;
  const db::Id& run;
  const db::Id& measurement;
};

Table::Row row_of(const Entry& entry, const Changed& changed, bool serves) {
  Table::Row row = problem_row(entry.problem, entry.device, entry.regime);
  row.emplace_back("serves", yes_no(serves));
  row.emplace_back("changed", changed.what);
  const auto state = [&](const std::string& text) -> Cell {
    if (!db::Id::parse(text)) return text;
    return Structured{json_string(text), text.substr(0, shown_digits)};
  };
  row.emplace_back("before", state(changed.before));
  row.emplace_back("now", state(changed.now));
  row.emplace_back("configuration", entry.configuration.text());
  row.emplace_back("run", entry.run.hex());
  row.emplace_back("measurement", entry.measurement.hex());
  return row;
}

}  // namespace

int query_stale(const Arguments& arguments) {
  Options options(
      "query stale", "[FAMILY]", "hone query stale relu",
      "Shows what was tuned and is stale on this machine. A changed source is hard: such a winner serves "
      "nothing where that source is used, and `hone tune` searches again. A changed driver, compiler or "
      "firmware is soft: the winner goes on serving, and `hone tune --refresh` measures its finalists again. "
      "Devices that are not in this machine are compared by sources alone.");
  add_filter_flags(options);
  add_bounds_flag(options);
  add_template_flags(options);
  add_table_flags(options);
  if (!options.parse(arguments, 0, 1)) return exit_done;
  const TableStyle style = table_style(options);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters filters(options, store);
  Staleness staleness(store, template_folders_of(options));
  Table table("stale", columns());
  std::set<Key> served;
  for (const db::Winner& winner : store.winners(filters.filter())) {
    if (!filters.match(winner)) continue;
    served.emplace(winner.device, winner.regime, winner.problem);
    const Entry entry{winner.problem, filters.device(winner.device),
                      winner.regime,  winner.configuration,
                      winner.run,     winner.measurement};
    const auto add = [&](const Changed& changed, bool serves) {
      Table::Row row = row_of(entry, changed, serves);
      row.emplace_back("alignment", winner.alignment);
      row.emplace_back("tuned_us", winner.decided_us);
      table.add(row);
    };
    if (const auto changed =
            staleness.of_source(winner.problem.family, winner.configuration.variant, winner.source_hash))
      add(*changed, false);
    for (const Changed& changed : staleness.of_environment(winner.device, winner.environment))
      add(changed, true);
  }
  // Problems whose winners' sources the database itself has newer ones of: they have no winner any more.
  std::set<Key> told;
  std::map<std::string, std::vector<db::Template>> templates;  // by family
  for (const db::MeasuredRow& row : store.measurements(filters.filter())) {
    const db::Measurement& m = row.measurement;
    if (m.stage != db::Stage::race || m.outcome != db::Outcome::ok || !filters.match(row)) continue;
    const Key key{row.device.id(), m.regime, row.problem};
    if (served.contains(key) || told.contains(key)) continue;
    const auto [current_ones, is_new] = templates.try_emplace(row.problem.family);
    if (is_new) current_ones->second = store.templates(row.problem.family);
    for (const db::Template& current : current_ones->second) {
      if (current.variant != row.configuration.variant || current.source_hash == m.source_hash) continue;
      told.insert(key);
      Table::Row cells = row_of({row.problem, row.device, m.regime, row.configuration, m.run, m.id},
                                {"source", m.source_hash.hex(), current.source_hash.hex()}, false);
      cells.emplace_back("tuned_us", m.taken_us);
      table.add(cells);
      break;
    }
  }
  table.print(style);
  if (table.empty()) write_error(fmt::format("{}: nothing is stale", store.file().string()));
  return exit_done;
}

}  // namespace hone::tools
