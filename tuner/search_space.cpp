#include "tuner/search_space.hpp"

#include <algorithm>

namespace hone::tuner {

namespace {

std::vector<db::Value> ordered(std::vector<db::Value> values) {
  std::stable_sort(values.begin(), values.end(), [](const db::Value& a, const db::Value& b) {
    const auto* x = std::get_if<std::int64_t>(&a);
    const auto* y = std::get_if<std::int64_t>(&b);
    return x != nullptr && (y == nullptr || *x < *y);
  });
  return values;
}

const db::Parameter* parameter_of(const Variant& variant, const std::string& name) {
  const auto at = std::find_if(variant.parameters.begin(), variant.parameters.end(),
                               [&](const db::Parameter& p) { return p.name == name; });
  return at == variant.parameters.end() ? nullptr : &*at;
}

std::optional<char16_t> level_of(const Dimension& dimension, const db::Value& value) {
  const auto at = std::find(dimension.values.begin(), dimension.values.end(), value);
  if (at == dimension.values.end()) return std::nullopt;
  return static_cast<char16_t>(at - dimension.values.begin());
}

}  // namespace

bool Dimension::numeric() const {
  return std::all_of(values.begin(), values.end(),
                     [](const db::Value& v) { return std::holds_alternative<std::int64_t>(v); });
}

SearchSpace::SearchSpace(std::vector<const Variant*> variants) : variants_(std::move(variants)) {
  dimensions_.push_back({"variant", {}, false});
  for (const Variant* variant : variants_) {
    dimensions_[0].values.emplace_back(variant->name);
    for (const db::Parameter& parameter : variant->parameters) {
      auto at = std::find_if(std::next(dimensions_.begin()), dimensions_.end(),
                             [&](const Dimension& d) { return d.name == parameter.name; });
      if (at == dimensions_.end()) at = dimensions_.insert(at, {parameter.name, {}, false});
      for (const db::Value& value : parameter.values)
        if (!level_of(*at, value)) at->values.push_back(value);
    }
  }
  for (std::size_t d = 1; d < dimensions_.size(); ++d) {
    dimensions_[d].values = ordered(std::move(dimensions_[d].values));
    for (const Variant* variant : variants_)
      if (parameter_of(*variant, dimensions_[d].name) == nullptr) dimensions_[d].may_be_absent = true;
  }
  for (std::size_t v = 0; v < variants_.size(); ++v) {
    std::vector<std::vector<char16_t>> levels{{static_cast<char16_t>(v)}};
    for (std::size_t d = 1; d < dimensions_.size(); ++d) {
      const db::Parameter* parameter = parameter_of(*variants_[v], dimensions_[d].name);
      levels.emplace_back();
      if (parameter == nullptr)
        levels.back().push_back(static_cast<char16_t>(dimensions_[d].values.size()));
      else
        for (const db::Value& value : parameter->values)
          levels.back().push_back(*level_of(dimensions_[d], value));
    }
    allowed_.push_back(std::move(levels));
  }
}

std::optional<Levels> SearchSpace::levels_of(const db::Configuration& configuration) const {
  const auto variant = level_of(dimensions_[0], configuration.variant);
  if (!variant) return std::nullopt;
  Levels levels(1, *variant);
  std::size_t used = 0;
  for (std::size_t d = 1; d < dimensions_.size(); ++d) {
    const auto at = configuration.parameters.find(dimensions_[d].name);
    const std::vector<char16_t>& allowed = allowed_[*variant][d];
    const auto level = at == configuration.parameters.end()
                           ? std::optional(static_cast<char16_t>(dimensions_[d].values.size()))
                           : level_of(dimensions_[d], at->second);
    if (!level || std::find(allowed.begin(), allowed.end(), *level) == allowed.end()) return std::nullopt;
    if (at != configuration.parameters.end()) ++used;
    levels.push_back(*level);
  }
  if (used != configuration.parameters.size()) return std::nullopt;
  return levels;
}

std::size_t SearchSpace::add(const db::Configuration& configuration, std::int64_t alignment) {
  return add(levels_of(configuration).value(), alignment);
}

std::size_t SearchSpace::add(const Levels& levels, std::int64_t alignment) {
  points_.push_back(&indices_.emplace(levels, points_.size()).first->first);
  alignments_.push_back(alignment);
  return points_.size() - 1;
}

std::optional<std::size_t> SearchSpace::find(const Levels& levels) const {
  const auto at = indices_.find(levels);
  return at == indices_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<std::size_t> SearchSpace::find_or_admit(const Levels& levels) {
  if (const auto known = find(levels)) return known;
  if (!admit_ || refused_.contains(levels)) return std::nullopt;
  db::Values parameters;
  for (std::size_t d = 1; d < dimensions_.size(); ++d)
    if (levels[d] < dimensions_[d].values.size())
      parameters[dimensions_[d].name] = dimensions_[d].values[levels[d]];
  const auto alignment = admit_(*variants_[levels[0]], parameters);
  if (!alignment) {
    refused_.insert(levels);
    return std::nullopt;
  }
  return add(levels, *alignment);
}

Levels SearchSpace::moved_to(const Levels& levels, std::size_t variant) const {
  Levels moved(1, static_cast<char16_t>(variant));
  for (std::size_t d = 1; d < dimensions_.size(); ++d) {
    const std::vector<char16_t>& allowed = allowed_[variant][d];
    if (std::find(allowed.begin(), allowed.end(), levels[d]) != allowed.end()) {
      moved.push_back(levels[d]);
      continue;
    }
    const auto by_default = variants_[variant]->defaults.find(dimensions_[d].name);
    moved.push_back(by_default == variants_[variant]->defaults.end()
                        ? allowed.front()
                        : level_of(dimensions_[d], by_default->second).value_or(allowed.front()));
  }
  return moved;
}

std::vector<std::size_t> SearchSpace::neighbours(std::size_t point) {
  const Levels levels = *points_[point];
  std::vector<std::size_t> result;
  const auto consider = [&](const Levels& other) {
    if (const auto found = find_or_admit(other)) result.push_back(*found);
  };
  for (std::size_t variant = 0; variant < variants_.size(); ++variant)
    if (variant != levels[0]) consider(moved_to(levels, variant));
  for (std::size_t d = 1; d < dimensions_.size(); ++d)
    for (const char16_t level : allowed_[levels[0]][d]) {
      if (level == levels[d]) continue;
      Levels other = levels;
      other[d] = level;
      consider(other);
    }
  return result;
}

}  // namespace hone::tuner
