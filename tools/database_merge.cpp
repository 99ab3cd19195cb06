// hone db merge: one database of a fleet's.
#include <fmt/format.h>

#include "db/store.hpp"
#include "db/ties.hpp"
#include "hone/error.hpp"
#include "runtime/plural.hpp"
#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/outdated.hpp"
#include "tools/table.hpp"
#include "tools/terminal.hpp"
#include "tools/text.hpp"
#include "tools/units.hpp"
#include "tools/verbs.hpp"
#include "tools/winner_table.hpp"

namespace hone::tools {
namespace {

std::vector<Column> columns() {
  return after_origin({{"type", "type"},
                       {"shape", "shape"},
                       {"alignment", "align"},
                       {"database", "database"},
                       {"median_ns", "its median", Unit::nanoseconds},
                       {"spread", "spread", Unit::ratio},
                       {"served_ns", "served", Unit::nanoseconds},
                       {"served_spread", "spread", Unit::ratio},
                       {"tie", "tie"},
                       {"configuration", "its winner", Unit::none, false, true},
                       {"served_configuration", "served instead", Unit::none, false, true},
                       {"tuned_us", "", Unit::date},
                       {"run", "", Unit::id},
                       {"measurement", "", Unit::id},
                       {"served_run", "", Unit::id},
                       {"served_measurement", "", Unit::id}});
}

bool tie(const db::Statistics& a, const db::Statistics& b) {
  return a.median <= b.median ? db::ties(a, b) : db::ties(b, a);
}

Table::Row row_of(const db::Conflict& conflict) {
  const db::Winner& winner = conflict.winner;
  Table::Row row = problem_row(winner.problem, conflict.device, winner.regime);
  const auto put = [&](std::string_view key, Cell cell) { row.emplace_back(key, std::move(cell)); };
  const auto spread = [](const db::Statistics& s) { return s.spread() / s.median; };
  put("alignment", winner.alignment);
  put("database", conflict.file.string());
  put("median_ns", winner.statistics.median);
  put("spread", spread(winner.statistics));
  put("configuration", winner.configuration.text());
  put("tuned_us", winner.decided_us);
  put("run", winner.run.hex());
  put("measurement", winner.measurement.hex());
  if (!conflict.served) {
    put("served_configuration", Structured{"null", "none: its source is no longer current"});
    return row;
  }
  const db::Winner& served = *conflict.served;
  put("served_ns", served.statistics.median);
  put("served_spread", spread(served.statistics));
  put("tie", yes_no(tie(winner.statistics, served.statistics)));
  put("served_configuration", served.configuration.text());
  put("served_run", served.run.hex());
  put("served_measurement", served.measurement.hex());
  return row;
}

}  // namespace

int database_merge(const Arguments& arguments) {
  Options options(
      "db merge", "FILE...", "hone db merge node1.db node2.db -o fleet.db",
      "Makes one database of all that several recorded, packs among them: every measurement, decision and "
      "sweep "
      "with its run and environment, each once. Winners and bands are derived again: the newest decision "
      "whose "
      "source is current serves; what only older sources won is counted. The order of the files does not "
      "matter, and they are left as they are. "
      "Shows "
      "where they had different winners for one problem: each that is not served, beside the one that is.");
  options.value("output,o", "FILE", "the database to write, which must not exist");
  add_table_flags(options, columns());
  if (!options.parse(arguments, 1, 1000)) return exit_done;
  const TableStyle style = table_style(options);
  if (!options.has("output"))
    throw Error(ErrorCode::invalid,
                "db merge: give the file to write, as in `hone db merge a.db b.db -o c.db`");
  const std::filesystem::path to = options.get("output", "");
  const std::vector<std::filesystem::path> files(options.positional().begin(), options.positional().end());
  const db::MergeReport report = db::Store::merge(files, to);

  Table table("merge", columns());
  for (const db::Conflict& conflict : report.conflicts) table.add(row_of(conflict));
  const bool people = style.format == TableStyle::Format::table;
  if (!table.empty() || !people) table.print(style);
  const std::string line =
      fmt::format("{}: {} of {} ({} in more than one), {}, {}, {}, {} in conflict", to.string(),
                  plural(report.rows, "record"), plural(files.size(), "database"), report.repeated,
                  plural(report.winners, "winner"), plural(report.bands, "band"),
                  plural(report.portfolios, "portfolio"), report.conflicts.size());
  if (people)
    for (const std::string& part : wrapped(line, static_cast<std::size_t>(width_of(Stream::out))))
      write_out(part + "\n");
  else
    write_error(line);
  db::Store merged = db::Store::open(to, db::Access::read_only);
  tell_outdated(merged, Filters(merged, "", {}, std::nullopt), {});
  return exit_done;
}

}  // namespace hone::tools
