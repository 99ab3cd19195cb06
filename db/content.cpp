#include "db/content.hpp"

#include <algorithm>
#include <cmath>

#include "db/canonical.hpp"
#include "db/database.hpp"

namespace hone::db {
namespace {

constexpr const char* another_id = "the id is not that of its content";

std::string fault_in_measurement(const sqlite::Statement& row) {
  const Statistics s = rows::measurement(row).statistics;
  const std::vector<double> samples = rows::samples(row);
  if (static_cast<std::int64_t>(samples.size()) != s.n) return "n is not the number of its samples";
  if (!std::all_of(samples.begin(), samples.end(), [](double sample) { return std::isfinite(sample); }))
    return "a sample is not finite";
  if (s.n > 0 && *std::min_element(samples.begin(), samples.end()) != s.minimum)
    return "the minimum is not that of its samples";
  return {};
}

std::string fault(const Table& table, const sqlite::Statement& row) {
  if (&table == &tables::device) rows::device(row);
  if (&table == &tables::environment) rows::environment(row);
  if (&table == &tables::problem) rows::problem(row);
  if (&table == &tables::configuration) rows::configuration(row);
  if (&table == &tables::run) rows::run(row);
  if (&table == &tables::decision) rows::decision(row);
  if (&table == &tables::sweep_point) rows::sweep_point(row);
  if (&table == &tables::sweep) rows::sweep(row);
  if (&table == &tables::measurement) return fault_in_measurement(row);
  if (&table == &tables::text && row.id(0) != KeyBuilder().add("text").add(row.text(1)).id())
    return another_id;
  if (&table == &tables::template_) {
    KeyBuilder key;
    key.add("template").add(row.text(1)).add(row.text(2));
    if (row.id(0) != key.add(row.bytes(3)).add(row.bytes(4)).add(row.bytes(5)).id()) return another_id;
  }
  if (&table == &tables::code_object) {
    const auto bytes = row.bytes(5);
    if (row.id(4) != canonical::hash128({reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
      return "the code object does not match its hash";
  }
  return {};
}

}  // namespace

std::string fault_in_content(const Table& table, const sqlite::Statement& row) {
  try {
    return fault(table, row);
  } catch (const Error& error) {
    if (!error.is_damage()) throw;
    return error.damage();
  }
}

}  // namespace hone::db
