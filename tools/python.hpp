// What a manifest's expressions give at the points of a space, as Python, which T1's expressions are. No SQL
// is translated: an expression is evaluated wherever its parameters can be, and what comes of it is written
// down by the parameters' values.
#pragma once

#include <string>
#include <vector>

#include "db/expression.hpp"

namespace hone::tools {

class PythonExpressions {
 public:
  /// `constants`: the other names that the expressions may read.
  PythonExpressions(db::Evaluator& evaluator, std::vector<db::Parameter> parameters, db::Values constants);

  struct Condition {
    std::vector<std::string> parameters;  ///< that it reads
    std::string expression;               ///< of `==`, `in`, `and` and `or` alone
  };
  /// Together they hold where all constraints do, which are held against a point in order. Those that hold
  /// everywhere are left out. Throws Error{invalid} where one reads too many parameters to be written down.
  std::vector<Condition> conditions(const std::vector<std::string>& constraints);

  /// An integer, a parameter, or `a if … else b`.
  std::string value(const std::string& expression);

 private:
  std::vector<db::Parameter> read_by(const std::string& expression);

  db::Evaluator& evaluator_;
  std::vector<db::Parameter> parameters_;
  db::Values constants_;
};

/// A literal: `256` or `'nt'`.
std::string python_literal(const db::Value& value);

}  // namespace hone::tools
