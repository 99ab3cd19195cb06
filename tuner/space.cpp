#include "tuner/space.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "runtime/plan.hpp"

namespace hone::tuner {

namespace {

std::vector<db::Configuration> enumerate(db::Evaluator& evaluator, const Family& family,
                                         const DeviceInfo& device, db::Values names, bool with_problem) {
  names.merge(device.names());
  std::vector<db::Configuration> result;
  for (const Variant& variant : family.variants) {
    if (!variant.runs_on(device)) continue;
    std::vector<std::string> constraints;
    for (const std::string& constraint : variant.constraints)
      if (with_problem || !reads_problem(evaluator, family, variant, constraint))
        constraints.push_back(constraint);
    evaluator.enumerate(variant.parameters, constraints, names, [&](const db::Values& point) {
      result.push_back({family.name, variant.name, point});
      return true;
    });
  }
  return result;
}

}  // namespace

std::vector<Point> space(db::Evaluator& evaluator, const Family& family, const db::Problem& problem,
                         const DeviceInfo& device) {
  std::vector<Point> result;
  for (db::Configuration& c : enumerate(evaluator, family, device, problem_names(problem), true)) {
    const auto plan = make_plan(evaluator, family, *family.variant(c.variant), c.parameters, problem, device);
    if (const auto* legal = std::get_if<Plan>(&plan))
      result.push_back({std::move(c), legal->alignment, ""});
    else if (const auto& illegal = std::get<Illegal>(plan); illegal.exceeds_device)
      result.push_back({std::move(c), 1, illegal.why});
  }
  return result;
}

std::vector<db::Configuration> buildable_space(db::Evaluator& evaluator, const Family& family,
                                               const std::string& element_type, const std::string& layout,
                                               const DeviceInfo& device) {
  db::Values names;
  names["element_type"] = element_type;
  names["element_size"] = static_cast<std::int64_t>(size_of(*parse_element_type(element_type)));
  names["layout"] = layout;
  return enumerate(evaluator, family, device, std::move(names), false);
}

db::Configuration default_configuration(const Family& family, const DeviceInfo& device) {
  const Variant* variant = family.default_variant(device);
  if (variant == nullptr)
    throw Error(ErrorCode::invalid, "family " + family.name + " has no variant for " + name(device.backend) +
                                        " " + device.architecture + "; add one with a matching `targets`");
  return {family.name, variant->name, variant->defaults};
}

std::optional<db::Configuration> ladder_configuration(const Family& family, const LadderPoint& point,
                                                      const DeviceInfo& device) {
  const Variant* variant = family.variant(point.variant);
  if (variant == nullptr || !variant->runs_on(device)) return std::nullopt;
  db::Configuration result{family.name, variant->name, variant->defaults};
  for (const auto& [parameter, value] : point.parameters) result.parameters[parameter] = value;
  return result;
}

std::int64_t distance_from_default(const Family& family, const DeviceInfo& device,
                                   const db::Configuration& of) {
  const Variant* variant = family.variant(of.variant);
  if (variant == nullptr) return INT64_MAX;
  std::int64_t distance = variant == family.default_variant(device) ? 0 : 1000;
  for (const auto& [parameter, value] : of.parameters) {
    const auto by_default = variant->defaults.find(parameter);
    if (by_default == variant->defaults.end() || by_default->second != value) ++distance;
  }
  return distance;
}

Cover covering_set(const std::vector<db::Configuration>& configurations, std::int64_t limit) {
  // Pairs by number: a configuration's (variant, parameter, value) triples are numbered, a pair is two of
  // them.
  std::unordered_map<std::string, std::uint32_t> values;
  std::vector<std::vector<std::uint64_t>> pairs_of(configurations.size());
  std::unordered_set<std::uint64_t> open;
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    std::vector<std::uint32_t> own;
    for (const auto& [parameter, value] : configurations[i].parameters) {
      const std::string key = configurations[i].variant + '\n' + parameter + '\n' + db::to_string(value);
      own.push_back(values.try_emplace(key, static_cast<std::uint32_t>(values.size())).first->second);
    }
    if (own.size() == 1) own.push_back(own[0]);  // a single parameter pairs with itself
    for (std::size_t a = 0; a < own.size(); ++a)
      for (std::size_t b = a + 1; b < own.size(); ++b)
        pairs_of[i].push_back(std::uint64_t{std::min(own[a], own[b])} << 32 | std::max(own[a], own[b]));
    open.insert(pairs_of[i].begin(), pairs_of[i].end());
  }

  Cover cover;
  cover.pairs = static_cast<std::int64_t>(open.size());
  std::vector<bool> taken(configurations.size(), false);
  const auto most = static_cast<std::size_t>(limit > 0 ? limit : INT64_MAX);
  while (cover.indices.size() < most && !open.empty()) {
    std::size_t best = 0, best_gain = 0;
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      if (taken[i] || pairs_of[i].size() <= best_gain) continue;
      const auto gain = static_cast<std::size_t>(std::count_if(
          pairs_of[i].begin(), pairs_of[i].end(), [&](std::uint64_t p) { return open.contains(p); }));
      if (gain > best_gain) best = i, best_gain = gain;
    }
    taken[best] = true;
    cover.indices.push_back(best);
    for (std::uint64_t p : pairs_of[best]) open.erase(p);
  }
  cover.covered = cover.pairs - static_cast<std::int64_t>(open.size());
  return cover;
}

}  // namespace hone::tuner
