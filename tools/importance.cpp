#include "tools/importance.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace hone::tools {
namespace {

using Times = std::map<std::pair<std::string, db::Values>, double>;

std::optional<double> time_of(const Times& times, const db::Configuration& configuration) {
  const auto found = times.find({configuration.variant, configuration.parameters});
  return found == times.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::vector<Step> way(const db::Configuration& start, const db::Configuration& goal,
                      const std::vector<Timed>& measured) {
  Times times;
  for (const Timed& timed : measured)
    times[{timed.configuration.variant, timed.configuration.parameters}] = timed.nanoseconds;

  std::vector<Step> steps;
  db::Configuration at = start;
  std::optional<double> known = time_of(times, at);
  const auto take = [&](std::string parameter, const db::Value& from, const db::Value& to) {
    Step step{std::move(parameter), from, to, time_of(times, at), std::nullopt};
    if (known && step.nanoseconds) step.gain = *known / *step.nanoseconds - 1;
    if (step.nanoseconds) known = step.nanoseconds;
    steps.push_back(std::move(step));
  };
  if (start.variant != goal.variant) {
    at = goal;
    take("variant", start.variant, goal.variant);
    return steps;
  }
  std::vector<std::string> left;
  for (const auto& [name, value] : goal.parameters)
    if (const auto found = at.parameters.find(name); found != at.parameters.end() && found->second != value)
      left.push_back(name);
  while (!left.empty()) {
    auto next = left.begin();
    std::optional<double> least;
    for (auto each = left.begin(); each != left.end(); ++each) {
      db::Configuration changed = at;
      changed.parameters[*each] = goal.parameters.at(*each);
      const auto time = time_of(times, changed);
      if (time && (!least || *time < *least)) least = time, next = each;
    }
    const std::string name = *next;
    left.erase(next);
    const db::Value from = std::exchange(at.parameters[name], goal.parameters.at(name));
    take(name, from, at.parameters[name]);
  }
  return steps;
}

std::vector<Share> shares(const std::vector<Timed>& measured) {
  struct Group {
    double sum = 0;
    double count = 0;
  };
  std::map<std::string, std::map<db::Value, Group>> groups;
  double mean = 0;
  for (const Timed& timed : measured) mean += std::log(timed.nanoseconds);
  mean /= static_cast<double>(std::max<std::size_t>(1, measured.size()));
  double total = 0;
  for (const Timed& timed : measured) {
    const double away = std::log(timed.nanoseconds) - mean;
    total += away * away;
    const auto add = [&](const std::string& parameter, const db::Value& value) {
      Group& group = groups[parameter][value];
      group.sum += away;
      ++group.count;
    };
    add("variant", timed.configuration.variant);
    for (const auto& [name, value] : timed.configuration.parameters) add(name, value);
  }
  std::vector<Share> result;
  if (total <= 0) return result;
  for (const auto& [parameter, values] : groups) {
    if (values.size() < 2) continue;
    double between = 0;
    for (const auto& [value, group] : values) between += group.sum * group.sum / group.count;
    result.push_back({parameter, std::min(1.0, between / total)});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Share& a, const Share& b) { return a.explained > b.explained; });
  return result;
}

}  // namespace hone::tools
