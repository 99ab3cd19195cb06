#include "db/space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "db/tokens.hpp"

namespace hone::db {
namespace {

constexpr std::size_t most_loops = 64;  // tables that SQLite joins

}  // namespace

Space::Space(const std::vector<Parameter>& parameters, const std::vector<std::string>& constraints,
             const Values& constants)
    : parameters_(parameters), constants_(constants) {
  add_parameters();
  for (const std::string& constraint : constraints) add_condition(constraint);
}

void Space::add_parameters() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& [name, values] = parameters_[i];
    if (constants_.contains(name) || !by_name_.emplace(name, i).second) {
      throw Error(Error::Kind::expression,
                  fmt::format("parameter `{}` has a name that is taken already", name));
    }
    if (values.size() == 1) continue;
    std::string rows;
    for (std::size_t k = 0; k < values.size(); ++k) {
      rows += fmt::format("{}({},{})", k == 0 ? "VALUES" : ",", k, place(values[k]));
    }
    if (rows.empty()) rows = "SELECT NULL,NULL WHERE false";
    // Materialized: else SQLite would push constraints into each of its rows.
    tables_.push_back(fmt::format("p{}(i,v) AS MATERIALIZED({})", loops_.size(), rows));
    loops_.push_back(i);
  }
  if (loops_.size() > most_loops) {
    throw Error(Error::Kind::expression,
                fmt::format("a space of {} parameters with several values; {} is the most", loops_.size(),
                            most_loops));
  }
}

void Space::add_condition(const std::string& constraint) {
  Condition condition;
  std::set<std::string> known;
  for (const auto& [name, value] : constants_) known.insert(name);
  for (const auto& [name, index] : by_name_) known.insert(name);
  condition.sql = render(constraint, [&](const std::string& name) {
    if (!known.contains(name)) throw unknown_name(constraint, name, known);
    condition.names.insert(name);
    const auto parameter = by_name_.find(name);
    if (parameter == by_name_.end()) return place(constants_.find(name)->second);
    const auto loop = std::find(loops_.begin(), loops_.end(), parameter->second);
    if (loop == loops_.end()) return place(parameters_[parameter->second].values.front());
    const auto position = static_cast<std::size_t>(loop - loops_.begin());
    condition.depth = std::max(condition.depth, position + 1);
    return fmt::format("p{}.v", position);
  });
  conditions_.push_back(std::move(condition));
}

std::string Space::place(const Value& value) {
  bound_.push_back(&value);
  return fmt::format("?{}", bound_.size());
}

std::string Space::select(std::size_t depth, std::string columns) const {
  std::string with, from;
  for (std::size_t i = 0; i < depth; ++i) {
    with += (i == 0 ? "WITH " : ",") + tables_[i];
    from += fmt::format("{}p{}", i == 0 ? " FROM " : " CROSS JOIN ", i);  // CROSS JOIN: in this order
    columns += fmt::format("{}p{}.i", columns.empty() ? "" : ",", i);
  }
  if (columns.empty()) columns = "true";
  return with + " SELECT " + columns + from;
}

std::string Space::query() const {
  std::string where;
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    where += fmt::format("{}holds({},{})", i == 0 ? " WHERE " : " AND ", i, conditions_[i].sql);
  }
  return select(loops_.size(), "") + where;
}

std::string Space::failure_query(std::size_t failed) const {
  const Condition& culprit = conditions_[failed];
  std::string where = fmt::format(" WHERE typeof({})<>'integer'", culprit.sql);
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const Condition& other = conditions_[i];
    if (other.depth < culprit.depth || (other.depth == culprit.depth && i < failed))
      where += " AND " + other.sql;
  }
  return select(culprit.depth, fmt::format("typeof({})", culprit.sql)) + where + " LIMIT 1";
}

std::vector<std::pair<std::string, Value>> Space::point(std::size_t failed,
                                                        const sqlite::Statement& row) const {
  std::vector<std::pair<std::string, Value>> values;
  for (const std::string& name : conditions_[failed].names) {
    const auto parameter = by_name_.find(name);
    if (parameter == by_name_.end()) {
      values.emplace_back(name, constants_.find(name)->second);
      continue;
    }
    const auto& candidates = parameters_[parameter->second].values;
    const auto loop = std::find(loops_.begin(), loops_.end(), parameter->second);
    const std::int64_t index =
        loop == loops_.end() ? 0 : row.integer(1 + static_cast<int>(loop - loops_.begin()));
    values.emplace_back(name, candidates[static_cast<std::size_t>(index)]);
  }
  return values;
}

void Space::bind(sqlite::Statement& statement) const {
  const int places = sqlite3_bind_parameter_count(statement.get());
  for (int i = 0; i < places; ++i) statement.bind_value(i + 1, *bound_[static_cast<std::size_t>(i)]);
}

}  // namespace hone::db
