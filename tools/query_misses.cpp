// hone query misses: what applications asked for and got no exact answer to.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/device.hpp"
#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/misses.hpp"
#include "tools/table.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tools/winner_table.hpp"
#include "tuner/clock.hpp"

namespace hone::tools {
namespace {

/// Which misses are asked for. They are of no database, so that devices are this machine's.
class Wanted {
 public:
  explicit Wanted(const Options& options) : types_(element_types_of(options)) {
    if (!options.positional().empty()) family_ = options.positional()[0];
    if (options.has("regime")) regime_ = parse_regime("--regime", options.get("regime", ""));
    if (options.has("since")) since_us_ = parse_moment("--since", options.get("since", ""), tuner::now_us());
    for (const std::string& text : options.all("shape")) shapes_.push_back(parse_bounds("--shape", text));
    if (!options.has("device")) return;
    devices_.emplace();
    for (const DeviceInfo& device : choose_devices(options.get("device", "")))
      devices_->push_back(device.record().id());
  }

  bool match(const Miss& miss) const {
    const auto is_in = [](const auto& range, const auto& value) {
      return std::find(range.begin(), range.end(), value) != range.end();
    };
    return (family_.empty() || miss.problem.family == family_) &&
           (types_.empty() || is_in(types_, miss.problem.element_type)) &&
           (!regime_ || miss.regime == *regime_) && (!since_us_ || miss.newest_s * 1'000'000 >= *since_us_) &&
           (!devices_ || is_in(*devices_, miss.device)) &&
           (shapes_.empty() || std::any_of(shapes_.begin(), shapes_.end(),
                                           [&](const auto& bounds) { return within(miss.problem, bounds); }));
  }

 private:
  std::string family_;
  std::vector<std::string> types_;
  std::optional<db::Regime> regime_;
  std::optional<std::int64_t> since_us_;
  std::vector<std::vector<Bound>> shapes_;
  std::optional<std::vector<db::Id>> devices_;
};

std::vector<Column> columns() {
  return {{"family", "family"},
          {"regime", "regime", Unit::none, true},
          {"layout", "layout", Unit::none, true},
          {"type", "type"},
          {"shape", "shape"},
          {"alignment", "align"},
          {"rung", "rung"},
          {"count", "asked"},
          {"newest_us", "newest", Unit::date},
          {"device", ""}};
}

}  // namespace

int query_misses(const Arguments& arguments) {
  Options options(
      "query misses", "[FAMILY]", "hone query misses relu",
      "Shows the problems that applications asked for and got no exact answer to, most asked for first. "
      "`hone tune FAMILY --misses` tunes them.");
  options.value("device", "D", "only devices of this machine of this backend, architecture or part of a name")
      .list("dtype", "T", "only this element type")
      .value("regime", "R", "only steady or cold")
      .value("since", "WHEN", "only what is as new: 2026-11-30, \"2026-11-30 14:05\", or 2h or 3d ago");
  add_bounds_flag(options);
  add_table_flags(options, columns());
  if (!options.parse(arguments, 0, 1)) return exit_done;
  const TableStyle style = table_style(options);
  const Wanted wanted(options);

  const MissesRead read = read_misses(default_misses_folder());
  Table table("misses", columns());
  for (const Miss& miss : read.misses) {
    if (!wanted.match(miss)) continue;
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
  if (table.empty()) write_error(read.misses.empty() ? "no misses" : "no miss matches");
  return exit_done;
}

}  // namespace hone::tools
