#include "tuner/t1_problem.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/element_type.hpp"
#include "tuner/json_file.hpp"
#include "tuner/python_expression.hpp"

namespace hone::tuner {
namespace {

using Json = nlohmann::json;

/// T1's words, without the number of a vector's elements.
std::optional<ElementType> element_type_of(const std::string& word) {
  static const std::map<std::string, ElementType> scalars{
      {"half", ElementType::f16}, {"float", ElementType::f32}, {"double", ElementType::f64},
      {"int8", ElementType::i8},  {"uint8", ElementType::u8},  {"int32", ElementType::i32},
      {"int64", ElementType::i64}};
  for (const auto& [name, type] : scalars) {
    if (word == name) return type;
    for (const char* elements : {"2", "4", "8", "16"})
      if (word == name + elements && !name.starts_with("int") && !name.starts_with("uint")) return type;
  }
  return std::nullopt;
}

/// The bytes of an element of an array: `float4` has 16.
std::optional<std::int64_t> bytes_of(const std::string& word) {
  const auto type = element_type_of(word);
  if (!type) return std::nullopt;
  const auto size = static_cast<std::int64_t>(size_of(*type));
  if (word.starts_with("int") || word.starts_with("uint")) return size;
  const std::size_t digits = word.find_first_of("0123456789");
  return digits == std::string::npos ? size : size * std::stoll(word.substr(digits));
}

class Reader {
 public:
  Reader(const std::filesystem::path& file, const Json& json) : file_(file), json_(json) {}

  T1Problem problem() const {
    T1Problem problem;
    const Json& space = object(json_, "ConfigurationSpace", "");
    const Json& kernel = object(json_, "KernelSpecification", "");
    problem.kernel = text(kernel, "KernelName", "KernelSpecification.");
    read_parameters(space, problem);
    read_conditions(space, problem);
    read_arguments(kernel, problem);
    if (const auto size = kernel.find("ProblemSize"); size != kernel.end())
      problem.dimensions = sizes(extents(*size));
    if (problem.dimensions.empty())
      fail("KernelSpecification",
           "has neither `ProblemSize` nor integers among `Arguments`, so that its problem "
           "has no dimensions");
    return problem;
  }

 private:
  [[noreturn]] void fail(const std::string& where, const std::string& why) const {
    fail_in(file_, where, why);
  }

  const Json& at(const Json& in, const char* key, const std::string& path) const {
    const auto found = in.is_object() ? in.find(key) : in.end();
    if (!in.is_object() || found == in.end()) fail(path + key, "is missing; is it a problem in T1?");
    return *found;
  }
  const Json& object(const Json& in, const char* key, const std::string& path) const {
    const Json& found = at(in, key, path);
    if (!found.is_object()) fail(path + key, "is not an object");
    return found;
  }
  const Json& array(const Json& in, const char* key, const std::string& path) const {
    const Json& found = at(in, key, path);
    if (!found.is_array()) fail(path + key, "is not an array");
    return found;
  }
  std::string text(const Json& in, const char* key, const std::string& path) const {
    const Json& found = at(in, key, path);
    if (!found.is_string()) fail(path + key, "is not a text");
    return found.get<std::string>();
  }

  void read_parameters(const Json& space, T1Problem& problem) const {
    const Json& list = array(space, "TuningParameters", "ConfigurationSpace.");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string where = fmt::format("ConfigurationSpace.TuningParameters[{}].", i);
      const std::string type = text(list[i], "Type", where), values = text(list[i], "Values", where);
      if (type == "float") fail(where + "Type", "is `float`; hone's parameters are integers and texts");
      try {
        problem.parameters.push_back({text(list[i], "Name", where), values_of_python(values)});
      } catch (const NotUnderstood& why) {
        fail(where + "Values", fmt::format("`{:.60}`: {}", values, why.what()));
      }
    }
    if (list.empty()) fail("ConfigurationSpace.TuningParameters", "is empty");
  }

