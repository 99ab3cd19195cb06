// hone query runs: the runs of the tuner, newest first.
#include <fmt/format.h>

#include <set>

#include "db/store.hpp"
#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/json.hpp"
#include "tools/table.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {
namespace {

std::vector<Column> columns() {
  return {{"started_us", "started", Unit::date},
          {"device", "device", Unit::none, true},
          {"ended", "ended"},
          {"command", "command", Unit::none, false, true},
          {"run", "", Unit::id},
          {"seed", ""},
          {"hone_version", ""},
          {"settings", ""},
          {"environment", ""}};
}

}  // namespace

int query_runs(const Arguments& arguments) {
  Options options(
      "query runs", "[FAMILY]", "hone query runs --limit 10",
      "Shows the runs of the tuner, newest first, with the command that repeats each and its environment: "
      "all, or those that measured something that matches.");
  add_filter_flags(options);
  add_bounds_flag(options);
  add_table_flags(options, columns());
  if (!options.parse(arguments, 0, 1)) return exit_done;
  const TableStyle style = table_style(options);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  Table table("runs", columns());
  const auto cell = [](const std::map<std::string, std::string>& items) {
    std::string text;
    for (const auto& [name, value] : items)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    return Structured{json_object({items.begin(), items.end()}), text};
  };
  const Filters filters(options, store);
  // A run has a device and a time; what else it was about its measurements say.
  const bool by_measurements =
      !filters.family().empty() || options.has("dtype") || options.has("regime") || options.has("shape");
  std::set<db::Id> measured;
  if (by_measurements) measured = store.runs_of(filters.filter());
  for (const auto& [run, ended] : store.runs()) {
    if (by_measurements && !measured.contains(run.id)) continue;
    if (!filters.match_device(run.device) || !filters.match(run.id, run.started_us)) continue;
    const auto device = store.device(run.device);
    const auto environment = store.environment(run.environment);
    table.add({{"started_us", run.started_us},
               {"device", device ? Cell{device->name} : Cell{}},
               {"ended", ended.empty() ? Cell{Structured{"null", "did not end"}} : Cell{ended}},
               {"command", run.command},
               {"run", run.id.hex()},
               {"seed", run.seed},
               {"hone_version", run.hone_version},
               {"settings", cell(run.settings)},
               {"environment", environment ? Cell{cell(environment->items)} : Cell{}}});
  }
  table.print(style);
  if (table.empty()) write_error(fmt::format("{}: no run matches", store.file().string()));
  return exit_done;
}

}  // namespace hone::tools
