#include <bit>
#include <cmath>
#include <set>
#include <stdexcept>

#include "db/canonical.hpp"
#include "db/database.hpp"
#include "db/json.hpp"

namespace hone::db {
namespace {

// What is stored under an enumeration's column; another text means a damaged file.
template <typename Enum>
Enum required(const sqlite::Statement& row, const std::optional<Enum>& value, const char* column) {
  if (!value) throw sqlite::damaged(row.file(), std::string("column ") + column + " holds an unknown word");
  return *value;
}

json::Members members(const sqlite::Statement& row, int column) {
  try {
    return json::read(row.text(column));
  } catch (const std::invalid_argument& invalid) {
    throw sqlite::damaged(row.file(), std::string("column ") + sqlite3_column_name(row.get(), column) +
                                          " is " + invalid.what());
  }
}

std::map<std::string, std::string> texts(const sqlite::Statement& row, int column) {
  std::map<std::string, std::string> result;
  for (auto& [item, value] : members(row, column)) {
    if (!std::holds_alternative<std::string>(value)) throw sqlite::damaged(row.file(), "a text is a number");
    result.emplace(std::move(item), std::get<std::string>(std::move(value)));
  }
  return result;
}

std::vector<Id> unpack(std::span<const std::byte> packed) {
  constexpr std::size_t width = sizeof(Id::bytes);
  std::vector<Id> ids;
  for (std::size_t at = 0; at + width <= packed.size(); at += width)
    ids.push_back(canonical::read_id(packed.data() + at));
  return ids;
}

void same(const sqlite::Statement& row, const Id& stored, const Id& content, const char* table) {
  if (stored != content) {
    throw sqlite::damaged(row.file(), std::string("the id of a ") + table + " is not that of its content");
  }
}

}  // namespace

namespace rows {

Device device(const sqlite::Statement& row, int first) {
  verify(row, tables::device, first);
  Device device;
  device.backend = row.text(first + 1);
  device.name = row.text(first + 2);
  device.architecture = row.text(first + 3);
  device.compute_units = row.integer(first + 4);
  device.memory_bytes = row.integer(first + 5);
  device.last_level_cache_bytes = row.integer(first + 6);
  device.partition = row.text(first + 7);
  same(row, row.id(first), device.id(), "device");
  return device;
}

Environment environment(const sqlite::Statement& row, int first) {
  verify(row, tables::environment, first);
  Environment environment{texts(row, first + 1)};
  same(row, row.id(first), environment.id(), "environment");
  return environment;
}

Problem problem(const sqlite::Statement& row, int first) {
  verify(row, tables::problem, first);
  Problem problem;
  problem.family = row.text(first + 1);
  problem.element_type = row.text(first + 2);
  problem.layout = row.text(first + 3);
  for (auto& [dimension, extent] : members(row, first + 4)) {
    if (!std::holds_alternative<std::int64_t>(extent))
      throw sqlite::damaged(row.file(), "a dimension is a text");
    problem.dimensions.emplace_back(std::move(dimension), std::get<std::int64_t>(extent));
  }
  same(row, row.id(first), problem.id(), "problem");
  return problem;
}

Configuration configuration(const sqlite::Statement& row, int first) {
  verify(row, tables::configuration, first);
  Configuration configuration;
  configuration.family = row.text(first + 1);
  configuration.variant = row.text(first + 2);
  for (auto& [parameter, value] : members(row, first + 3)) {
    configuration.parameters.emplace(std::move(parameter), std::move(value));
  }
  same(row, row.id(first), configuration.id(), "configuration");
  return configuration;
}

Run run(const sqlite::Statement& row, int first) {
  verify(row, tables::run, first);
  Run run;
  run.id = row.id(first);
  run.started_us = row.integer(first + 1);
  run.device = row.id(first + 2);
  run.environment = row.id(first + 3);
  run.command = row.text(first + 4);
  run.hone_version = row.text(first + 5);
  run.seed = row.integer(first + 6);
  run.settings = texts(row, first + 7);
  return run;
}

Measurement measurement(const sqlite::Statement& row, int first) {
  verify(row, tables::measurement, first);
  Measurement m{.id = row.id(first)};  // no random one first
  m.run = row.id(first + 1);
  m.problem = row.id(first + 3);
  m.configuration = row.id(first + 4);
  m.source_hash = row.id(first + 5);
  m.regime = required(row, parse_regime(row.text(first + 6)), "regime");
  m.stage = required(row, parse_stage(row.text(first + 7)), "stage");
  m.outcome = required(row, parse_outcome(row.text(first + 8)), "outcome");
  m.reason = row.text(first + 9);
  m.alignment = row.integer(first + 10);
  m.launches = row.integer(first + 11);
  m.statistics = {row.integer(first + 12), row.real(first + 13), row.real(first + 14), row.real(first + 15),
                  row.real(first + 16)};
  m.condition.clock_mhz = row.integer(first + 17);
  m.condition.throttled = row.integer(first + 18) != 0;
  m.build_key = row.optional_id(first + 19).value_or(Id{});
  m.taken_us = row.integer(first + 20);
  m.condition.temperature_c = row.integer(first + 21);
  m.condition.discarded = row.integer(first + 22);
  const Statistics& s = m.statistics;
  require(0 <= s.minimum && s.minimum <= s.q1 && s.q1 <= s.median && s.median <= s.q3 && std::isfinite(s.q3),
          row, "a measurement's quartiles are out of order");
  require(m.alignment > 0, row, "a measurement's alignment is not above zero");
  return m;
}

std::vector<double> samples(const sqlite::Statement& row, int first) {
  const auto data = row.bytes(first + 23);
  std::vector<double> samples(data.size() / 8);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = std::bit_cast<double>(canonical::read_word(data.data() + 8 * i));
  }
  return samples;
}

Decision decision(const sqlite::Statement& row, int first) {
  verify(row, tables::decision, first);
  Decision d;
  d.id = row.id(first);
  d.run = row.id(first + 1);
  d.problem = row.id(first + 3);
  d.regime = required(row, parse_regime(row.text(first + 4)), "regime");
  d.alignment = row.integer(first + 5);
  d.chosen = row.id(first + 6);
  d.incumbent = row.optional_id(first + 7);
  d.by_default = row.optional_id(first + 8);
  d.tied = unpack(row.bytes(first + 9));
  d.tie_bound = row.real(first + 10);
  d.decided_us = row.integer(first + 11);
  require(d.alignment > 0, row, "a decision's alignment is not above zero");
  require(std::isfinite(d.tie_bound), row, "a decision's tie bound is not finite");
  return d;
}

SweepPoint sweep_point(const sqlite::Statement& row, int first) {
  verify(row, tables::sweep_point, first);
  SweepPoint p;
  p.id = row.id(first);
  p.run = row.id(first + 1);
  p.problem = row.id(first + 3);
  p.regime = required(row, parse_regime(row.text(first + 4)), "regime");
  p.working_set = row.integer(first + 5);
  p.measurements = unpack(row.bytes(first + 6));
  p.taken_us = row.integer(first + 7);
  require(p.working_set >= 0, row, "a sweep's point has a working set below zero");
  return p;
}

Sweep sweep(const sqlite::Statement& row, int first) {
  verify(row, tables::sweep, first);
  Sweep s;
  s.id = row.id(first);
  s.run = row.id(first + 1);
  s.family = row.text(first + 3);
  s.element_type = row.text(first + 4);
  s.layout = row.text(first + 5);
  s.regime = required(row, parse_regime(row.text(first + 6)), "regime");
  s.resolution = row.real(first + 7);
  s.points = unpack(row.bytes(first + 8));
  s.refused = unpack(row.bytes(first + 9));
  s.swept_us = row.integer(first + 10);
  require(s.resolution >= 1 && std::isfinite(s.resolution), row,
          "a sweep's resolution is below one or not finite");
  return s;
}

}  // namespace rows