  void read_conditions(const Json& space, T1Problem& problem) const {
    if (!space.contains("Conditions")) return;
    std::set<std::string> names;
    for (const db::Parameter& parameter : problem.parameters) names.insert(parameter.name);
    const Json& list = array(space, "Conditions", "ConfigurationSpace.");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string where = fmt::format("ConfigurationSpace.Conditions[{}].", i);
      const std::string expression = text(list[i], "Expression", where);
      try {
        problem.constraints.push_back(sql_of_python(expression, names));
      } catch (const NotUnderstood& why) {
        fail(where + "Expression", fmt::format("`{:.60}`: {}", expression, why.what()));
      }
    }
  }

  std::vector<std::int64_t> extents(const Json& size) const {
    std::vector<std::int64_t> found;
    for (const Json& extent : size.is_array() ? size : Json::array({size})) {
      if (!extent.is_number_integer() || extent.get<std::int64_t>() < 1)
        fail("KernelSpecification.ProblemSize", "has an extent that is no integer above zero");
      found.push_back(extent.get<std::int64_t>());
    }
    if (found.empty() || found.size() > 3)
      fail("KernelSpecification.ProblemSize", "does not have one to three extents");
    return found;
  }

  void read_arguments(const Json& kernel, T1Problem& problem) const {
    if (!kernel.contains("Arguments")) return;
    const Json& list = array(kernel, "Arguments", "KernelSpecification.");
    std::string read_only_type;
    std::optional<std::int64_t> bytes = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string where = fmt::format("KernelSpecification.Arguments[{}].", i);
      const std::string type = text(list[i], "Type", where);
      const std::string memory = text(list[i], "MemoryType", where);
      if (memory == "Scalar") read_scalar(list[i], type, problem);
      if (memory != "Vector") continue;
      const std::string access =
          list[i].contains("AccessType") ? text(list[i], "AccessType", where) : "ReadOnly";
      const auto element = element_type_of(type);
      std::string& of = access == "ReadOnly" ? read_only_type : problem.element_type;
      if (of.empty() && element) of = name(*element);
      bytes = sum(bytes, list[i], bytes_of(type), access == "ReadWrite" ? 2 : 1);
    }
    if (problem.element_type.empty()) problem.element_type = read_only_type;
    if (bytes && *bytes > 0) problem.working_set = bytes;
  }

  /// An integer of a name and a constant value is an extent.
  static void read_scalar(const Json& argument, const std::string& type, T1Problem& problem) {
    const auto name = argument.find("Name"), value = argument.find("FillValue");
    if ((type.starts_with("int") || type.starts_with("uint")) && name != argument.end() &&
        name->is_string() && value != argument.end() && value->is_number_integer() &&
        value->get<std::int64_t>() >= 1)
      problem.dimensions.emplace_back(name->get<std::string>(), value->get<std::int64_t>());
  }

  /// None once there is an array of unknown size.
  static std::optional<std::int64_t> sum(std::optional<std::int64_t> so_far, const Json& argument,
                                         std::optional<std::int64_t> element, std::int64_t times) {
    const auto size = argument.find("Size");
    if (!so_far || !element || size == argument.end() || !size->is_number_integer()) return std::nullopt;
    std::int64_t bytes = 0;
    if (size->get<std::int64_t>() < 0 ||
        __builtin_mul_overflow(size->get<std::int64_t>(), *element * times, &bytes) ||
        __builtin_add_overflow(*so_far, bytes, &bytes))
      return std::nullopt;
    return bytes;
  }

  const std::filesystem::path& file_;
  const Json& json_;
};

}  // namespace

std::vector<std::pair<std::string, std::int64_t>> sizes(const std::vector<std::int64_t>& extents) {
  constexpr const char* axes[] = {"size_x", "size_y", "size_z"};
  std::vector<std::pair<std::string, std::int64_t>> named;
  for (std::size_t i = 0; i < extents.size(); ++i) named.emplace_back(axes[i], extents[i]);
  return named;
}

T1Problem read_t1(const std::filesystem::path& file) {
  const Json json = parse_json(file, text_of(file));
  return Reader(file, json).problem();
}

}  // namespace hone::tuner
