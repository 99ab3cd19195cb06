// hone db diff: what another driver, compiler or template has made of the winners.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "db/ties.hpp"
#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/parse.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tools/winner_table.hpp"

namespace hone::tools {
namespace {

using Key = std::tuple<db::Id, db::Regime, db::Problem, std::int64_t>;  // the last: alignment

struct Pair {
  std::optional<db::Winner> before, after;
  db::Device device;
};

enum class Change { slower, vanished, appeared, faster, same };
constexpr const char* names[] = {"slower", "vanished", "appeared", "faster", "same"};
constexpr Mark marks[] = {Mark::bad, Mark::doubtful, Mark::none, Mark::good, Mark::none};

/// What two medians of different runs can tell: a difference beyond the bound of what ties.
Change change_of(const Pair& pair) {
  if (!pair.before) return Change::appeared;
  if (!pair.after) return Change::vanished;
  const db::Statistics& before = pair.before->statistics;
  const db::Statistics& after = pair.after->statistics;
  if (after.median > before.median) return db::ties(before, after) ? Change::same : Change::slower;
  return db::ties(after, before) ? Change::same : Change::faster;
}

void collect(std::map<Key, Pair>& pairs, db::Store& store, const Filters& filters,
             std::optional<db::Winner> Pair::*side) {
  for (db::Winner& winner : store.winners(filters.filter())) {
    if (!filters.match(winner)) continue;
    Pair& pair = pairs[{winner.device, winner.regime, winner.problem, winner.alignment}];
    pair.device = filters.device(winner.device);
    pair.*side = std::move(winner);
  }
}

std::vector<Column> columns() {
  return after_origin({{"type", "type"},
                       {"shape", "shape"},
                       {"alignment", "align", Unit::none, true},
                       {"change", "change"},
                       {"before_ns", "before", Unit::nanoseconds},
                       {"after_ns", "after", Unit::nanoseconds},
                       {"times_faster", "x faster"},
                       {"tie_bound", "", Unit::ratio},
                       {"before_configuration", "before by", Unit::none, false, true},
                       {"after_configuration", "after by", Unit::none, false, true},
                       {"before_run", "", Unit::id},
                       {"after_run", "", Unit::id},
                       {"before_measurement", "", Unit::id},
                       {"after_measurement", "", Unit::id}});
}

Table::Row row_of(const Pair& pair, Change change) {
  const db::Winner& any = pair.after ? *pair.after : *pair.before;
  Table::Row row = problem_row(any.problem, pair.device, any.regime);
  const auto put = [&](std::string_view key, Cell cell) { row.emplace_back(key, std::move(cell)); };
  put("alignment", any.alignment);
  put("change", std::string(names[static_cast<std::size_t>(change)]));
  if (pair.before) {
    put("before_ns", pair.before->statistics.median);
    put("before_configuration", pair.before->configuration.text());
    put("before_run", pair.before->run.hex());
    put("before_measurement", pair.before->measurement.hex());
  }
  if (pair.after) {
    put("after_ns", pair.after->statistics.median);
    if (!pair.before || pair.before->configuration != pair.after->configuration)
      put("after_configuration", pair.after->configuration.text());
    put("after_run", pair.after->run.hex());
    put("after_measurement", pair.after->measurement.hex());
  }
  if (pair.before && pair.after) {
    put("times_faster", pair.before->statistics.median / pair.after->statistics.median);
    put("tie_bound", db::tie_bound(pair.before->statistics, pair.after->statistics));
  }
  return row;
}

}  // namespace

int database_diff(const Arguments& arguments) {
  Options options(
      "db diff", "OLD NEW", "hone db diff before-upgrade.db after-upgrade.db",
      "Compares the winners of two databases, problem by problem: what got faster or slower by more than "
      "what counts as a tie, what appeared and what vanished. What ties is left out unless asked for. Exit "
      "code 1 when something got slower or nothing could be compared, so that a pipeline can stop an "
      "upgrade.");
  options.value("family", "F", "only this family");
  add_recorded_device_flag(options);
  options.list("dtype", "T", "only this element type").value("regime", "R", "only steady or cold");
  add_bounds_flag(options);
  options.flag("all", "also what ties");
  add_table_flags(options, columns());
  if (!options.parse(arguments, 2, 2)) return exit_done;
  const TableStyle style = table_style(options);

  std::map<Key, Pair> pairs;
  const std::string family = options.get("family", "");
  db::Store old_store = db::Store::open(options.positional()[0], db::Access::read_only);
  db::Store new_store = db::Store::open(options.positional()[1], db::Access::read_only);
  collect(pairs, old_store, Filters(options, old_store, family), &Pair::before);
  collect(pairs, new_store, Filters(options, new_store, family), &Pair::after);

  Table table("diff", columns());
  std::map<Change, std::int64_t> counts;
  for (const auto& [key, pair] : pairs) {
    const Change change = change_of(pair);
    ++counts[change];
    if (change != Change::same || options.has("all"))
      table.add(row_of(pair, change), {{"change", marks[static_cast<std::size_t>(change)]}});
  }
  if (!table.empty() || style.format != TableStyle::Format::table) table.print(style);
  if (style.format == TableStyle::Format::table) {
    std::string line;
    for (const Change change :
         {Change::faster, Change::slower, Change::same, Change::appeared, Change::vanished})
      line += fmt::format("{}{} {}", line.empty() ? "" : ", ", counts[change],
                          names[static_cast<std::size_t>(change)]);
    write_out(line + "\n");
  }
  const std::int64_t compared = counts[Change::faster] + counts[Change::slower] + counts[Change::same];
  if (compared == 0)
    write_error(fmt::format("{} and {}: no problem has a winner in both{}; nothing was compared",
                            old_store.file().string(), new_store.file().string(),
                            pairs.empty() ? " that matches" : ""));
  return counts[Change::slower] > 0 || compared == 0 ? exit_failed : exit_done;
}

}  // namespace hone::tools
