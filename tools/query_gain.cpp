// hone query gain: what one value of a parameter is worth against another, by total traffic.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/alike.hpp"
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
  Alike alike;  ///< both, where they can be compared

  bool comparable() const { return alike.covered() == 2; }
};

Compared compare(db::Store& store, const MeasuredProblem& measured, const Step& step, const Where& where) {
  Compared fastest;
  AlikeFigures::Groups groups(2);
  for (const db::MeasuredRow* row : each_configuration(measured)) {
    if (!where.match(row->configuration)) continue;
    const auto value = value_of(row->configuration, step.parameter);
    if (value != step.from && value != step.to) continue;
    const db::MeasuredRow*& first = value == step.from ? fastest.from : fastest.to;
    if (first == nullptr) first = row;
    groups[value == step.from ? 0 : 1].push_back(row->measurement.configuration);
  }
  fastest.alike = AlikeFigures(store, measured).fastest(groups);
  if (fastest.comparable()) {
    fastest.from = fastest.alike.fastest[0];
    fastest.to = fastest.alike.fastest[1];
  }
  return fastest;
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
      "configuration measured with each, whatever its other parameters. Both figures are taken alike: in the "
      "newest race where each one's fastest at first look came through it, else at first looks. What was "
      "never "
      "taken alike has no gain.");
  options.value("parameter", "NAME", "the parameter, or variant")
      .value("from", "VALUE", "its value before")
      .value("to", "VALUE", "its value after");
  add_where_flag(options);
  add_filter_flags(options);
  add_bounds_flag(options);
  add_table_flags(options, columns({}));
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const TableStyle style = table_style(options);

  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  const Filters filters(options, store);
  const Family family = tuned_family(store, options.positional()[0]);
  const Where where(options, family);
  const Step step = step_of(options, where);
  const std::vector<std::string> open = where.open_but({step.parameter});
  const Structured over{json_array(open), fmt::format("{}", fmt::join(open, " "))};
  Table table("gain", columns(step), 2);
  for (const MeasuredProblem& measured : measured_problems(store, filters, family)) {
    const Compared compared = compare(store, measured, step, where);
    const auto [from, to] = std::pair(compared.from, compared.to);
    if (from == nullptr && to == nullptr) continue;
    Table::Row line = problem_row(measured.problem, measured.device, measured.regime);
    const auto put = [&](std::string_view key, Cell cell) { line.emplace_back(key, std::move(cell)); };
    put("parameter", step.parameter);
    put("over", over);
    put("where", where.text());
    const bool has_traffic = measured.working_set > 0;
    if (has_traffic) put("working_set_bytes", measured.working_set);
    put("samples", compared.comparable() ? compared.alike.text() : "not alike");
    put("from", db::to_string(step.from));
    put("to", db::to_string(step.to));
    if (from != nullptr) {
      if (has_traffic) put("from_gb_per_s", measured.gb_per_s(*from));
      put("from_median_ns", from->measurement.statistics.median);
      put("from_stage", std::string(db::name(from->measurement.stage)));
      put("from_configuration", from->configuration.text());
      put("from_run", from->measurement.run.hex());
      put("from_measurement", from->measurement.id.hex());
    }
    if (to != nullptr) {
      if (has_traffic) put("to_gb_per_s", measured.gb_per_s(*to));
      put("to_median_ns", to->measurement.statistics.median);
      put("to_stage", std::string(db::name(to->measurement.stage)));
      put("to_configuration", to->configuration.text());
      put("to_run", to->measurement.run.hex());
      put("to_measurement", to->measurement.id.hex());
    }
    if (compared.comparable())
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
