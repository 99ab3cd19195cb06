// hone query ladder: the manifest's named points, and what each step is worth.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/json.hpp"
#include "tools/measured.hpp"
#include "tools/outdated.hpp"
#include "tools/peaks.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tools/winner_table.hpp"

namespace hone::tools {
namespace {

std::vector<Column> columns() {
  return after_origin({{"type", "type", Unit::none, true},
                       {"shape", "shape", Unit::none, true},
                       {"working_set_bytes", "traffic", Unit::bytes, true},
                       {"peak", "peak", Unit::none, true},
                       {"point", "point"},
                       {"median_ns", "median", Unit::nanoseconds},
                       {"gb_per_s", "GB/s"},
                       {"of_peak", "of peak", Unit::ratio},
                       {"times_baseline", "x baseline"},
                       {"times_previous", "x previous"},
                       {"configuration", "", Unit::none, false, true},
                       {"variant", ""},
                       {"parameters", ""},
                       {"best_of", ""},
                       {"peak_gb_per_s", ""},
                       {"peak_measurement", "", Unit::id},
                       {"measurement", "", Unit::id},
                       {"run", "run", Unit::id, true}});
}

void add_ladder(Table& table, const MeasuredProblem& measured, const Family& family, const FastestFirst& race,
                const std::optional<MemoryPeak>& peak) {
  std::optional<double> baseline, previous;  // nanoseconds
  for (const LadderPoint& point : family.ladder) {
    Table::Row cells = problem_row(measured.problem, measured.device, measured.regime);
    const auto put = [&](std::string_view key, Cell cell) { cells.emplace_back(key, std::move(cell)); };
    const bool has_traffic = measured.working_set > 0;
    if (has_traffic) put("working_set_bytes", measured.working_set);
    put("point", point.name);
    put("variant", point.variant);
    put("best_of", Structured{json_array(point.best_of), fmt::format("{}", fmt::join(point.best_of, " "))});
    put("run", race.front()->measurement.run.hex());
    if (peak) {
      put("peak", peak->text());
      put("peak_gb_per_s", peak->gb_per_s);
      if (peak->measurement) put("peak_measurement", peak->measurement->hex());
    }
    if (const db::MeasuredRow* row = fastest_at(point, race)) {
      const double median = row->measurement.statistics.median;
      if (!baseline) baseline = median;
      put("median_ns", median);
      if (has_traffic) put("gb_per_s", measured.gb_per_s(*row));
      if (peak && has_traffic) put("of_peak", measured.gb_per_s(*row) / peak->gb_per_s);
      put("times_baseline", *baseline / median);
      if (previous) put("times_previous", *previous / median);
      put("configuration", row->configuration.text());
      put("parameters", parameters_cell(row->configuration));
      put("measurement", row->measurement.id.hex());
      previous = median;
    }
    table.add(cells);
  }
}

/// How a device gets the peak that ladders compare with.
void tell_no_peak(const db::Store& store, const db::Device& device) {
  const auto command = [&](const char* verb, Arguments words) {
    return command_line_on(store.file(), verb, std::move(words));
  };
  std::string line =
      fmt::format("{}: the peak of the memory of {} is not known: ", store.file().string(), device.name);
  if (device.last_level_cache_bytes > 0) {
    // A power of two, which a problem moves to the byte.
    const auto bytes = std::bit_ceil(static_cast<std::uint64_t>(Peaks::least_working_set(device)));
    line += fmt::format("`{}` measures it, ", command("tune", {"copy", "--device", device.name, "--sweep",
                                                               fmt::format("{0}:{0}", bytes)}));
  }
  write_error(line + fmt::format("`{}` gives it", command("db peak", {device.name, "RATE"})));
}

}  // namespace

int query_ladder(const Arguments& arguments) {
  Options options(
      "query ladder", "FAMILY", "hone query ladder relu --dtype f16 --shape numel=16777216",
      "Shows the named points of a family's manifest in order, as the newest race of each problem measured "
      "them, and what each is worth: against the first one measured (x baseline) and against the one "
      "measured "
      "before it (x previous). The memory's peak is the one given by `hone db peak`, else the most that the "
      "family copy reached over at least 8 times the last-level cache; what stays in the cache may pass it.");
  add_filter_flags(options);
  add_bounds_flag(options);
  add_table_flags(options, columns());
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const TableStyle style = table_style(options);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters filters(options, store);
  const Family family = tuned_family(store, options.positional()[0]);
  if (family.ladder.empty())
    throw Error(ErrorCode::invalid, fmt::format("{}: its manifest names no points of a ladder", family.name));
  Peaks peaks(store);
  Table table("ladder", columns());
  std::map<db::Id, db::Device> without_peak;
  for (const MeasuredProblem& measured : measured_problems(store, filters, family, true)) {
    const FastestFirst race = newest_race(store, measured);
    if (race.empty()) continue;
    const auto& peak = peaks.of(measured.device);
    add_ladder(table, measured, family, race, peak);
    if (!peak && measured.working_set > 0) without_peak.emplace(measured.device.id(), measured.device);
  }
  table.print(style);
  for (const auto& [id, device] : without_peak) tell_no_peak(store, device);
  if (table.empty()) {
    write_error(fmt::format("{}: no race of these sources matches; `hone tune {}` runs them",
                            store.file().string(), family.name));
  }
  tell_outdated(store, filters, template_folders({}));
  return exit_done;
}

}  // namespace hone::tools
