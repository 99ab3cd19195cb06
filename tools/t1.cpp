#include "tools/t1.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "db/backup.hpp"
#include "db/private_file.hpp"
#include "runtime/plan.hpp"
#include "runtime/plural.hpp"
#include "tools/json.hpp"
#include "tools/python.hpp"
#include "tools/recorded_devices.hpp"

namespace hone::tools {
namespace {

[[noreturn]] void fail(const std::string& line) {
  throw Error(ErrorCode::invalid, "db export --as t1: " + line);
}

db::Problem chosen_problem(db::Store& store, const Filters& filters) {
  std::vector<db::Problem> found;
  for (db::Problem& problem : store.problems(filters.filter()))
    if (filters.match(problem)) found.push_back(std::move(problem));
  if (found.size() == 1) return found[0];
  if (found.empty()) fail(fmt::format("no problem of {} matches", filters.family()));
  fail(fmt::format("{} problems of {} match; choose one with --dtype and --shape, such as {}", found.size(),
                   filters.family(), std::min_element(found.begin(), found.end())->text()));
}

DeviceInfo chosen_device(db::Store& store, const Filters& filters) {
  std::vector<db::Device> found;
  for (const auto& [id, device] : store.devices())
    if (filters.match_device(id)) found.push_back(device);
  if (found.size() != 1)
    fail(fmt::format("{} devices match; choose one with --device, by its name", found.size()));
  if (found[0].backend != "cuda")
    fail(fmt::format("T1 knows kernels of CUDA, OpenCL and Vulkan, and {} is a device of {}", found[0].name,
                     found[0].backend));
  return with_limits(found[0]);
}

const Variant& chosen_variant(const Family& family, const DeviceInfo& device, const std::string& name) {
  std::vector<std::string> there;
  const Variant* found = nullptr;
  for (const Variant& variant : family.variants) {
    if (!variant.runs_on(device)) continue;
    there.push_back(variant.name);
    if (name.empty() || name == variant.name) found = &variant;
  }
  if (found == nullptr || (name.empty() && there.size() > 1))
    fail(fmt::format("choose one of {}'s variants with --variant: {}", family.name, fmt::join(there, ", ")));
  return *found;
}

/// T1's word, and its bytes where it has none.
std::string type_members(ElementType type) {
  static const std::map<ElementType, const char*> words{
      {ElementType::f16, "half"}, {ElementType::f32, "float"}, {ElementType::f64, "double"},
      {ElementType::i8, "int8"},  {ElementType::u8, "uint8"},  {ElementType::i32, "int32"},
      {ElementType::i64, "int64"}};
  const auto word = words.find(type);
  return fmt::format("\"Type\": \"{}\", \"TypeSize\": {}", word == words.end() ? "custom" : word->second,
                     size_of(type));
}

std::string argument_object(const Argument& argument, const ArgumentShape& shape) {
  const bool random = argument.fill == "uniform" || argument.fill == "any";
  std::string text =
      fmt::format("{{\"Name\": {}, {}, \"MemoryType\": \"{}\", \"FillType\": \"{}\", \"FillValue\": {}",
                  json_string(argument.name), type_members(shape.type),
                  argument.kind == ArgumentKind::scalar ? "Scalar" : "Vector", random ? "Random" : "Constant",
                  random ? "1.0" : argument.fill);
  if (argument.kind == ArgumentKind::scalar) return text + "}";
  const char* access = argument.access == ArgumentAccess::read    ? "ReadOnly"
                       : argument.access == ArgumentAccess::write ? "WriteOnly"
                                                                  : "ReadWrite";
  return text + fmt::format(", \"Size\": {}, \"AccessType\": \"{}\"}}", shape.elements, access);
}

std::string arguments_array(db::Evaluator& evaluator, const Family& family, const Variant& variant,
                            const db::Problem& problem) {
  const std::vector<ArgumentShape> shapes = argument_shapes(evaluator, family, problem);
  std::vector<std::string> objects;
  for (const LaunchArgument& argument : variant.launch_arguments) {
    switch (argument.from) {
      case LaunchArgument::From::argument:
        objects.push_back(argument_object(family.arguments[argument.index], shapes[argument.index]));
        break;
      case LaunchArgument::From::dimension: {
        const auto& [name, extent] = problem.dimensions[argument.index];
        objects.push_back(
            fmt::format("{{\"Name\": {}, \"Type\": \"int64\", \"TypeSize\": 8, \"MemoryType\": \"Scalar\", "
                        "\"FillType\": \"Constant\", \"FillValue\": {}}}",
                        json_string(name), extent));
        break;
      }
      case LaunchArgument::From::tensor_map:
        fail(fmt::format("{} takes tensor maps, for which T1 has no word", variant.name));
      case LaunchArgument::From::workspace:
        fail(fmt::format("{} takes a workspace, for which T1 has no word", variant.name));
    }
  }
  return fmt::format("[\n      {}]", fmt::join(objects, ",\n      "));
}

bool is_text(const db::Parameter& parameter) {
  return std::holds_alternative<std::string>(parameter.values.front());
}

std::string parameters_array(const Variant& variant) {
  std::vector<std::string> objects;
  for (const db::Parameter& parameter : variant.parameters) {
    std::vector<std::string> values;
    for (const db::Value& value : parameter.values) values.push_back(python_literal(value));
    const db::Value& by_default = variant.defaults.find(parameter.name)->second;
    const auto* text = std::get_if<std::string>(&by_default);
    objects.push_back(fmt::format("{{\"Name\": {}, \"Type\": \"{}\", \"Values\": {}, \"Default\": {}}}",
                                  json_string(parameter.name), is_text(parameter) ? "string" : "int",
                                  json_string(fmt::format("[{}]", fmt::join(values, ", "))),
                                  text != nullptr ? json_string(*text) : db::to_string(by_default)));
  }
  return fmt::format("[\n      {}]", fmt::join(objects, ",\n      "));
}

/// Every block has a size, and no more threads than the device.
std::vector<std::string> constraints_of(const Variant& variant) {
  std::vector<std::string> all = variant.constraints;
  std::string threads = "1";
  for (const std::string& axis : variant.block) threads += fmt::format(" * ({})", axis);
  all.push_back(threads + " BETWEEN 1 AND max_threads");
  return all;
}

std::string sizes_object(PythonExpressions& python, const std::array<std::string, 3>& axes) {
  return fmt::format("{{\"X\": {}, \"Y\": {}, \"Z\": {}}}", json_string(python.value(axes[0])),
                     json_string(python.value(axes[1])), json_string(python.value(axes[2])));
}

/// The source's macros, from those that a tuner of T1 problems defines: a parameter's name as its value. The
/// name is freed, since the source may have it.
std::string kernel_source(const Variant& variant, const db::Problem& problem) {
  std::string text = problem_macros(problem.element_type, problem.layout, Backend::cuda) +
                     "#define T1_JOINED_(a, b) a##b\n#define T1_JOINED(a, b) T1_JOINED_(a, b)\n";
  for (const db::Parameter& parameter : variant.parameters) {
    const std::string& name = parameter.name;
    const bool texts = is_text(parameter);
    std::string choice;
    for (std::size_t i = 0; i < parameter.values.size(); ++i) {
      const std::string value = db::to_string(parameter.values[i]);
      if (texts) text += fmt::format("#define T1_{}_{} {}\n", name, value, i);
      choice += fmt::format("#{} {} == {}\n#define {} {}\n", i == 0 ? "if" : "elif",
                            texts ? fmt::format("T1_JOINED(T1_{}_, {})", name, name) : name,
                            texts ? std::to_string(i) : value, parameter_macro(name),
                            value_macro(name, parameter.values[i]));
    }
    text += value_macros(parameter) + choice + fmt::format("#endif\n#undef {}\n", name);
  }
  return text + variant.source;
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out)
    throw Error(ErrorCode::environment,
                fmt::format("{}: cannot be written; make room or check the permissions", file.string()));
}

/// What T1 has no word for must not be there.
void require_fit(PythonExpressions& python, const Variant& variant) {
  if (python.value(variant.workspace) != "0")
    fail(fmt::format("{} takes a workspace, for which T1 has no word", variant.name));
  for (const std::string& axis : variant.cluster)
    if (python.value(axis) != "1")
      fail(fmt::format("{} has clusters of blocks, for which T1 has no word", variant.name));
}

/// T1 has one number.
std::string shared_memory(PythonExpressions& python, const Variant& variant) {
  const std::string bytes = python.value(variant.dynamic_shared);
  if (bytes.find_first_not_of("0123456789") != std::string::npos)
    fail(fmt::format("{}'s shared memory depends on its parameters, and T1 has one number for it",
                     variant.name));
  return bytes;
}

std::string conditions_array(const std::vector<PythonExpressions::Condition>& conditions) {
  std::vector<std::string> objects;
  for (const PythonExpressions::Condition& condition : conditions)
    objects.push_back(fmt::format("{{\"Parameters\": {}, \"Expression\": {}}}",
                                  json_array(condition.parameters), json_string(condition.expression)));
  return fmt::format("[\n      {}]", fmt::join(objects, ",\n      "));
}

}  // namespace

