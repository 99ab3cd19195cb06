#include "tools/swept_table.hpp"

#include "tools/winner_table.hpp"

namespace hone::tools {

std::vector<Column> swept_columns(const std::vector<Column>& shown, const std::vector<Column>& hidden) {
  std::vector<Column> columns{{"type", "type", Unit::none, true}, {"alignment", "align"}};
  const auto add = [&](const std::vector<Column>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
  };
  add(shown);
  add({{"configuration", "configuration", Unit::none, false, true}, {"variant", ""}, {"parameters", ""}});
  add(hidden);
  add({{"needs_alignment", ""},
       {"swept_us", "", Unit::date},
       {"run", "", Unit::id},
       {"sweep", "", Unit::id},
       {"measurement", "", Unit::id},
       {"source_hash", "", Unit::id},
       {"build_key", "", Unit::id},
       {"environment", "", Unit::id}});
  return after_origin(std::move(columns));
}

Table::Row swept_row(const db::Swept& swept, const db::Device& device) {
  return {{"device", device.name},
          {"backend", device.backend},
          {"architecture", device.architecture},
          {"family", swept.family},
          {"regime", std::string(name(swept.regime))},
          {"layout", swept.layout},
          {"type", swept.element_type},
          {"alignment", swept.alignment},
          {"configuration", swept.configuration.text()},
          {"variant", swept.configuration.variant},
          {"parameters", parameters_cell(swept.configuration)},
          {"needs_alignment", swept.needs_alignment},
          {"swept_us", swept.swept_us},
          {"run", swept.run.hex()},
          {"sweep", swept.sweep.hex()},
          {"measurement", swept.measurement.hex()},
          {"source_hash", swept.source_hash.hex()},
          {"build_key", swept.build_key.hex()},
          {"environment", swept.environment.hex()}};
}

}  // namespace hone::tools
