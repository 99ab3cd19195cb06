#include "runtime/predictor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "db/error.hpp"
#include "db/tokens.hpp"
#include "runtime/plan.hpp"

namespace hone {
namespace {

// Found by leaving out one of 124 problems of addmm_glu at a time, measured on an H200 (bench/RESULTS.md);
// what is chosen changes little between half and twice as much.
constexpr double nearest_distance = 0.2;  // squared, in doublings: nearer problems count no more
constexpr double no_neighbour = 0.02;     // weight of there being nothing to correct
// Of a member that was measured at few problems it is taken that it does as all do at the others, with this
// weight: the terms that those few cannot tell apart come from there.
constexpr double weight_of_all = 0.01;
constexpr double large_extent = 1 << 16;  // of problems where blocks beyond the edges do not count
constexpr int fitting_rounds = 400;       // of coordinate descent; it converges in some dozens

std::vector<double> place_of(const db::Problem& problem, std::size_t extents) {
  std::vector<double> place;
  for (std::size_t i = 0; i < extents; ++i)
    place.push_back(std::log2(static_cast<double>(std::max<std::int64_t>(1, problem.dimensions[i].second))));
  return place;
}

std::string literal(const db::Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer != nullptr) return fmt::format("({})", *integer);
  std::string quoted = "'";
  for (const char c : std::get<std::string>(value)) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

/// An expression with all names but the problem's put in: every configuration with the same tiles has the
/// same.
std::string with_values(const std::string& expression, const db::Values& values) {
  return db::render(expression, [&](const std::string& name) {
    const auto value = values.find(name);
    return value == values.end() ? name : literal(value->second);
  });
}

/// The blocks that a configuration needs for a problem, as an expression over the problem's names; where its
/// manifest does not say, those that it launches.
std::string blocks_of(const Variant& variant, const db::Values& parameters, const DeviceInfo& device) {
  db::Values values = device.names();
  for (const auto& [name, value] : parameters) values[name] = value;
  std::string product;
  const auto multiply = [&](const std::string& factor) {
    product += (product.empty() ? "" : " * ") + factor;
  };
  for (std::size_t axis = 0; axis < variant.covers.size(); ++axis) {
    if (variant.covers.at(axis).empty()) continue;
    const std::string served = with_values(variant.covers.at(axis), values);
    multiply(
        fmt::format("((({0}) + ({1}) - 1) / ({1}))", with_values(variant.extent.at(axis), values), served));
  }
  if (!product.empty()) return product;
  for (const std::string& blocks : variant.grid) multiply(fmt::format("({})", with_values(blocks, values)));
  return product;
}

/// Blocks that a compute unit has at once of those of a problem, as far as the manifest shows: registers are
/// not known.
double resident_blocks(db::Evaluator& evaluator, const Family& family, const Predictor::Member& member,
                       const db::Problem& problem, const DeviceInfo& device) {
  const auto planned =
      make_busy_plan(evaluator, family, *member.variant, *member.parameters, problem, device);
  const auto* plan = std::get_if<Plan>(&planned);
  if (plan == nullptr) return 1;
  const auto product = [](const std::array<std::uint32_t, 3>& of) {
    return static_cast<double>(of[0]) * of[1] * of[2];
  };
  const Geometry& geometry = plan->geometry;
  // Most units hold twice the threads that a block may have. Blocks that take tile after tile are few.
  double blocks = std::min(std::floor(2.0 * device.max_threads / product(geometry.block)),
                           std::ceil(product(geometry.grid) / std::max(1, device.compute_units)));
  if (geometry.dynamic_shared_bytes > 0)
    blocks = std::min(
        blocks, std::floor(static_cast<double>(device.shared_memory_bytes) / geometry.dynamic_shared_bytes));
  return std::max(1.0, blocks);
}

double count(db::Evaluator& evaluator, const std::string& blocks, const db::Problem& problem,
             const db::Values& names) {
  try {
    return static_cast<double>(std::max<std::int64_t>(1, evaluator.evaluate(blocks, names)));
  } catch (const db::Error& error) {
    throw Error(ErrorCode::invalid, fmt::format("{}: blocks: {}", problem.text(), error.what()));
  }
}

}  // namespace

Predictor::Predictor(db::Evaluator& evaluator, const Family& family, const DeviceInfo& device,
                     std::span<const db::Problem> problems, std::span<const Member> members)
    : units_(static_cast<double>(std::max<std::int64_t>(1, device.compute_units))) {
  extents_ = static_cast<std::size_t>(
      std::count_if(family.dimensions.begin(), family.dimensions.end(),
                    [](const Dimension& dimension) { return dimension.by_default.empty(); }));
  if (problems.empty()) return;
  for (const Member& member : members) {
    Fitted fitted;
    fitted.blocks =
        find_or_add(evaluator, problems.front(), blocks_of(*member.variant, *member.parameters, device));
    members_.push_back(std::move(fitted));
  }
  std::vector<Size> sizes;
  for (const db::Problem& problem : problems) {
    places_.push_back(place_of(problem, extents_));
    sizes.push_back(size_of(evaluator, family, problem, places_.back()));
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& measured = members[i].measured;
    const auto blocks_at = [&](const auto& each) { return sizes[each.first].blocks[members_[i].blocks]; };
    const auto most = std::max_element(measured.begin(), measured.end(), [&](const auto& a, const auto& b) {
      return blocks_at(a) < blocks_at(b);
    });
    if (most != measured.end())
      members_[i].resident = resident_blocks(evaluator, family, members[i], problems[most->first], device);
  }
  fit_all(sizes, members);
}

/// What counts blocks by `expression`. For large problems a count is a power of each extent, mostly the first
/// or none; where it is no such thing, `filled` is no less right than the count itself.
std::size_t Predictor::find_or_add(db::Evaluator& evaluator, const db::Problem& like,
                                   std::string expression) {
  const auto found = std::find(expressions_.begin(), expressions_.end(), expression);
  if (found != expressions_.end()) return static_cast<std::size_t>(found - expressions_.begin());
  Blocks blocks{0, std::vector<double>(extents_, 0)};
  db::Problem large = like;
  for (auto& [name, extent] : large.dimensions) extent = static_cast<std::int64_t>(large_extent);
  const auto doublings = [&] { return std::log2(count(evaluator, expression, large, problem_names(large))); };
  const double base = doublings();
  blocks.constant = base;
  for (std::size_t i = 0; i < extents_; ++i) {
    large.dimensions[i].second *= 2;
    blocks.powers[i] = std::round(doublings() - base);
    large.dimensions[i].second /= 2;
    blocks.constant -= blocks.powers[i] * std::log2(large_extent);
  }
  expressions_.push_back(std::move(expression));
  blocks_.push_back(std::move(blocks));
  return blocks_.size() - 1;
}

Predictor::Size Predictor::size_of(db::Evaluator& evaluator, const Family& family, const db::Problem& problem,
                                   const std::vector<double>& place) const {
  Size size;
  size.work = static_cast<double>(work(evaluator, family, problem));
  size.bytes = static_cast<double>(working_set(evaluator, family, problem));
  const db::Values names = problem_names(problem);
  const auto counts = evaluator.evaluate_each(expressions_, names);
  for (std::size_t each = 0; each < counts.size(); ++each) {
    size.blocks.push_back(counts[each] ? static_cast<double>(std::max<std::int64_t>(1, *counts[each]))
                                       : count(evaluator, expressions_[each], problem, names));
    double filled = blocks_[each].constant;
    for (std::size_t i = 0; i < extents_; ++i) filled += blocks_[each].powers[i] * place[i];
    size.filled.push_back(std::exp2(filled));
  }
  return size;
}

Predictor::Terms Predictor::terms_of(const Size& size, const Fitted& member) const {
  const double blocks = size.blocks[member.blocks];
  const double waves = std::ceil(blocks / units_);
  const double work_of_block = size.work / size.filled[member.blocks];
  const double together = member.resident > 1 ? std::ceil(blocks / (units_ * member.resident)) : 0;
  return {1,
          size.bytes,
          waves,
          waves * work_of_block,
          blocks * work_of_block,
          together,
          together * work_of_block};
}

void Predictor::fit_all(const std::vector<Size>& sizes, std::span<const Member> members) {
  std::vector<Sample> all;
  for (std::size_t i = 0; i < members.size(); ++i)
    for (const auto& [problem, time] : members[i].measured)
      all.push_back({terms_of(sizes[problem], members_[i]), time, 1});
  const Terms common = fit(all);
  misses_.assign(sizes.size() * members.size(), 0);
  measured_ = misses_;
  for (std::size_t i = 0; i < members.size(); ++i) {
    Fitted& fitted = members_[i];
    std::vector<Sample> samples;
    double slower = 0;  // than the common sum: the mean of the logarithms
    for (const auto& [problem, time] : members[i].measured) {
      samples.push_back({terms_of(sizes[problem], fitted), time, 1});
      slower += std::log(time / sum(common, samples.back().terms));
      measured_[problem * members.size() + i] = 1;
    }
    slower = std::exp(slower / static_cast<double>(std::max<std::size_t>(1, samples.size())));
    for (std::size_t problem = 0; problem < sizes.size(); ++problem) {
      if (measured_[problem * members.size() + i] > 0) continue;
      const Terms terms_there = terms_of(sizes[problem], fitted);
      samples.push_back({terms_there, slower * sum(common, terms_there), weight_of_all});
    }
    fitted.weights = fit(samples);
    for (std::size_t m = 0; m < members[i].measured.size(); ++m)
      misses_[members[i].measured[m].first * members.size() + i] =
          std::log(samples[m].nanoseconds / sum(fitted.weights, samples[m].terms));
  }
}

double Predictor::sum(const Terms& weights, const Terms& of) {
  double total = 0;
  for (std::size_t i = 0; i < terms; ++i) total += weights.at(i) * of.at(i);
  return total;
}

/// Weights that are not negative, by coordinate descent on the normal equations of relative errors, whose
/// columns are scaled alike.
Predictor::Terms Predictor::fit(const std::vector<Sample>& samples) {
  std::array<Terms, terms> products{};
  Terms sums{}, scale{}, weights{};
  for (const Sample& sample : samples)
    for (std::size_t i = 0; i < terms; ++i) {
      const double value = sample.terms.at(i) / sample.nanoseconds;
      scale.at(i) += sample.weight * value * value;
    }
  for (double& each : scale) each = each > 0 ? 1 / std::sqrt(each) : 0;
  for (const Sample& sample : samples) {
    Terms row{};
    for (std::size_t i = 0; i < terms; ++i) row.at(i) = sample.terms.at(i) / sample.nanoseconds * scale.at(i);
    for (std::size_t i = 0; i < terms; ++i) {
      sums.at(i) += sample.weight * row.at(i);
      for (std::size_t j = 0; j < terms; ++j) products.at(i).at(j) += sample.weight * row.at(i) * row.at(j);
    }
  }
  for (int round = 0; round < fitting_rounds; ++round)
    for (std::size_t i = 0; i < terms; ++i) {
      if (products.at(i).at(i) <= 0) continue;
      const double slope = sums.at(i) - sum(products.at(i), weights);
      weights.at(i) = std::max(0.0, weights.at(i) + slope / products.at(i).at(i));
    }
  for (std::size_t i = 0; i < terms; ++i) weights.at(i) *= scale.at(i);
  return weights;
}

std::vector<double> Predictor::nanoseconds(db::Evaluator& evaluator, const Family& family,
                                           const db::Problem& problem) const {
  const std::vector<double> place = place_of(problem, extents_);
  const Size size = size_of(evaluator, family, problem, place);
  std::vector<double> missed(members_.size(), 0), weight(members_.size(), no_neighbour);
  for (std::size_t other = 0; other < places_.size(); ++other) {
    double squared = nearest_distance;
    for (std::size_t i = 0; i < extents_; ++i) {
      const double apart = place[i] - places_[other][i];
      squared += apart * apart;
    }
    const double nearness = 1 / (squared * squared);
    const double* const misses = misses_.data() + other * members_.size();
    const double* const measured = measured_.data() + other * members_.size();
    for (std::size_t m = 0; m < missed.size(); ++m) {
      missed[m] += nearness * misses[m];
      weight[m] += nearness * measured[m];
    }
  }
  std::vector<double> expected;
  for (std::size_t m = 0; m < members_.size(); ++m)
    expected.push_back(sum(members_[m].weights, terms_of(size, members_[m])) *
                       std::exp(missed[m] / weight[m]));
  return expected;
}

}  // namespace hone
