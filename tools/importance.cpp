#include "tools/importance.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace hone::tools {
namespace {

constexpr const char* variant_word = "variant";

/// The changes from `at` to `to`. None: `to` does not lie between `at` and `goal`.
std::optional<std::vector<Change>> changes_between(const db::Configuration& at, const db::Configuration& to,
                                                   const db::Configuration& goal, const db::Values& entry) {
  std::vector<Change> changes;
  if (to.variant != goal.variant) return std::nullopt;
  const bool enters = at.variant != goal.variant;
  if (enters) changes.push_back({variant_word, at.variant, to.variant});
  const db::Values& from = enters ? entry : at.parameters;
  for (const auto& [name, value] : to.parameters) {
    const auto before = from.find(name);
    if (before != from.end() && before->second == value) continue;
    const auto last = goal.parameters.find(name);
    if (before == from.end() || last == goal.parameters.end() || last->second != value) return std::nullopt;
    changes.push_back({name, before->second, value});
  }
  return changes;
}

}  // namespace

std::vector<Step> way(const db::Configuration& start, const db::Configuration& goal, const db::Values& entry,
                      const std::vector<db::Configuration>& measured, const Compare& compare) {
  std::vector<Step> steps;
  db::Configuration at = start;
  // A step that compares before one that does not, then few changes, then a large gain.
  const auto rank = [](const Step& step) {
    return std::tuple(!step.pair, step.changes.size(), step.pair ? -step.pair->gain() : 0);
  };
  while (at != goal) {
    std::optional<Step> best;
    db::Configuration next;
    const auto consider = [&](const db::Configuration& to) {
      auto changes = changes_between(at, to, goal, entry);
      if (!changes || changes->empty()) return;
      Step step{std::move(*changes), compare(at, to)};
      if (best && rank(*best) <= rank(step)) return;
      best = std::move(step);
      next = to;
    };
    for (const db::Configuration& to : measured) consider(to);
    consider(goal);
    if (!best) return steps;  // the goal is of another manifest
    steps.push_back(std::move(*best));
    at = next;
  }
  return steps;
}

namespace {

/// The cross products of centred columns: one for each value of each parameter, 1 where a configuration has
/// it, and last the logarithm of the time.
class Model {
 public:
  explicit Model(const std::vector<Timed>& measured) {
    std::map<std::string, std::map<db::Value, std::size_t>> places;
    for (const Timed& timed : measured)
      for (const auto& [name, value] : timed.configuration.parameters) places[name].try_emplace(value, 0);
    std::size_t next = 0;
    for (auto& [name, values] : places)
      for (auto& [value, place] : values) columns_[name].push_back(place = next++);
    size_ = next + 1;
    products_.assign(size_ * size_, 0);

    std::vector<double> sums(size_, 0);
    for (const Timed& timed : measured) {
      std::vector<std::pair<std::size_t, double>> row;
      for (const auto& [name, value] : timed.configuration.parameters)
        row.emplace_back(places.at(name).at(value), 1);
      row.emplace_back(size_ - 1, std::log(timed.nanoseconds / measured.front().nanoseconds));
      for (const auto& [i, a] : row) {
        sums[i] += a;
        for (const auto& [j, b] : row) at(i, j) += a * b;
      }
    }
    count_ = static_cast<double>(measured.size());
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t j = 0; j < size_; ++j) at(i, j) -= sums[i] * sums[j] / count_;
  }

  std::vector<std::string> parameters() const {
    std::vector<std::string> names;
    for (const auto& [name, columns] : columns_)
      if (columns.size() > 1) names.push_back(name);
    return names;
  }

  /// What is left unexplained.
  double left() const { return std::max(0.0, products_.back()); }

  /// The model with the parameter in it: all other columns become what they are beyond those of its values.
  Model with(const std::string& parameter) const {
    Model model = *this;
    for (const std::size_t column : columns_.at(parameter)) model.take_out(column);
    return model;
  }

 private:
  double& at(std::size_t i, std::size_t j) { return products_[i * size_ + j]; }

  void take_out(std::size_t column) {
    const double own = at(column, column);
    constexpr double negligible =
        1e-9;  // of as many ones and zeros: the columns before tell this one already
    if (own < negligible * count_) return;
    std::vector<double> shared(size_);
    for (std::size_t i = 0; i < size_; ++i) shared[i] = at(i, column);
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t j = 0; j < size_; ++j) at(i, j) -= shared[i] * shared[j] / own;
  }

  std::map<std::string, std::vector<std::size_t>> columns_;
  std::size_t size_ = 0;
  double count_ = 0;  ///< of configurations
  std::vector<double> products_;
};

/// Adds the shares of one variant's parameters; what they leave of its variance.
double add_parameters(std::vector<Share>& result, const std::string& variant,
                      const std::vector<Timed>& measured, double total) {
  Model model(measured);
  std::vector<std::string> open = model.parameters();
  while (!open.empty()) {
    std::optional<Model> best;
    auto chosen = open.begin();
    for (auto each = open.begin(); each != open.end(); ++each) {
      Model with = model.with(*each);
      if (!best || with.left() < best->left()) best = std::move(with), chosen = each;
    }
    result.push_back({variant, *chosen, (model.left() - best->left()) / total});
    model = std::move(*best);
    open.erase(chosen);
  }
  return model.left();
}

}  // namespace

std::vector<Share> shares(const std::vector<Timed>& measured) {
  std::map<std::string, std::vector<Timed>> variants;
  double mean = 0;
  for (const Timed& timed : measured) {
    variants[timed.configuration.variant].push_back(timed);
    mean += std::log(timed.nanoseconds) / static_cast<double>(measured.size());
  }
  double total = 0, between = 0;
  for (const auto& [variant, own] : variants) {
    double sum = 0;
    for (const Timed& timed : own) {
      const double away = std::log(timed.nanoseconds) - mean;
      total += away * away;
      sum += away;
    }
    between += sum * sum / static_cast<double>(own.size());
  }
  constexpr double negligible = 1e-18;  // of equal times
  std::vector<Share> result;
  if (total <= negligible * static_cast<double>(measured.size())) return result;
  if (variants.size() > 1) result.push_back({"", variant_word, between / total});
  double left = 0;
  for (const auto& [variant, own] : variants) left += add_parameters(result, variant, own, total);
  result.push_back({"", "", left / total});
  return result;
}

}  // namespace hone::tools
