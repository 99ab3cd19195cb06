// hone query failures: configurations that did not pass, and why.
#include <fmt/format.h>

#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tools/winner_table.hpp"

namespace hone::tools {
namespace {

std::vector<Column> columns() {
  return {{"device", "device", Unit::none, true},
          {"backend", ""},
          {"architecture", ""},
          {"family", "family", Unit::none, true},
          {"regime", "regime", Unit::none, true},
          {"layout", "layout", Unit::none, true},
          {"type", "type"},
          {"shape", "shape"},
          {"outcome", "outcome"},
          {"configuration", "configuration", Unit::none, false, true},
          {"reason", "reason", Unit::none, false, true, true},
          {"taken_us", "", Unit::date},
          {"run", "", Unit::id},
          {"measurement", "", Unit::id}};
}

}  // namespace

int query_failures(const Arguments& arguments) {
  Options options(
      "query failures", "[FAMILY]", "hone query failures relu --dtype bf16",
      "Shows the configurations that did not compile, launch, end in time or compute the right values.");
  add_filter_flags(options);
  add_bounds_flag(options);
  add_table_flags(options, columns());
  if (!options.parse(arguments, 0, 1)) return exit_done;
  const TableStyle style = table_style(options);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters filters(options, store);
  Table table("failures", columns());
  db::Filter filter = filters.filter();
  filter.failed = true;
  for (const db::MeasuredRow& row : store.measurements(filter)) {
    const db::Measurement& measurement = row.measurement;
    if (!filters.match(row)) continue;
    Table::Row cells = problem_row(row.problem, row.device, measurement.regime);
    cells.emplace_back("outcome", std::string(db::name(measurement.outcome)));
    cells.emplace_back("configuration", row.configuration.text());
    cells.emplace_back("reason", measurement.reason);
    cells.emplace_back("taken_us", measurement.taken_us);
    cells.emplace_back("run", measurement.run.hex());
    cells.emplace_back("measurement", measurement.id.hex());
    table.add(cells, {{"outcome", Mark::bad}});
  }
  table.print(style);
  if (table.empty()) write_error(fmt::format("{}: no failure matches", store.file().string()));
  return exit_done;
}

}  // namespace hone::tools
