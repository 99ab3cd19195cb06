#include "tools/winner_table.hpp"

#include <fmt/format.h>

#include <iterator>

#include "tools/json.hpp"

namespace hone::tools {

std::vector<Column> after_origin(std::vector<Column> rest) {
  std::vector<Column> columns{{"device", "device", Unit::none, true},
                              {"backend", ""},
                              {"architecture", ""},
                              {"family", "family", Unit::none, true},
                              {"regime", "regime", Unit::none, true},
                              {"layout", "layout", Unit::none, true}};
  columns.insert(columns.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  return columns;
}

std::vector<Column> winner_columns(bool with_spread) {
  const auto when = [&](const char* title) { return with_spread ? title : ""; };
  return after_origin({{"type", "type"},
                       {"shape", "shape"},
                       {"alignment", "align", Unit::none, true},
                       {"median_ns", "median", Unit::nanoseconds},
                       {"gb_per_s", "GB/s"},
                       {"spread", "spread", Unit::ratio},
                       {"n", when("n")},
                       {"minimum_ns", when("min"), Unit::nanoseconds},
                       {"q1_ns", when("q1"), Unit::nanoseconds},
                       {"q3_ns", when("q3"), Unit::nanoseconds},
                       {"tie_bound", when("bound"), Unit::ratio},
                       {"tied", "tied"},
                       {"configuration", "configuration", Unit::none, false, true},
                       {"variant", ""},
                       {"parameters", ""},
                       {"ties_with", when("ties with"), Unit::none, false, true},
                       {"working_set_bytes", "", Unit::bytes},
                       {"needs_alignment", ""},
                       {"outcomes", ""},
                       {"failure", ""},
                       {"tuned_us", "", Unit::date},
                       {"run", "", Unit::id},
                       {"measurement", "", Unit::id},
                       {"decision", "", Unit::id},
                       {"source_hash", "", Unit::id},
                       {"build_key", "", Unit::id},
                       {"environment", "", Unit::id}});
}

Cell value_cell(const db::Value& value) {
  return std::visit([](const auto& each) -> Cell { return each; }, value);
}

Structured shape_cell(const db::Problem& problem) {
  std::vector<std::pair<std::string, db::Value>> members;
  std::string text;
  for (const auto& [name, value] : problem.dimensions) {
    members.emplace_back(name, value);
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  }
  return {json_object(members), text};
}

Structured parameters_cell(const db::Configuration& configuration) {
  const db::Values& values = configuration.parameters;
  return {json_object({values.begin(), values.end()}), db::to_string(values)};
}

Table::Row problem_row(const db::Problem& problem, const db::Device& device, db::Regime regime) {
  return {{"device", device.name},
          {"backend", device.backend},
          {"architecture", device.architecture},
          {"family", problem.family},
          {"regime", std::string(name(regime))},
          {"layout", problem.layout},
          {"type", problem.element_type},
          {"shape", shape_cell(problem)}};
}

Table::Row winner_row(const db::Winner& winner, const db::Device& device,
                      std::optional<std::int64_t> working_set, const std::optional<Ties>& ties) {
  Table::Row row = problem_row(winner.problem, device, winner.regime);
  const db::Statistics& times = winner.statistics;
  const auto put = [&](std::string_view key, Cell cell) { row.emplace_back(key, std::move(cell)); };
  put("alignment", winner.alignment);
  put("needs_alignment", winner.needs_alignment);
  put("configuration", winner.configuration.text());
  put("variant", winner.configuration.variant);
  put("parameters", parameters_cell(winner.configuration));
  if (times.n > 0 && times.median > 0) {
    put("median_ns", times.median);
    put("spread", times.spread() / times.median);
    put("minimum_ns", times.minimum);
    put("q1_ns", times.q1);
    put("q3_ns", times.q3);
    if (working_set) put("gb_per_s", static_cast<double>(*working_set) / times.median);
  }
  put("n", times.n);
  if (working_set) put("working_set_bytes", *working_set);
  put("tied", winner.tied);
  if (ties) {
    put("tie_bound", ties->bound);
    put("ties_with", Structured{json_array(ties->with), fmt::format("{}", fmt::join(ties->with, "; "))});
  }
  put("tuned_us", winner.decided_us);
  put("run", winner.run.hex());
  put("measurement", winner.measurement.hex());
  put("decision", winner.decision.hex());
  put("source_hash", winner.source_hash.hex());
  put("build_key", winner.build_key.hex());
  put("environment", winner.environment.hex());
  return row;
}

}  // namespace hone::tools
