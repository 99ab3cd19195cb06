// A constrained space as one SQL query: parameters are tables of values joined in a fixed order, so that
// points come out in order and SQLite tests each constraint in the loop where the last parameter that it
// reads is bound.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/expression.hpp"
#include "db/sqlite.hpp"

namespace hone::db {

class Space {
 public:
  /// Keeps references to its arguments. Throws Error{expression} for names and constraints that are not
  /// valid.
  Space(const std::vector<Parameter>& parameters, const std::vector<std::string>& constraints,
        const Values& constants);

  /// The parameters with other than one value, which the query loops over. Its columns are indexes of their
  /// values.
  const std::vector<std::size_t>& loops() const { return loops_; }

  /// Calls the function `holds(i, value)` for constraint i.
  std::string query() const;

  /// Finds a point at which constraint `failed` is not an integer: its SQL type, then the loops entered so
  /// far.
  std::string failure_query(std::size_t failed) const;
  /// What constraint `failed` reads at the point that a row of failure_query() gives.
  std::vector<std::pair<std::string, Value>> point(std::size_t failed, const sqlite::Statement& row) const;

  /// Binds the places of either query.
  void bind(sqlite::Statement& statement) const;

 private:
  struct Condition {
    std::string sql;
    std::size_t depth = 0;  ///< loops entered before it can be tested
    std::set<std::string> names;
  };
  void add_parameters();
  void add_condition(const std::string& constraint);
  std::string place(const Value& value);
  std::string select(std::size_t depth, std::string columns) const;

  const std::vector<Parameter>& parameters_;
  const Values& constants_;
  std::map<std::string, std::size_t> by_name_;
  std::vector<std::size_t> loops_;
  std::vector<std::string> tables_;  ///< one a loop
  std::vector<Condition> conditions_;
  std::vector<const Value*> bound_;
};

}  // namespace hone::db
