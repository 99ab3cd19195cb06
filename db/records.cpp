#include "db/records.hpp"

#include <iterator>

namespace hone::db {
namespace {

constexpr const char* regimes[] = {"steady", "cold"};
constexpr const char* stages[] = {"first_look", "race"};
constexpr const char* outcomes[] = {
    "ok",           "raced_out",     "pruned",        "compile_failed", "resources_exceeded", "launch_failed",
    "wrong_result", "wrote_outside", "input_changed", "over_launched",  "timed_out",          "crashed"};
static_assert(std::size(outcomes) == static_cast<std::size_t>(Outcome::crashed) + 1);

template <typename Enum, std::size_t n>
std::optional<Enum> parse(const char* const (&names)[n], std::string_view text) {
  for (std::size_t i = 0; i < n; ++i) {
    if (text == names[i]) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

void add(KeyBuilder& key, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    key.add(*number);
  } else {
    key.add(std::string_view(std::get<std::string>(value)));
  }
}

std::int64_t count(const auto& container) {
  return static_cast<std::int64_t>(container.size());
}

}  // namespace

bool is_failure(Outcome outcome) {
  return outcome != Outcome::ok && outcome != Outcome::raced_out && outcome != Outcome::pruned;
}

bool is_fault(Outcome outcome) {
  switch (outcome) {
    case Outcome::wrong_result:
    case Outcome::wrote_outside:
    case Outcome::input_changed:
    case Outcome::over_launched:
    case Outcome::crashed:
      return true;
    default:
      return false;
  }
}

const char* name(Regime regime) {
  return regimes[static_cast<std::size_t>(regime)];
}
const char* name(Outcome outcome) {
  return outcomes[static_cast<std::size_t>(outcome)];
}
const char* name(Stage stage) {
  return stages[static_cast<std::size_t>(stage)];
}
std::optional<Regime> parse_regime(std::string_view text) {
  return parse<Regime>(regimes, text);
}
std::optional<Outcome> parse_outcome(std::string_view text) {
  return parse<Outcome>(outcomes, text);
}
std::optional<Stage> parse_stage(std::string_view text) {
  return parse<Stage>(stages, text);
}

Id Device::id() const {
  return KeyBuilder()
      .add("device")
      .add(backend)
      .add(name)
      .add(architecture)
      .add(compute_units)
      .add(memory_bytes)
      .add(last_level_cache_bytes)
      .add(partition)
      .id();
}

Id Environment::id() const {
  KeyBuilder key;
  key.add("environment").add(count(items));
  for (const auto& [item, text] : items) key.add(item).add(text);
  return key.id();
}

Id text_id(const std::string& content) {
  return KeyBuilder().add("text").add(content).id();
}

Id Problem::id() const {
  KeyBuilder key;
  key.add("problem").add(family).add(element_type).add(layout).add(count(dimensions));
  for (const auto& [dimension, extent] : dimensions) key.add(dimension).add(extent);
  return key.id();
}

std::string Problem::text() const {
  std::string text = family + ' ' + element_type;
  if (!layout.empty()) text += ' ' + layout;
  for (const auto& [dimension, extent] : dimensions) text += ' ' + dimension + '=' + std::to_string(extent);
  return text;
}

Id Configuration::id() const {
  KeyBuilder key;
  key.add("configuration").add(family).add(variant).add(count(parameters));
  for (const auto& [parameter, value] : parameters) {
    key.add(parameter);
    add(key, value);
  }
  return key.id();
}

std::string Configuration::text() const {
  return parameters.empty() ? variant : variant + ' ' + to_string(parameters);
}

const char* Band::extrapolated() const {
  if (extrapolated_below) return extrapolated_above ? "both" : "below";
  return extrapolated_above ? "above" : "";
}

}  // namespace hone::db
