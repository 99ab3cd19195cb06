// Expressions of manifests: integer SQL over named values, evaluated by an SQLite in memory behind an
// authorizer (no tables but the bound names, a list of harmless functions) and a step limit.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/value.hpp"

namespace hone::db {

/// A parameter with its list of values, in the manifest's order.
struct Parameter {
  std::string name;
  std::vector<Value> values;
};

/// Not thread-safe: one evaluator a thread. Every error is an Error of kind `expression` whose line quotes
/// the expression and says what is wrong with it.
class Evaluator {
 public:
  Evaluator();
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// The names that `expression` reads, out of `known`; an unknown name is an error. Proves that it is valid.
  std::set<std::string> names(std::string_view expression, const std::set<std::string>& known);

  /// The expression's integer. NULL (division by zero), REAL (overflow), text and a passed step limit are
  /// errors. Compiled statements are kept, so that repeated evaluations cost microseconds.
  std::int64_t evaluate(std::string_view expression, const Values& names);

  /// The integers of several expressions, which cost little more than one; none where evaluate() throws, and
  /// perhaps elsewhere: evaluate() then says.
  std::vector<std::optional<std::int64_t>> evaluate_each(std::span<const std::string> expressions,
                                                         const Values& names);

  /// Calls `visit` with every point of the product of `parameters` for which every constraint is not zero;
  /// `visit` returns false to stop. Constraints are tested inside the join, as soon as their parameters are
  /// bound. Order: the last parameter varies fastest. A constraint that is NULL or not an integer at some
  /// point is an error that names the point. Returns false where it needed more than `steps` of SQLite's
  /// (some hundred million a second), so that points are missing.
  bool enumerate(const std::vector<Parameter>& parameters, const std::vector<std::string>& constraints,
                 const Values& constants, const std::function<bool(const Values&)>& visit,
                 std::int64_t steps = std::numeric_limits<std::int64_t>::max());

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone::db
