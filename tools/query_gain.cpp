// hone query gain: what one value of a parameter is worth against another, by total traffic.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/json.hpp"
#include "tools/measured.hpp"
#include "tools/outdated.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tools/where.hpp"
#include "tools/winner_table.hpp"

namespace hone::tools {
namespace {

/// Two values of a parameter.
struct Step {
  std::string parameter;
  db::Value from, to;
};

Step step_of(const Options& options, const Where& where) {
  if (!options.has("parameter") || !options.has("from") || !options.has("to")) {
    throw Error(
        ErrorCode::invalid,
        "query gain needs --parameter, --from and --to; for example `--parameter store --from default "
        "--to nt`");
  }
  Step step;
  step.parameter = options.get("parameter", "");
  const std::vector<db::Value> known = where.values("--parameter", step.parameter);
  step.from = parse_parameter_value("--from", options.get("from", ""), known);
  step.to = parse_parameter_value("--to", options.get("to", ""), known);
  if (step.from == step.to)
    throw Error(ErrorCode::invalid, fmt::format("query gain: --from and --to are both `{}`; give two values",
                                                db::to_string(step.to)));
  return step;
}

/// The fastest with each value.
struct Compared {
  const db::MeasuredRow* from = nullptr;
  const db::MeasuredRow* to = nullptr;
  bool one_race = false;
};

Compared fastest_of(const FastestFirst& rows, const Step& step, const Where& where) {
  Compared fastest;
  for (const db::MeasuredRow* row : rows) {
    if (!where.match(row->configuration)) continue;
    const auto value = value_of(row->configuration, step.parameter);
    if (fastest.from == nullptr && value == step.from) fastest.from = row;
    if (fastest.to == nullptr && value == step.to) fastest.to = row;
  }
  return fastest;
}

/// Out of one race where both came through it, since only those are quite comparable.
Compared compare(db::Store& store, const MeasuredProblem& measured, const Step& step, const Where& where) {
  Compared raced = fastest_of(newest_race(store, measured), step, where);
  raced.one_race = raced.from != nullptr && raced.to != nullptr;
  return raced.one_race ? raced : fastest_of(each_configuration(measured), step, where);
}

std::vector<Column> columns(const Step& step) {
  const std::string from = db::to_string(step.from), to = db::to_string(step.to);
  return after_origin({{"parameter", "parameter", Unit::none, true},
                       {"over", "best of", Unit::none, true},
                       {"where", "where", Unit::none, true},
                       {"type", "type"},
                       {"shape", "shape"},
                       {"working_set_bytes", "traffic", Unit::bytes},
                       {"from", ""},
                       {"from_gb_per_s", from + " GB/s"},
                       {"to", ""},
                       {"to_gb_per_s", to + " GB/s"},
                       {"gain", "gain", Unit::ratio},
                       {"from_median_ns", "", Unit::nanoseconds},
                       {"to_median_ns", "", Unit::nanoseconds},
                       {"samples", "samples", Unit::none, true},
                       {"from_stage", ""},
                       {"to_stage", ""},
                       {"from_configuration", "", Unit::none, false, true},
                       {"to_configuration", "", Unit::none, false, true},
                       {"from_run", "", Unit::id},
                       {"to_run", "", Unit::id},
                       {"from_measurement", "", Unit::id},
                       {"to_measurement", "", Unit::id}});
}

}  // namespace

int query_gain(const Arguments& arguments) {
  Options options(
      "query gain", "FAMILY", "hone query gain relu --parameter store --from default --to nt --dtype f16",
      "Shows by total traffic what one value of a parameter is worth against another: the fastest "
      "configuration measured with each, whatever its other parameters. Both are of the newest race where "
      "both "
      "came through it; else a configuration counts by the newest race it was in or by its first look.");
  options.value("parameter", "NAME", "the parameter, or variant")
      .value("from", "VALUE", "its value before")
      .value("to", "VALUE", "its value after");
  add_where_flag(options);
  add_filter_flags(options);
  add_bounds_flag(options);
  add_table_flags(options);
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const TableStyle style = table_style(options);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters filters(options, store);
  const Family family = tuned_family(store, options.positional()[0]);
  const Where where(options, family);
  const Step step = step_of(options, where);
  const std::vector<std::string> open = where.open_but({step.parameter});
  const Structured over{json_array(open), fmt::format("{}", fmt::join(open, " "))};
  Table table("gain", columns(step));
  for (const MeasuredProblem& measured : measured_problems(store, filters, family)) {
    const auto [from, to, one_race] = compare(store, measured, step, where);
    if (from == nullptr && to == nullptr) continue;
    Table::Row line = problem_row(measured.problem, measured.device, measured.regime);
    const auto put = [&](std::string_view key, Cell cell) { line.emplace_back(key, std::move(cell)); };
    put("parameter", step.parameter);
    put("over", over);
    put("where", where.text());
    put("working_set_bytes", measured.working_set);
    put("samples", std::string(one_race ? "one race" : "races and first looks"));
    put("from", db::to_string(step.from));
    put("to", db::to_string(step.to));
    if (from != nullptr) {
      put("from_gb_per_s", measured.gb_per_s(*from));
      put("from_median_ns", from->measurement.statistics.median);
      put("from_stage", std::string(db::name(from->measurement.stage)));
      put("from_configuration", from->configuration.text());
      put("from_run", from->measurement.run.hex());
      put("from_measurement", from->measurement.id.hex());
    }
    if (to != nullptr) {
      put("to_gb_per_s", measured.gb_per_s(*to));
      put("to_median_ns", to->measurement.statistics.median);
      put("to_stage", std::string(db::name(to->measurement.stage)));
      put("to_configuration", to->configuration.text());
      put("to_run", to->measurement.run.hex());
      put("to_measurement", to->measurement.id.hex());
    }
    if (from != nullptr && to != nullptr)
      put("gain", from->measurement.statistics.median / to->measurement.statistics.median - 1);
    table.add(line);
  }
  table.print(style);
  if (table.empty()) {
    write_error(fmt::format("{}: no measurement matches; `hone tune {}` takes them", store.file().string(),
                            family.name));
  }
  tell_outdated(store, filters, template_folders({}));
  return exit_done;
}

}  // namespace hone::tools
