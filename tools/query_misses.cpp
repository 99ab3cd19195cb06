// hone query misses: what applications asked for and got no exact answer to.
#include <fmt/format.h>

#include "tools/exit_code.hpp"
#include "tools/misses.hpp"
#include "tools/table.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tools/winner_table.hpp"

namespace hone::tools {

int query_misses(const Arguments& arguments) {
  Options options(
      "query misses", "[FAMILY]", "hone query misses relu",
      "Shows the problems that applications asked for and got no exact answer to, most asked for first. "
      "`hone tune FAMILY --misses` tunes them.");
  add_table_flags(options);
  if (!options.parse(arguments, 0, 1)) return exit_done;
  const TableStyle style = table_style(options);

  const MissesRead read = read_misses(default_misses_folder());
  Table table("misses", {{"family", "family"},
                         {"regime", "regime", Unit::none, true},
                         {"layout", "layout", Unit::none, true},
                         {"type", "type"},
                         {"shape", "shape"},
                         {"alignment", "align"},
                         {"rung", "rung"},
                         {"count", "asked"},
                         {"newest_us", "newest", Unit::date},
                         {"device", ""}});
  for (const Miss& miss : read.misses) {
    if (!options.positional().empty() && miss.problem.family != options.positional()[0]) continue;
    table.add({{"family", miss.problem.family},
               {"regime", std::string(db::name(miss.regime))},
               {"layout", miss.problem.layout},
               {"type", miss.problem.element_type},
               {"shape", shape_cell(miss.problem)},
               {"alignment", miss.alignment},
               {"rung", std::string(name(miss.rung))},
               {"count", miss.count},
               {"newest_us", miss.newest_s * 1'000'000},
               {"device", miss.device.hex()}});
  }
  table.print(style);
  for (const std::string& fault : read.faults) write_error(fmt::format("hone: skipped {}", fault));
  if (table.empty()) write_error("no misses");
  return exit_done;
}

}  // namespace hone::tools
