#include "tuner/space.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
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

/// To go through a variant's points, a second or so: constraints that rule out much early leave little of a
/// large one.
constexpr std::int64_t steps_to_go_through = 50'000'000;
constexpr double points_of_a_slice = 4e3;  ///< before constraints
constexpr int slices = 640;                ///< at least
constexpr double seconds_of_slices = 1;    ///< for more, where those held too few points

double product_of(const Variant& variant) {
  double product = 1;
  for (const db::Parameter& parameter : variant.parameters)
    product *= static_cast<double>(parameter.values.size());
  return product;
}

/// A uniform sample of however many are offered, in the order offered as long as all are kept (Li 1994,
/// algorithm L: what is not taken costs nothing).
class Reservoir {
 public:
  using Item = std::pair<const Variant*, db::Values>;

  Reservoir(std::size_t most, std::uint64_t seed) : most_(most), random_(seed) {}

  void offer(const Variant& variant, const db::Values& parameters) {
    ++offered_;
    if (items_.size() < most_) {
      items_.emplace_back(&variant, parameters);
      if (items_.size() == most_) skip();
    } else if (offered_ == next_) {
      items_[random_() % most_] = {&variant, parameters};
      skip();
    }
  }
  bool full() const { return items_.size() == most_; }
  std::size_t offered() const { return offered_; }
  std::vector<Item> take() { return std::move(items_); }
  /// Slices may have a point in common.
  void drop_repeated() {
    std::sort(items_.begin(), items_.end());
    items_.erase(std::unique(items_.begin(), items_.end()), items_.end());
  }

 private:
  void skip() {
    weight_ *= std::exp(std::log(uniform()) / static_cast<double>(most_));
    next_ = offered_ + 1 + static_cast<std::size_t>(std::log(uniform()) / std::log1p(-weight_));
  }
  double uniform() { return std::uniform_real_distribution<double>(1e-300, 1)(random_); }

  std::size_t most_, offered_ = 0, next_ = 0;
  double weight_ = 1;
  std::mt19937_64 random_;
  std::vector<Item> items_;
};

/// Each point of a variant is in as many of the slices that might be drawn as any other.
void take_slices(db::Evaluator& evaluator, const std::vector<const Variant*>& variants,
                 const db::Values& names, Reservoir& reservoir, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> products;
  for (const Variant* variant : variants) products.push_back(product_of(*variant));
  std::discrete_distribution<std::size_t> any_variant(products.begin(), products.end());
  const auto start = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >
           seconds_of_slices;
  };
  for (int drawn = 0; drawn < slices || (!reservoir.full() && !spent()); ++drawn) {
    const Variant& variant = *variants[any_variant(random)];
    std::vector<db::Parameter> slice = variant.parameters;
    std::vector<std::size_t> order(slice.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    double points = product_of(variant);
    for (const std::size_t i : order) {
      if (points <= points_of_a_slice) break;
      points /= static_cast<double>(slice[i].values.size());
      slice[i].values = {slice[i].values[random() % slice[i].values.size()]};
    }
    evaluator.enumerate(slice, variant.constraints, names, [&](const db::Values& parameters) {
      reservoir.offer(variant, parameters);
      return true;
    });
  }
  reservoir.drop_repeated();
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

SpaceSample sample_space(db::Evaluator& evaluator, const Family& family, const db::Problem& problem,
                         const DeviceInfo& device, std::size_t most, std::uint64_t seed) {
  db::Values names = problem_names(problem);
  names.merge(device.names());
  std::vector<const Variant*> variants;
  for (const Variant& variant : family.variants)
    if (variant.runs_on(device)) variants.push_back(&variant);
  Reservoir reservoir(most, seed);
  const bool all = std::all_of(variants.begin(), variants.end(), [&](const Variant* variant) {
    return evaluator.enumerate(
        variant->parameters, variant->constraints, names,
        [&](const db::Values& parameters) {
          reservoir.offer(*variant, parameters);
          return true;
        },
        steps_to_go_through);
  });
  if (!all) {
    reservoir = Reservoir(most, seed);
    take_slices(evaluator, variants, names, reservoir, seed);
  }
  SpaceSample sample;
  sample.whole = all && reservoir.offered() <= most;
  for (auto& [variant, parameters] : reservoir.take()) {
    const auto plan = make_plan(evaluator, family, *variant, parameters, problem, device);
    db::Configuration configuration{family.name, variant->name, std::move(parameters)};
    if (const auto* legal = std::get_if<Plan>(&plan))
      sample.points.push_back({std::move(configuration), legal->alignment, ""});
    else if (const auto& illegal = std::get<Illegal>(plan); illegal.exceeds_device && sample.whole)
      sample.points.push_back({std::move(configuration), 1, illegal.why});
  }
  return sample;
}

std::optional<Point> point_of(db::Evaluator& evaluator, const Family& family, const Variant& variant,
                              const db::Values& parameters, const db::Problem& problem,
                              const DeviceInfo& device) {
  const auto plan = make_plan(evaluator, family, variant, parameters, problem, device);
  const auto* legal = std::get_if<Plan>(&plan);
  if (legal == nullptr) return std::nullopt;
  return Point{{family.name, variant.name, parameters}, legal->alignment, ""};
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
