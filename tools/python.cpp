#include "tools/python.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "hone/error.hpp"

namespace hone::tools {
namespace {

constexpr std::size_t most_points = 200'000;  ///< of an expression's parameters

using Values = std::vector<db::Value>;

/// What there is under each of a parameter's values, with the values that have the same: in order of the
/// first.
using Branches = std::vector<std::pair<std::string, Values>>;

std::string is_one_of(const std::string& parameter, const Values& values) {
  if (values.size() == 1) return fmt::format("{} == {}", parameter, python_literal(values[0]));
  std::vector<std::string> literals;
  for (const db::Value& value : values) literals.push_back(python_literal(value));
  return fmt::format("{} in ({})", parameter, fmt::join(literals, ", "));
}

/// The first parameter's values, each with what follows under it.
class Tree {
 public:
  using Leaf = std::function<std::string(const db::Values&)>;
  using Join = std::function<std::string(const std::string& parameter, const Branches&)>;

  Tree(const std::vector<db::Parameter>& parameters, Leaf leaf, Join join)
      : parameters_(parameters), leaf_(std::move(leaf)), join_(std::move(join)) {}

  std::string text() { return below(0); }

 private:
  std::string below(std::size_t level) {
    if (level == parameters_.size()) return leaf_(at_);
    const db::Parameter& parameter = parameters_[level];
    Branches branches;
    for (const db::Value& value : parameter.values) {
      at_[parameter.name] = value;
      std::string text = below(level + 1);
      const auto same = std::find_if(branches.begin(), branches.end(),
                                     [&](const auto& branch) { return branch.first == text; });
      if (same == branches.end())
        branches.emplace_back(std::move(text), Values{value});
      else
        same->second.push_back(value);
    }
    return branches.size() == 1 ? branches[0].first : join_(parameter.name, branches);
  }

  const std::vector<db::Parameter>& parameters_;
  Leaf leaf_;
  Join join_;
  db::Values at_;
};

constexpr const char* always = "True";
constexpr const char* never = "False";

std::string any_of(const std::string& parameter, const Branches& branches) {
  std::vector<std::string> terms;
  for (const auto& [rest, values] : branches) {
    if (rest == never) continue;
    std::string term = is_one_of(parameter, values);
    if (rest != always)
      term += rest.find(" or ") == std::string::npos ? " and " + rest : " and (" + rest + ")";
    terms.push_back(std::move(term));
  }
  return fmt::format("{}", fmt::join(terms, " or "));
}

std::string choice(const std::string& parameter, const Branches& branches) {
  std::string text;
  for (std::size_t i = 0; i + 1 < branches.size(); ++i)
    text += fmt::format("({}) if {} else ", branches[i].first, is_one_of(parameter, branches[i].second));
  return text + "(" + branches.back().first + ")";
}

}  // namespace

std::string python_literal(const db::Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? db::to_string(value) : fmt::format("'{}'", *text);
}

PythonExpressions::PythonExpressions(db::Evaluator& evaluator, std::vector<db::Parameter> parameters,
                                     db::Values constants)
    : evaluator_(evaluator), parameters_(std::move(parameters)), constants_(std::move(constants)) {}

std::vector<db::Parameter> PythonExpressions::read_by(const std::string& expression) {
  std::set<std::string> known;
  for (const auto& [name, value] : constants_) known.insert(name);
  for (const db::Parameter& parameter : parameters_) known.insert(parameter.name);
  const std::set<std::string> names = evaluator_.names(expression, known);
  std::vector<db::Parameter> read;
  std::size_t points = 1;
  for (const db::Parameter& parameter : parameters_) {
    if (!names.contains(parameter.name)) continue;
    read.push_back(parameter);
    points *= parameter.values.size();
    if (points > most_points)
      throw Error(ErrorCode::invalid, fmt::format("`{}` reads parameters with over {} points, too many to "
                                                  "be written as Python",
                                                  expression, most_points));
  }
  return read;
}

std::vector<PythonExpressions::Condition> PythonExpressions::conditions(
    const std::vector<std::string>& constraints) {
  std::vector<Condition> found;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const std::vector<db::Parameter> read = read_by(constraints[i]);
    const auto is_read = [&](const db::Parameter& parameter) {
      return std::any_of(read.begin(), read.end(),
                         [&](const db::Parameter& each) { return each.name == parameter.name; });
    };
    // An earlier one may keep this one from being evaluated where it cannot be.
    std::vector<std::string> in_order;
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      const std::vector<db::Parameter> others = read_by(constraints[earlier]);
      if (std::all_of(others.begin(), others.end(), is_read)) in_order.push_back(constraints[earlier]);
    }
    in_order.push_back(constraints[i]);
    std::set<db::Values> legal;
    evaluator_.enumerate(read, in_order, constants_, [&](const db::Values& point) {
      legal.insert(point);
      return true;
    });
    Condition condition;
    for (const db::Parameter& parameter : read) condition.parameters.push_back(parameter.name);
    condition.expression =
        Tree(
            read, [&](const db::Values& at) { return legal.contains(at) ? always : never; }, any_of)
            .text();
    if (condition.expression != always) found.push_back(std::move(condition));
  }
  return found;
}

std::string PythonExpressions::value(const std::string& expression) {
  const std::vector<db::Parameter> read = read_by(expression);
  if (read.size() == 1 && expression == read[0].name) return expression;
  return Tree(
             read,
             [&](const db::Values& at) {
               db::Values names = constants_;
               names.insert(at.begin(), at.end());
               return std::to_string(evaluator_.evaluate(expression, names));
             },
             choice)
      .text();
}

}  // namespace hone::tools