std::string write_t1(db::Store& store, const Filters& filters, const std::string& variant_name,
                     const std::filesystem::path& to) {
  const Family family = family_from_records(tuned_templates(store, filters.family()));
  const db::Problem problem = chosen_problem(store, filters);
  const DeviceInfo device = chosen_device(store, filters);
  const Variant& variant = chosen_variant(family, device, variant_name);
  db::Evaluator evaluator;
  db::Values constants = problem_names(problem);
  constants.merge(device.names());
  PythonExpressions python(evaluator, variant.parameters, constants);
  require_fit(python, variant);
  const auto conditions = python.conditions(constraints_of(variant));
  const std::string document = fmt::format(
      R"({{"General": {{"FormatVersion": 1, "TimeUnit": "Nanoseconds", "OutputFormat": "JSON"}},
  "ConfigurationSpace": {{
    "TuningParameters": {},
    "Conditions": {}}},
  "KernelSpecification": {{
    "Language": "CUDA", "KernelName": {}, "KernelFile": "kernel.cu", "CompilerOptions": ["-std=c++17"],
    "Device": {{"Name": {}}}, "SharedMemory": {}, "GlobalSizeType": "CUDA",
    "GlobalSize": {},
    "LocalSize": {},
    "Arguments": {}}},
  "family": {}, "variant": {}, "element_type": {}, "layout": {}, "shape": {}, "working_set_bytes": {}}}
)",
      parameters_array(variant), conditions_array(conditions), json_string(variant.entry),
      json_string(device.name), shared_memory(python, variant), sizes_object(python, variant.grid),
      sizes_object(python, variant.block), arguments_array(evaluator, family, variant, problem),
      json_string(family.name), json_string(variant.name), json_string(problem.element_type),
      json_string(problem.layout), json_object({problem.dimensions.begin(), problem.dimensions.end()}),
      working_set(evaluator, family, problem));
  db::publish(to, [&](const std::filesystem::path& part) {
    std::filesystem::remove(part);
    db::make_private_folders(part);
    write(part / "problem.json", document);
    write(part / "kernel.cu", kernel_source(variant, problem));
  });
  return fmt::format("{}: {} of {} on {}: {}, {}", to.string(), variant.name, problem.text(), device.name,
                     plural(variant.parameters.size(), "parameter"), plural(conditions.size(), "condition"));
}

}  // namespace hone::tools
