#include "tools/where.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hone/error.hpp"
#include "tools/parse.hpp"

namespace hone::tools {
namespace {

constexpr const char* variant_word = "variant";

void add_once(std::vector<db::Value>& values, const db::Value& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

/// Of the variants that count, in the manifest's order.
template <typename Counts>
std::vector<db::Value> values_in(const Family& family, const std::string& parameter, const Counts& counts) {
  std::vector<db::Value> values;
  for (const Variant& variant : family.variants) {
    if (!counts(variant)) continue;
    if (parameter == variant_word) add_once(values, variant.name);
    for (const db::Parameter& each : variant.parameters)
      if (each.name == parameter)
        for (const db::Value& value : each.values) add_once(values, value);
  }
  return values;
}

}  // namespace

std::optional<db::Value> value_of(const db::Configuration& configuration, const std::string& parameter) {
  if (parameter == variant_word) return configuration.variant;
  const auto found = configuration.parameters.find(parameter);
  return found == configuration.parameters.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> parameters_of(const Family& family) {
  std::vector<std::string> names{variant_word};
  for (const Variant& variant : family.variants)
    for (const db::Parameter& parameter : variant.parameters)
      if (std::find(names.begin(), names.end(), parameter.name) == names.end())
        names.push_back(parameter.name);
  return names;
}

std::vector<db::Value> values_of(const Family& family, const std::string& parameter) {
  return values_in(family, parameter, [](const Variant&) { return true; });
}

void add_where_flag(Options& options) {
  options.list("where", "NAME=VALUES",
               "only configurations whose parameter (or variant) has one of these values: load=default,nt");
}

Where::Where(const Options& options, const Family& family) : family_(family) {
  Conditions conditions;
  for (const std::string& text : options.all("where")) add(conditions, "--where", text);
  for (const std::string& text : options.all("at")) {
    if (text.find(',') != std::string::npos)
      throw Error(ErrorCode::invalid,
                  fmt::format("--at: `{}` gives several values; give one, or --where", text));
    add(conditions, "--at", text);
  }
  conditions_ = std::move(conditions);
}

void Where::add(Conditions& conditions, const std::string& flag, const std::string& text) const {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw Error(ErrorCode::invalid, fmt::format("{}: `{}` is not valid; write store=nt{}", flag, text,
                                                flag == "--where" ? " or load=default,nt" : ""));
  }
  const std::string parameter = text.substr(0, equals);
  const std::vector<db::Value> known = values(flag, parameter);
  for (const std::string& value : split_list(flag, {text.substr(equals + 1)})) {
    parse_parameter_value(flag + " " + parameter, value, known);
    conditions[parameter].push_back(value);
  }
}

bool Where::match(const db::Configuration& configuration) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const auto& condition) {
    const auto value = value_of(configuration, condition.first);
    return value && allows(condition.first, *value);
  });
}

std::vector<db::Value> Where::values(std::string_view flag, const std::string& parameter) const {
  parse_choice(flag, parameter, parameters_of(family_));
  std::vector<db::Value> values = values_in(
      family_, parameter, [&](const Variant& variant) { return allows(variant_word, variant.name); });
  std::erase_if(values, [&](const db::Value& value) { return !allows(parameter, value); });
  return values;
}

std::vector<std::string> Where::open_but(const std::vector<std::string>& named) const {
  std::vector<std::string> open;
  for (const std::string& parameter : parameters_of(family_))
    if (std::find(named.begin(), named.end(), parameter) == named.end() && values("", parameter).size() > 1)
      open.push_back(parameter);
  return open;
}

std::string Where::text() const {
  std::vector<std::string> texts;
  for (const auto& [parameter, values] : conditions_)
    texts.push_back(fmt::format("{}={}", parameter, fmt::join(values, ",")));
  return fmt::format("{}", fmt::join(texts, " "));
}

bool Where::allows(const std::string& parameter, const db::Value& value) const {
  const auto found = conditions_.find(parameter);
  return found == conditions_.end() ||
         std::find(found->second.begin(), found->second.end(), db::to_string(value)) != found->second.end();
}

db::Value parse_parameter_value(std::string_view flag, std::string_view text,
                                const std::vector<db::Value>& known) {
  std::vector<std::string> texts;
  texts.reserve(known.size());
  for (const db::Value& value : known) texts.push_back(db::to_string(value));
  parse_choice(flag, text, texts);
  return known[static_cast<std::size_t>(std::find(texts.begin(), texts.end(), text) - texts.begin())];
}

}  // namespace hone::tools