namespace {

template <typename Record>
const Record& look_up(Database& database, std::unordered_map<Id, Record, IdHash>& known, const Table& table,
                      const Id& id, Record (*read)(const sqlite::Statement&, int)) {
  auto found = known.find(id);
  if (found != known.end()) return found->second;
  static const std::string condition = " WHERE t.id=?1";
  sqlite::Query query(database.connection(),
                      "SELECT " + table.select("t") + " FROM " + table.name + " t" + condition);
  query->bind(1, id);
  if (!query->step()) {
    throw sqlite::damaged(database.connection().file(),
                          "a record points to a missing row of table " + table.name);
  }
  return known.emplace(id, read(*query, 0)).first->second;
}

}  // namespace

const Device& Lookup::device(const Id& id) {
  return look_up(database_, devices_, tables::device, id, rows::device);
}
const Problem& Lookup::problem(const Id& id) {
  return look_up(database_, problems_, tables::problem, id, rows::problem);
}
const Configuration& Lookup::configuration(const Id& id) {
  return look_up(database_, configurations_, tables::configuration, id, rows::configuration);
}
const Run& Lookup::run(const Id& id) {
  return look_up(database_, runs_, tables::run, id, rows::run);
}

std::vector<std::byte> concatenated(const std::vector<Id>& ids) {
  std::vector<std::byte> packed;
  packed.reserve(ids.size() * sizeof(Id::bytes));
  for (const Id& id : ids) {
    for (const std::uint8_t byte : id.bytes) packed.push_back(std::byte{byte});
  }
  return packed;
}

}  // namespace hone::db
