// hone query runs: every run of the tuner, newest first.
#include <fmt/format.h>

#include "db/store.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/json.hpp"
#include "tools/table.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {

int query_runs(const Arguments& arguments) {
  Options options(
      "query runs", "", "hone query runs --limit 10",
      "Shows every run of the tuner, newest first, with the command that repeats it and its environment.");
  add_database_flag(options);
  add_table_flags(options);
  if (!options.parse(arguments, 0, 0)) return exit_done;
  const TableStyle style = table_style(options);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  Table table("runs", {{"started_us", "started", Unit::date},
                       {"device", "device", Unit::none, true},
                       {"ended", "ended"},
                       {"command", "command", Unit::none, false, true},
                       {"run", ""},
                       {"seed", ""},
                       {"hone_version", ""},
                       {"settings", ""},
                       {"environment", ""}});
  const auto cell = [](const std::map<std::string, std::string>& items) {
    std::string text;
    for (const auto& [name, value] : items)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    return Structured{json_object({items.begin(), items.end()}), text};
  };
  for (const auto& [run, ended] : store.runs()) {
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
  if (table.empty()) write_error(fmt::format("{}: no runs", store.file().string()));
  return exit_done;
}

}  // namespace hone::tools
