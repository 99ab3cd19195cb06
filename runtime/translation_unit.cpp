#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "runtime/plan.hpp"

namespace hone {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return result;
}

}  // namespace

std::string parameter_macro(const std::string& parameter) {
  return "HONE_" + upper(parameter);
}

std::string problem_macros(const std::string& element_type, const std::string& layout, Backend backend) {
  const auto type = parse_element_type(element_type);
  if (!type) throw Error(ErrorCode::invalid, fmt::format("`{}` is not an element type", element_type));
  std::string text = fmt::format("#define HONE_BACKEND_{} 1\n", upper(name(backend)));
  text += fmt::format("#define HONE_ELEMENT_{} 1\n", upper(element_type));
  text += fmt::format("#define HONE_ELEMENT_SIZE {}\n", size_of(*type));
  if (!layout.empty()) text += fmt::format("#define HONE_LAYOUT_{} 1\n", upper(layout));
  return text;
}

std::string value_macros(const db::Parameter& parameter) {
  std::string text;
  for (std::size_t i = 0; i < parameter.values.size(); ++i)
    if (std::holds_alternative<std::string>(parameter.values[i]))
      text += fmt::format("#define {} {}\n", value_macro(parameter.name, parameter.values[i]), i);
  return text;
}

std::string value_macro(const std::string& parameter, const db::Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? db::to_string(value) : parameter_macro(parameter) + "_" + upper(*text);
}

std::string translation_unit(const Variant& variant, const db::Values& parameters,
                             const std::string& element_type, const std::string& layout, Backend backend) {
  std::string text = problem_macros(element_type, layout, backend);
  for (const auto& parameter : variant.parameters) {
    const auto found = parameters.find(parameter.name);
    if (found == parameters.end())
      throw Error(ErrorCode::invalid,
                  fmt::format("a configuration of {} has no value for `{}`", variant.name, parameter.name));
    const db::Value& value = found->second;
    if (std::holds_alternative<std::string>(value) &&
        std::find(parameter.values.begin(), parameter.values.end(), value) == parameter.values.end())
      throw Error(ErrorCode::invalid, fmt::format("{} has no value `{}` for `{}`", variant.name,
                                                  db::to_string(value), parameter.name));
    if (std::holds_alternative<std::string>(value)) text += value_macros(parameter);
    text +=
        fmt::format("#define {} {}\n", parameter_macro(parameter.name), value_macro(parameter.name, value));
  }
  return text + variant.source;
}

}  // namespace hone
