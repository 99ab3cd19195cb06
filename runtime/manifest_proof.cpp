// What must hold between a manifest's fields.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "db/error.hpp"
#include "runtime/architectures.hpp"
#include "runtime/manifest.hpp"
#include "runtime/plan.hpp"
#include "runtime/spelling.hpp"

namespace hone {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// Characters that may stand in a macro's name, once upper-cased.
bool fits_macro(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

class Proof {
 public:
  Proof(const Family& family, const ManifestLines& lines) : family_(family), lines_(lines) {}

  void run() {
    prove_problem();
    prove_arguments();
    for (std::size_t i = 0; i < family_.variants.size(); ++i) prove_variant(i);
    for (std::size_t i = 0; i < family_.ladder.size(); ++i) prove_ladder_point(i);
    prove_check();
  }

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& what) const {
    lines_.fail(field, what);
  }

  /// The expression is valid over `known`.
  void prove(const std::string& field, const std::string& expression, const std::set<std::string>& known) {
    try {
      evaluator_.names(expression, known);
    } catch (const db::Error& error) {
      fail(field, error.what());
    }
  }

  /// SQL does not tell the case of names apart, so neither may a manifest.
  void claim(std::set<std::string>& taken, const std::string& field, const std::string& name) const {
    if (!taken.insert(lower(name)).second) fail(field, fmt::format("the name `{}` is taken", name));
  }

  void prove_problem() {
    if (family_.element_types.empty()) fail("problem.element_types", "must name at least one element type");
    if (std::set(family_.element_types.begin(), family_.element_types.end()).size() !=
        family_.element_types.size())
      fail("problem.element_types", "names one twice");
    if (std::set(family_.layouts.begin(), family_.layouts.end()).size() != family_.layouts.size())
      fail("problem.layouts", "names one twice");
    for (const auto& layout : family_.layouts)
      if (!fits_macro(layout)) fail("problem.layouts", fmt::format("`{}` may only have [a-z0-9_]", layout));

    if (family_.dimensions.empty()) fail("problem.dimensions", "must name at least one dimension");
    if (family_.dimensions.size() > kMaximumDimensions)
      fail("problem.dimensions", fmt::format("with strides, at most {} are possible", kMaximumDimensions));
    problem_names_ = {"element_size", "element_type", "layout"};
    for (const auto& [name, value] : DeviceInfo{}.names()) device_names_.insert(name);
    for (const auto& name : problem_names_) taken_.insert(name);
    for (const auto& name : device_names_) taken_.insert(name);

    std::set<std::string> earlier = problem_names_;
    for (std::size_t i = 0; i < family_.dimensions.size(); ++i) {
      const Dimension& dimension = family_.dimensions[i];
      const std::string field = dimension.by_default.empty() ? "problem.dimensions" : "problem.strides";
      claim(taken_, field, dimension.name);
      if (dimension.minimum < 0) fail(field, fmt::format("{}: minimum must not be negative", dimension.name));
      if (dimension.minimum > dimension.maximum)
        fail(field, fmt::format("{}: minimum {} is above maximum {}", dimension.name, dimension.minimum,
                                dimension.maximum));
      if (!dimension.by_default.empty()) prove(field, dimension.by_default, earlier);
      if (!dimension.at_least.empty()) prove(field, dimension.at_least, earlier);
      earlier.insert(dimension.name);
    }
    problem_names_ = earlier;
    prove("problem.working_set", family_.working_set, problem_names_);
    prove("problem.work", family_.work, problem_names_);
    if (!family_.sweep.empty() && !is_dimension(family_.sweep))
      fail("problem.sweep", fmt::format("`{}` is no dimension", family_.sweep));
  }

  bool is_dimension(const std::string& name) const {
    return std::any_of(family_.dimensions.begin(), family_.dimensions.end(),
                       [&](const Dimension& dimension) { return dimension.name == name; });
  }

  void prove_arguments() {
    if (family_.arguments.empty()) fail("argument", "must have at least one argument");
    if (family_.arguments.size() > kMaximumArguments)
      fail("argument", fmt::format("at most {} are possible", kMaximumArguments));
    std::set<std::string> names;
    for (const auto& dimension : family_.dimensions) names.insert(lower(dimension.name));
    bool writes = false;
    for (std::size_t i = 0; i < family_.arguments.size(); ++i) {
      const Argument& argument = family_.arguments[i];
      const std::string where = fmt::format("argument[{}]", i);
      claim(names, where + ".name", argument.name);
      if (argument.kind == ArgumentKind::pointer) prove(where + ".extent", argument.extent, problem_names_);
      writes = writes || argument.access != ArgumentAccess::read;
    }
    if (!writes) fail("argument", "one must have access = \"write\" or \"read_write\"");
  }

  void prove_parameters(const Variant& variant, const std::string& where) {
    std::set<std::string> names = taken_;
    std::set<std::string> macros;
    for (const auto& parameter : variant.parameters) {
      const std::string field = fmt::format("{}.parameters.{}", where, parameter.name);
      if (!is_name(parameter.name) || parameter.name != lower(parameter.name))
        fail(field, "a parameter's name must be [a-z][a-z0-9_]*");
      claim(names, field, parameter.name);
      for (const char* prefix : {"backend_", "element_", "layout_"})
        if (parameter.name.starts_with(prefix))
          fail(field, fmt::format("names that start with `{}` are kept for macros", prefix));
      if (parameter.values.empty()) fail(field, "must list at least one value");
      const bool is_text = std::holds_alternative<std::string>(parameter.values.front());
      std::set<db::Value> values;
      claim_macro(macros, field, parameter.name);
      for (const auto& value : parameter.values) {
        if (std::holds_alternative<std::string>(value) != is_text)
          fail(field, "lists both integers and texts: use one kind");
        if (!values.insert(value).second) fail(field, fmt::format("lists {} twice", db::to_string(value)));
        if (!is_text) continue;
        const auto& text = std::get<std::string>(value);
        if (!fits_macro(text) || text != lower(text))
          fail(field, fmt::format("`{}` may only have [a-z0-9_]: it becomes a macro's name", text));
        claim_macro(macros, field, parameter.name + "_" + text);
      }
    }
  }

  void claim_macro(std::set<std::string>& macros, const std::string& field, const std::string& name) const {
    if (!macros.insert(name).second)
      fail(field, fmt::format("two of the variant's macros would be HONE_{}: rename", upper(name)));
  }

  /// Each parameter has a value out of its list.
  void prove_point(const Variant& variant, const db::Values& values, const std::string& field) const {
    for (const auto& parameter : variant.parameters) {
      const auto found = values.find(parameter.name);
      if (found == values.end()) fail(field, fmt::format("`{}` is missing", parameter.name));
      if (std::find(parameter.values.begin(), parameter.values.end(), found->second) ==
          parameter.values.end())
        fail(field, fmt::format("{} = {} is not in the parameter's list", parameter.name,
                                db::to_string(found->second)));
    }
  }

  void prove_variant(std::size_t index) {
    const Variant& variant = family_.variants[index];
    const std::string where = fmt::format("variant[{}]", index);
    if (family_.variant(variant.name) != &variant)
      fail(where + ".name", fmt::format("two variants are called `{}`", variant.name));
    if (variant.launch_arguments.size() > kMaximumLaunchArguments)
      fail(where + ".arguments", fmt::format("at most {} are possible", kMaximumLaunchArguments));
    prove_parameters(variant, where);
    prove_point(variant, variant.defaults, where + ".defaults");

    std::set<std::string> names = problem_names_;
    names.insert(device_names_.begin(), device_names_.end());
    for (const auto& parameter : variant.parameters) names.insert(parameter.name);
    for (std::size_t i = 0; i < variant.constraints.size(); ++i)
      prove(fmt::format("{}.constraints[{}]", where, i), variant.constraints[i], names);
    prove(where + ".alignment", variant.alignment, names);
    if (!variant.working_set.empty()) prove(where + ".working_set", variant.working_set, names);
    if (!variant.work.empty()) prove(where + ".work", variant.work, names);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      prove(fmt::format("{}.launch.grid[{}]", where, axis), variant.grid.at(axis), names);
      prove(fmt::format("{}.launch.block[{}]", where, axis), variant.block.at(axis), names);
      if (variant.covers.at(axis).empty() != variant.extent.at(axis).empty())
        fail(where + ".launch.covers", "an axis with `covers` needs its `extent`, and the other way round");
      if (variant.covers.at(axis).empty()) continue;
      prove(fmt::format("{}.launch.covers[{}]", where, axis), variant.covers.at(axis), names);
      prove(fmt::format("{}.launch.extent[{}]", where, axis), variant.extent.at(axis), names);
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
      prove(fmt::format("{}.launch.cluster[{}]", where, axis), variant.cluster.at(axis), names);
    prove(where + ".launch.dynamic_shared", variant.dynamic_shared, names);
    prove(where + ".launch.overlap", variant.overlap, names);
    prove(where + ".workspace", variant.workspace, names);
    if (variant.workspace != "0")
      require_taken(variant, {LaunchArgument::From::workspace, 0}, where + ".workspace", "workspace");
    prove_tensor_maps(variant, where, names);
  }

  /// What the kernel is not given is a mistake.
  void require_taken(const Variant& variant, const LaunchArgument& argument, const std::string& field,
                     const std::string& name) const {
    if (std::none_of(variant.launch_arguments.begin(), variant.launch_arguments.end(),
                     [&](const LaunchArgument& each) {
                       return each.from == argument.from && each.index == argument.index;
                     }))
      fail(field, fmt::format("the kernel does not take it: name `{}` in `arguments`", name));
  }

  void prove_tensor_maps(const Variant& variant, const std::string& where,
                         const std::set<std::string>& names) {
    std::set<std::string> taken = taken_;
    for (const auto& argument : family_.arguments) taken.insert(lower(argument.name));
    for (std::size_t i = 0; i < variant.tensor_maps.size(); ++i) {
      const TensorMapTemplate& map = variant.tensor_maps[i];
      const std::string field = fmt::format("{}.tensor_map[{}]", where, i);
      claim(taken, field + ".name", map.name);
      require_taken(variant, {LaunchArgument::From::tensor_map, i}, field, map.name);
      for (const auto& [key, expressions] :
           {std::pair("extent", &map.extent), std::pair("stride", &map.stride), std::pair("box", &map.box)})
        for (std::size_t axis = 0; axis < expressions->size(); ++axis)
          prove(fmt::format("{}.{}[{}]", field, key, axis), expressions->at(axis), names);
      prove(field + ".swizzle", map.swizzle, names);
      prove(field + ".promotion", map.promotion, names);
    }
    if (variant.tensor_maps.empty()) return;
    constexpr int first_with_tensor_maps = 90;
    const auto has_them = [](const std::string& architecture) {
      return compute_capability(architecture) >= first_with_tensor_maps;
    };
    for (const Target& target : variant.targets)
      if (target.backend != Backend::cuda ||
          (target.at_least_sm < first_with_tensor_maps &&
           (target.architectures.empty() ||
            !std::all_of(target.architectures.begin(), target.architectures.end(), has_them))))
        fail(where + ".targets", "a variant with tensor maps runs on CUDA from sm_90 on alone");
  }

  void prove_ladder_point(std::size_t index) const {
    const LadderPoint& point = family_.ladder[index];
    const std::string where = fmt::format("ladder[{}]", index);
    for (std::size_t i = 0; i < index; ++i)
      if (family_.ladder[i].name == point.name)
        fail(where + ".name", fmt::format("`{}` is taken", point.name));
    prove_point(*family_.variant(point.variant), point.parameters, where + ".parameters");
  }

  void prove_check() {
    const Check& check = family_.check;
    prove("check.items", check.items, problem_names_);
    if (check.comparison != Comparison::bitwise) {
      for (const ElementType type : family_.element_types)
        if (!check.bounds.contains(type)) fail("check.bounds", fmt::format("`{}` is missing", name(type)));
    } else if (!check.bounds.empty()) {
      fail("check.bounds", "a bitwise comparison has no bounds: remove it");
    }
    for (const std::int64_t offset : check.misalignments)
      if (offset < 1) fail("check.misalignments", fmt::format("{} must be at least 1 element", offset));
    for (std::size_t i = 0; i < check.extents.size(); ++i)
      for (const ElementType type : family_.element_types)
        prove_extent(fmt::format("check.extents[{}]", i), check.extents[i], type);
    for (std::size_t i = 0; i < check.large_extents.size(); ++i)
      for (const ElementType type : family_.element_types)
        if (check.large_extent_serves(i, type))
          prove_extent(fmt::format("check.large_extents[{}]", i), check.large_extents[i], type);
  }

  void prove_extent(const std::string& field, const std::vector<std::pair<std::string, std::int64_t>>& extent,
                    ElementType type) {
    try {
      make_problem(evaluator_, family_, name(type), family_.layouts.empty() ? "" : family_.layouts.front(),
                   extent);
    } catch (const Error& error) {
      fail(field, error.what());
    }
  }

  const Family& family_;
  const ManifestLines& lines_;
  db::Evaluator evaluator_;
  std::set<std::string> problem_names_;
  std::set<std::string> device_names_;
  std::set<std::string> taken_;  ///< lower case; what a parameter may not be called
};

}  // namespace

void prove_manifest(const Family& family, const ManifestLines& lines) {
  if (family.variants.empty()) lines.fail("variant", "must have at least one variant");
  Proof(family, lines).run();
}

}  // namespace hone
