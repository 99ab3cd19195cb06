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

std::string translation_unit(const Variant& variant, const db::Values& parameters,
                             const std::string& element_type, const std::string& layout, Backend backend) {
  const auto type = parse_element_type(element_type);
  if (!type) throw Error(ErrorCode::invalid, fmt::format("`{}` is not an element type", element_type));
  std::string text = fmt::format("#define HONE_BACKEND_{} 1\n", upper(name(backend)));
  text += fmt::format("#define HONE_ELEMENT_{} 1\n", upper(element_type));
  text += fmt::format("#define HONE_ELEMENT_SIZE {}\n", size_of(*type));
  if (!layout.empty()) text += fmt::format("#define HONE_LAYOUT_{} 1\n", upper(layout));
  for (const auto& parameter : variant.parameters) {
    const auto found = parameters.find(parameter.name);
    if (found == parameters.end())
      throw Error(ErrorCode::invalid,
                  fmt::format("a configuration of {} has no value for `{}`", variant.name, parameter.name));
    const std::string macro = "HONE_" + upper(parameter.name);
    if (std::holds_alternative<std::int64_t>(found->second)) {
      text += fmt::format("#define {} {}\n", macro, db::to_string(found->second));
      continue;
    }
    if (std::find(parameter.values.begin(), parameter.values.end(), found->second) == parameter.values.end())
      throw Error(ErrorCode::invalid, fmt::format("{} has no value `{}` for `{}`", variant.name,
                                                  db::to_string(found->second), parameter.name));
    for (std::size_t i = 0; i < parameter.values.size(); ++i)
      text += fmt::format("#define {}_{} {}\n", macro, upper(db::to_string(parameter.values[i])), i);
    text += fmt::format("#define {} {}_{}\n", macro, macro, upper(db::to_string(found->second)));
  }
  return text + variant.source;
}

}  // namespace hone
