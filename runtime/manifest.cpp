// The manifest of a family, `<family>/<family>.toml`. An unknown key is an error. An expression is integer
// SQL; `names` below are what it may read:
//   problem names: the dimensions, element_size, element_type, layout
//   launch names:  problem names, the variant's parameters, and the device's (DeviceInfo::names())
//
// [family]         name (the folder's), version, description
//                  include                      optional: a file, found like a source, whose tables follow
//                  the
//                                               manifest's own
// [problem]        element_types = ["f32", …]
//                  layouts = ["nn", …]          optional; names of [a-z0-9_]
//                  dimensions = [{ name, minimum = 1, maximum }]
//                  strides = [{ name, default, at_least, minimum = 0, maximum }]  optional; dimensions that
//                  take the
//                                               expression `default` over earlier ones when they are not
//                                               given
//                  working_set, work            expressions over problem names: bytes, operations
//                  sweep                        optional: the dimension that --sweep varies; the first
// [[argument]]     name
//                  kind = "pointer" | "scalar"  optional: pointer
//                  type = "T" | "f32" …         optional: T, the problem's element type
//                  extent                       pointers: elements, an expression over problem names
//                  access = "read" | "write" | "read_write"   optional: read
//                  fill = "uniform" | "any" | number          optional: uniform
// [[variant]]      name, source, entry
//                  targets = ["host", "cuda >= sm_80", "cuda == sm_90a", "hip in [gfx90a, gfx942]", …]
//                  constraints = [expression over launch names, …]   optional; not zero where legal
//                  alignment                    optional: expression over launch names, bytes: "1"
//                  working_set, work            optional: expressions over launch names: bytes and operations
//                                               at least, where they are more than the problem's
//                  workspace                    optional: expression over launch names, bytes: "0"
//                  arguments = [names of arguments, dimensions and tensor maps, "workspace"]
//                                               optional, in the kernel's order: all arguments, then all
//                                               dimensions. A dimension is a 64-bit integer
// [[variant.tensor_map]]  name, argument
//                  extent, stride, box          lists of expressions over launch names, innermost axis first
//                  swizzle, promotion           optional: expressions, bytes: "0", "128"
// [variant.parameters]  name = [integers] or [texts of [a-z0-9_]]
// [variant.defaults]    name = value, for each parameter
// [variant.launch]      grid, block             1 to 3 expressions over launch names, or one
//                       cluster                 optional: blocks, like grid: "1"
//                       dynamic_shared          optional: bytes, expression: "0"
//                       overlap                 optional: expression, not 0 where the kernel waits for
//                       earlier ones: "0"
//                       covers, extent          optional, together: as many expressions as grid has at most;
//                       what one
//                                               block serves and what has to be served. "" leaves an axis
//                                               unchecked
// [[ladder]]       name, variant, parameters = { name = value, … }   the rest from the defaults
//                  best_of = [parameters]       optional: the fastest over all values of these
// [check]          reference                    source of the host function
//                  items                        expression over problem names
//                  comparison = "bitwise" | "relative" | "elementwise"
//                  bounds = { f16 = 1e-3, … }   but with bitwise: one for each element type
//                  extents = [{ dimension = value, … }, …]           optional
//                  large_extents = [{ dimension = value, …, element_types = ["i8"] }, …]   optional
//                  misalignments = [elements, …]                     optional

#include "runtime/manifest.hpp"

#define TOML_HEADER_ONLY 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "db/one_line.hpp"
#include "runtime/spelling.hpp"

namespace hone {

std::string ManifestLines::place(unsigned line) const {
  return line > own_lines_ ? fmt::format("{}:{}", included_, line - own_lines_)
                           : fmt::format("{}:{}", file_, line);
}

void ManifestLines::fail(const std::string& field, const std::string& what) const {
  std::string known = field;
  while (!known.empty() && !lines_.contains(known)) {
    const auto cut = known.find_last_of(".[");
    known.resize(cut == std::string::npos ? 0 : cut);
  }
  const std::string where = known.empty() ? file_ : place(lines_.at(known));
  // Names and texts are quoted as they are written.
  throw Error(ErrorCode::invalid,
              db::one_line(field.empty() ? fmt::format("{}: {}", where, what)
                                         : fmt::format("{}: {}: {}", where, field, what)));
}

namespace {

/// One table whose keys are all known, with typed access that names the field in every error.
class Table {
 public:
  Table(const toml::table& table, std::string path, ManifestLines& lines,
        std::initializer_list<std::string_view> known)
      : table_(table), path_(std::move(path)), lines_(lines) {
    const std::vector<std::string> names(known.begin(), known.end());
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      lines_.set(field(name), node.source().begin.line);
      if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end())
        lines_.fail(field(name), "no such key" + suggestion(name, names));
    }
  }

  std::string field(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }
  bool has(std::string_view key) const { return table_.contains(key); }
  ManifestLines& lines() const { return lines_; }
  const toml::table& raw() const { return table_; }

  const toml::node& node(std::string_view key) const {
    const toml::node* found = table_.get(key);
    if (found == nullptr) lines_.fail(path_, fmt::format("`{}` is missing", key));
    return *found;
  }

  std::string text(std::string_view key) const { return as_text(node(key), field(key)); }
  std::string text(std::string_view key, const std::string& otherwise) const {
    return has(key) ? text(key) : otherwise;
  }
  std::string name(std::string_view key) const {
    const std::string value = text(key);
    if (!is_name(value))
      lines_.fail(field(key), fmt::format("`{}` is not a name ([a-zA-Z][a-zA-Z0-9_]*)", value));
    return value;
  }
  std::string expression(std::string_view key) const { return as_expression(node(key), field(key)); }
  std::string expression(std::string_view key, const std::string& otherwise) const {
    return has(key) ? expression(key) : otherwise;
  }
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const {
    return has(key) ? as_integer(node(key), field(key)) : otherwise;
  }
  const toml::array& array(std::string_view key) const {
    const toml::array* found = node(key).as_array();
    if (found == nullptr) lines_.fail(field(key), "must be a list");
    return *found;
  }
  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < array(key).size(); ++i) all.push_back(as_text(array(key)[i], item(key, i)));
    return all;
  }
  std::string item(std::string_view key, std::size_t i) const { return fmt::format("{}[{}]", field(key), i); }
  const toml::table& table(std::string_view key) const { return as_table(node(key), field(key)); }

  std::string as_text(const toml::node& node, const std::string& where) const {
    const auto* found = node.as_string();
    if (found == nullptr) lines_.fail(where, "must be a text");
    return found->get();
  }
  std::string as_expression(const toml::node& node, const std::string& where) const {
    if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
    const auto* found = node.as_string();
    if (found == nullptr) lines_.fail(where, "must be an expression (a text)");
    return found->get();
  }
  std::int64_t as_integer(const toml::node& node, const std::string& where) const {
    const auto* found = node.as_integer();
    if (found == nullptr) lines_.fail(where, "must be an integer");
    return found->get();
  }
  const toml::table& as_table(const toml::node& node, const std::string& where) const {
    const toml::table* found = node.as_table();
    if (found == nullptr) lines_.fail(where, "must be a table");
    return *found;
  }
  db::Value as_value(const toml::node& node, const std::string& where) const {
    if (const auto* integer = node.as_integer()) return integer->get();
    if (const auto* text = node.as_string()) return text->get();
    lines_.fail(where, "must be an integer or a text");
  }
  ElementType as_element_type(const toml::node& node, const std::string& where) const {
    const std::string text = as_text(node, where);
    const auto type = parse_element_type(text);
    if (!type)
      lines_.fail(where,
                  fmt::format("`{}` is not an element type{}", text, suggestion(text, element_types())));
    return *type;
  }

  static std::vector<std::string> element_types() {
    std::vector<std::string> all;
    for (int i = 0; i <= static_cast<int>(ElementType::u8); ++i)
      all.emplace_back(hone::name(static_cast<ElementType>(i)));
    return all;
  }

 private:
  const toml::table& table_;
  std::string path_;
  ManifestLines& lines_;
};

/// A table's keys in the order they are written; the parser keeps them sorted.
std::vector<std::pair<std::string, const toml::node*>> written_order(const toml::table& table) {
  std::vector<std::pair<std::string, const toml::node*>> all;
  for (const auto& [key, node] : table) all.emplace_back(key.str(), &node);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    const auto& left = a.second->source().begin;
    const auto& right = b.second->source().begin;
    return std::pair(left.line, left.column) < std::pair(right.line, right.column);
  });
  return all;
}

/// `word` as one of `choices`, by position.
std::size_t choose(const Table& table, std::string_view key, const std::string& word,
                   const std::vector<std::string>& choices) {
  const auto found = std::find(choices.begin(), choices.end(), word);
  if (found == choices.end())
    table.lines().fail(table.field(key), fmt::format("`{}` is none of {}", word, fmt::join(choices, ", ")));
  return static_cast<std::size_t>(found - choices.begin());
}

void read_dimensions(const Table& problem, Family& family) {
  for (std::size_t i = 0; i < problem.array("dimensions").size(); ++i) {
    const std::string where = problem.item("dimensions", i);
    const Table table(problem.as_table(problem.array("dimensions")[i], where), where, problem.lines(),
                      {"name", "minimum", "maximum"});
    Dimension dimension;
    dimension.name = table.name("name");
    dimension.minimum = table.integer("minimum", dimension.minimum);
    dimension.maximum = table.integer("maximum", dimension.maximum);
    family.dimensions.push_back(dimension);
  }
  if (!problem.has("strides")) return;
  for (std::size_t i = 0; i < problem.array("strides").size(); ++i) {
    const std::string where = problem.item("strides", i);
    const Table table(problem.as_table(problem.array("strides")[i], where), where, problem.lines(),
                      {"name", "minimum", "maximum", "default", "at_least"});
    Dimension stride;
    stride.name = table.name("name");
    stride.minimum = table.integer("minimum", 0);
    stride.maximum = table.integer("maximum", stride.maximum);
    stride.by_default = table.expression("default");
    stride.at_least = table.expression("at_least", "");
    family.dimensions.push_back(stride);
  }
}

void read_problem(const toml::table& raw, Family& family, ManifestLines& lines) {
  const Table problem(raw, "problem", lines,
                      {"element_types", "layouts", "dimensions", "strides", "working_set", "work", "sweep"});
  for (std::size_t i = 0; i < problem.array("element_types").size(); ++i)
    family.element_types.push_back(
        problem.as_element_type(problem.array("element_types")[i], problem.item("element_types", i)));
  if (problem.has("layouts")) family.layouts = problem.texts("layouts");
  read_dimensions(problem, family);
  family.working_set = problem.expression("working_set");
  family.work = problem.expression("work");
  family.sweep = problem.text("sweep", "");
}

Argument read_argument(const Table& table) {
  Argument argument;
  argument.name = table.name("name");
  argument.kind =
      static_cast<ArgumentKind>(choose(table, "kind", table.text("kind", "pointer"), {"pointer", "scalar"}));
  if (table.text("type", "T") != "T")
    argument.type = table.as_element_type(table.node("type"), table.field("type"));
  if (argument.kind == ArgumentKind::pointer) {
    argument.extent = table.expression("extent");
  } else {
    for (const char* key : {"extent", "access"})
      if (table.has(key)) table.lines().fail(table.field(key), "a scalar has none: remove it");
  }
  argument.access = static_cast<ArgumentAccess>(
      choose(table, "access", table.text("access", "read"), {"read", "write", "read_write"}));
  if (table.has("fill")) {
    const toml::node& fill = table.node("fill");
    if (fill.is_number())
      argument.fill = fill.is_integer() ? std::to_string(fill.as_integer()->get())
                                        : fmt::format("{}", fill.as_floating_point()->get());
    else
      argument.fill = table.text("fill");
    if (!fill.is_number()) choose(table, "fill", argument.fill, {"uniform", "any"});
  }
  return argument;
}

/// One to three expressions, or one alone; returns how many.
std::size_t read_axes(const Table& table, std::string_view key, std::array<std::string, 3>& axes) {
  const toml::array* list = table.node(key).as_array();
  if (list == nullptr) {
    axes[0] = table.expression(key);
    return 1;
  }
  if (list->empty() || list->size() > 3) table.lines().fail(table.field(key), "must have 1 to 3 expressions");
  for (std::size_t i = 0; i < list->size(); ++i)
    axes.at(i) = table.as_expression((*list)[i], table.item(key, i));
  return list->size();
}

void read_launch(const Table& launch, Variant& variant) {
  const std::size_t axes = read_axes(launch, "grid", variant.grid);
  read_axes(launch, "block", variant.block);
  if (launch.has("cluster") && read_axes(launch, "cluster", variant.cluster) > axes)
    launch.lines().fail(launch.field("cluster"), "has more axes than `grid`");
  variant.dynamic_shared = launch.expression("dynamic_shared", "0");
  variant.overlap = launch.expression("overlap", "0");
  if (launch.has("covers") != launch.has("extent"))
    launch.lines().fail(launch.field(launch.has("covers") ? "covers" : "extent"),
                        "`covers` and `extent` come together: add the other");
  if (!launch.has("covers")) return;
  const std::size_t covered = read_axes(launch, "covers", variant.covers);
  if (read_axes(launch, "extent", variant.extent) != covered)
    launch.lines().fail(launch.field("extent"), "must have as many expressions as `covers`");
  if (covered > axes) launch.lines().fail(launch.field("covers"), "has more axes than `grid`");
}

std::vector<std::string> read_expressions(const Table& table, std::string_view key) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < table.array(key).size(); ++i)
    all.push_back(table.as_expression(table.array(key)[i], table.item(key, i)));
  return all;
}

TensorMapTemplate read_tensor_map(const Table& table, const Family& family) {
  TensorMapTemplate map;
  map.name = table.name("name");
  const std::string argument = table.text("argument");
  std::vector<std::string> known;
  for (const auto& each : family.arguments)
    if (each.kind == ArgumentKind::pointer) known.push_back(each.name);
  const auto found = std::find_if(
      family.arguments.begin(), family.arguments.end(),
      [&](const Argument& each) { return each.kind == ArgumentKind::pointer && each.name == argument; });
  if (found == family.arguments.end())
    table.lines().fail(table.field("argument"), fmt::format("`{}` is no pointer of the family{}", argument,
                                                            suggestion(argument, known)));
  map.argument = static_cast<std::size_t>(found - family.arguments.begin());
  map.extent = read_expressions(table, "extent");
  map.stride = read_expressions(table, "stride");
  map.box = read_expressions(table, "box");
  if (map.extent.empty() || map.extent.size() > kMaximumTensorRank)
    table.lines().fail(table.field("extent"), fmt::format("must have 1 to {} axes", kMaximumTensorRank));
  if (map.box.size() != map.extent.size())
    table.lines().fail(table.field("box"), "must have as many axes as `extent`");
  if (map.stride.size() + 1 != map.extent.size())
    table.lines().fail(table.field("stride"),
                       "must have one less than `extent`: the innermost axis has none");
  map.swizzle = table.expression("swizzle", map.swizzle);
  map.promotion = table.expression("promotion", map.promotion);
  return map;
}

void read_tensor_maps(const Table& table, const Family& family, Variant& variant) {
  if (!table.has("tensor_map")) return;
  const auto& list = table.array("tensor_map");
  if (list.size() > kMaximumTensorMaps)
    table.lines().fail(table.field("tensor_map"), fmt::format("at most {} are possible", kMaximumTensorMaps));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = table.item("tensor_map", i);
    variant.tensor_maps.push_back(
        read_tensor_map(Table(table.as_table(list[i], where), where, table.lines(),
                              {"name", "argument", "extent", "stride", "box", "swizzle", "promotion"}),
                        family));
  }
}

void read_launch_arguments(const Table& table, const Family& family, Variant& variant) {
  using From = LaunchArgument::From;
  if (!table.has("arguments")) {
    for (std::size_t i = 0; i < family.arguments.size(); ++i)
      variant.launch_arguments.push_back({From::argument, i});
    for (std::size_t i = 0; i < family.dimensions.size(); ++i)
      variant.launch_arguments.push_back({From::dimension, i});
    return;
  }
  std::vector<std::string> known;
  for (const auto& argument : family.arguments) known.push_back(argument.name);
  for (const auto& dimension : family.dimensions) known.push_back(dimension.name);
  for (const auto& map : variant.tensor_maps) known.push_back(map.name);
  const std::size_t dimensions = family.arguments.size();
  const std::size_t maps = dimensions + family.dimensions.size();
  if (table.has("workspace")) {
    if (std::find(known.begin(), known.end(), "workspace") != known.end())
      table.lines().fail(table.field("workspace"), "the name `workspace` is taken: rename the other");
    known.emplace_back("workspace");
  }
  const auto names = table.texts("arguments");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = std::find(known.begin(), known.end(), names[i]);
    if (found == known.end())
      table.lines().fail(table.item("arguments", i),
                         fmt::format("`{}` is no argument, dimension or tensor map{}", names[i],
                                     suggestion(names[i], known)));
    const auto at = static_cast<std::size_t>(found - known.begin());
    if (at < dimensions)
      variant.launch_arguments.push_back({From::argument, at});
    else if (at < maps)
      variant.launch_arguments.push_back({From::dimension, at - dimensions});
    else if (at < maps + variant.tensor_maps.size())
      variant.launch_arguments.push_back({From::tensor_map, at - maps});
    else
      variant.launch_arguments.push_back({From::workspace, 0});
  }
}

/// Every key is a parameter's; the values are not checked against its list here.
db::Values read_values(const Table& table, const Variant& variant) {
  std::vector<std::string> known;
  for (const auto& parameter : variant.parameters) known.push_back(parameter.name);
  db::Values values;
  for (const auto& [key, node] : table.raw()) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) == known.end())
      table.lines().fail(table.field(name), fmt::format("variant {} has no such parameter{}", variant.name,
                                                        suggestion(name, known)));
    values[name] = table.as_value(node, table.field(name));
  }
  return values;
}

Variant read_variant(const toml::table& raw, std::string where, const Family& family, ManifestLines& lines) {
  const Table table(raw, where, lines,
                    {"name", "source", "entry", "targets", "constraints", "alignment", "working_set", "work",
                     "workspace", "tensor_map", "arguments", "parameters", "defaults", "launch"});
  Variant variant;
  variant.name = table.name("name");
  variant.source_file = table.text("source");
  variant.entry = table.name("entry");
  const auto targets = table.texts("targets");
  if (targets.empty()) lines.fail(table.field("targets"), "must have at least one target");
  for (std::size_t i = 0; i < targets.size(); ++i) try {
      variant.targets.push_back(parse_target(targets[i]));
    } catch (const Error& error) {
      lines.fail(table.item("targets", i), error.what());
    }
  if (table.has("constraints"))
    for (std::size_t i = 0; i < table.array("constraints").size(); ++i)
      variant.constraints.push_back(
          table.as_expression(table.array("constraints")[i], table.item("constraints", i)));
  variant.alignment = table.expression("alignment", "1");
  if (table.has("working_set")) variant.working_set = table.expression("working_set");
  if (table.has("work")) variant.work = table.expression("work");
  variant.workspace = table.expression("workspace", variant.workspace);
  read_tensor_maps(table, family, variant);
  read_launch_arguments(table, family, variant);

  if (table.has("parameters")) {
    const Table parameters(table.table("parameters"), table.field("parameters"), lines, {});
    for (const auto& [name, node] : written_order(parameters.raw())) {
      db::Parameter parameter{name, {}};
      const auto& list = parameters.array(name);
      for (std::size_t i = 0; i < list.size(); ++i)
        parameter.values.push_back(parameters.as_value(list[i], parameters.item(name, i)));
      variant.parameters.push_back(std::move(parameter));
    }
  }
  if (table.has("defaults") || !variant.parameters.empty())
    variant.defaults =
        read_values(Table(table.table("defaults"), table.field("defaults"), lines, {}), variant);
  read_launch(Table(table.table("launch"), table.field("launch"), lines,
                    {"grid", "block", "cluster", "dynamic_shared", "overlap", "covers", "extent"}),
              variant);
  return variant;
}

LadderPoint read_ladder_point(const Table& table, const Family& family) {
  LadderPoint point;
  point.name = table.text("name");
  point.variant = table.text("variant");
  const Variant* variant = family.variant(point.variant);
  if (variant == nullptr) {
    std::vector<std::string> known;
    for (const auto& each : family.variants) known.push_back(each.name);
    table.lines().fail(table.field("variant"), fmt::format("no variant is called `{}`{}", point.variant,
                                                           suggestion(point.variant, known)));
  }
  point.parameters = variant->defaults;
  if (table.has("parameters"))
    for (auto& [name, value] : read_values(
             Table(table.table("parameters"), table.field("parameters"), table.lines(), {}), *variant))
      point.parameters[name] = std::move(value);
  if (table.has("best_of")) point.best_of = table.texts("best_of");
  for (const std::string& parameter : point.best_of) {
    if (point.parameters.contains(parameter)) continue;
    std::vector<std::string> known;
    for (const auto& [name, value] : point.parameters) known.push_back(name);
    table.lines().fail(table.field("best_of"),
                       fmt::format("no parameter is called `{}`{}", parameter, suggestion(parameter, known)));
  }
  return point;
}

/// One awkward extent; `types` is filled from its element_types where those are allowed.
std::vector<std::pair<std::string, std::int64_t>> read_extent(const Table& table, const Family& family,
                                                              std::vector<ElementType>* types) {
  std::vector<std::string> known;
  for (const auto& dimension : family.dimensions) known.push_back(dimension.name);
  std::vector<std::pair<std::string, std::int64_t>> extent;
  for (const auto& [name, node] : written_order(table.raw())) {
    if (types != nullptr && name == "element_types") {
      for (std::size_t i = 0; i < table.array(name).size(); ++i)
        types->push_back(table.as_element_type(table.array(name)[i], table.item(name, i)));
      continue;
    }
    if (std::find(known.begin(), known.end(), name) == known.end())
      table.lines().fail(table.field(name), "no such dimension" + suggestion(name, known));
    extent.emplace_back(name, table.as_integer(*node, table.field(name)));
  }
  return extent;
}

void read_check(const Table& table, Family& family) {
  Check& check = family.check;
  check.reference_file = table.text("reference");
  check.items = table.expression("items");
  check.comparison = static_cast<Comparison>(
      choose(table, "comparison", table.text("comparison"), {"bitwise", "relative", "elementwise"}));
  if (table.has("bounds")) {
    const Table bounds(table.table("bounds"), table.field("bounds"), table.lines(), {});
    for (const auto& [key, node] : bounds.raw()) {
      const std::string name(key.str());
      const auto type = parse_element_type(name);
      if (!type)
        table.lines().fail(bounds.field(name),
                           "not an element type" + suggestion(name, Table::element_types()));
      const auto bound = node.value<double>();
      if (!bound || !(*bound > 0)) table.lines().fail(bounds.field(name), "must be a number above 0");
      check.bounds[*type] = *bound;
    }
  }
  const auto each = [&](const char* key, const auto& take) {
    if (!table.has(key)) return;
    for (std::size_t i = 0; i < table.array(key).size(); ++i)
      take(Table(table.as_table(table.array(key)[i], table.item(key, i)), table.item(key, i), table.lines(),
                 {}));
  };
  each("extents",
       [&](const Table& extent) { check.extents.push_back(read_extent(extent, family, nullptr)); });
  each("large_extents", [&](const Table& extent) {
    std::vector<ElementType> types;
    check.large_extents.push_back(read_extent(extent, family, &types));
    check.large_element_types.push_back(std::move(types));
  });
  if (!table.has("misalignments")) return;
  for (std::size_t i = 0; i < table.array("misalignments").size(); ++i)
    check.misalignments.push_back(
        table.as_integer(table.array("misalignments")[i], table.item("misalignments", i)));
}

}  // namespace

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// The line of the first character outside texts and comments that is not ASCII, where TOML has none but in
/// what is wrong anyhow; 0: there is none. What is wrong may hide one: where texts begin and end is what TOML
/// says of what is right.
unsigned line_not_ascii(std::string_view text) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  unsigned line = 1;
  std::string_view quote;  // that ends the text which is open
  bool comment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool one_line = quote.size() == 1;
    if (c == '\n') {
      ++line;
      comment = false;
      if (one_line) quote = {};
    } else if (comment) {
      continue;
    } else if (!quote.empty()) {
      if (c == '\\' && quote.front() == '"') {
        ++i;
        if (i < text.size() && text[i] == '\n') --i;
      } else if (text.substr(i).starts_with(quote)) {
        const char mark = quote.front();
        i += quote.size() - 1;
        // Up to two of the same before the three that end a text belong to it.
        for (int more = 0; !one_line && more < 2 && i + 1 < text.size() && text[i + 1] == mark; ++more) ++i;
        quote = {};
      }
    } else if (c == '#') {
      comment = true;
    } else if (c == '"' || c == '\'') {
      const std::string_view three = c == '"' ? "\"\"\"" : "'''";
      quote = text.substr(i).starts_with(three) ? three : three.substr(0, 1);
      i += quote.size() - 1;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      return line;
    }
  }
  return 0;
}

/// Throws toml::parse_error. toml++ 3.3 runs into undefined behaviour where it looks, among characters that
/// are not ASCII, for the end of what it does not understand. So it is first shown the text without such
/// characters: what it understands then it understands with them, which are in texts and comments.
toml::table parsed(std::string_view text) {
  std::string in_ascii(text);
  const std::size_t start = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  std::replace_if(
      in_ascii.begin() + static_cast<std::ptrdiff_t>(start), in_ascii.end(),
      [](unsigned char c) { return c >= 0x80; }, 'x');
  // Not a copy of this one where they are the same: a copied table has forgotten its lines and their order.
  if (in_ascii != text) static_cast<void>(toml::parse(in_ascii));
  return toml::parse(text);
}

}  // namespace

std::string included_file(std::string_view manifest) {
  if (line_not_ascii(manifest) != 0) return {};
  try {
    return parsed(manifest)["family"]["include"].value_or(std::string());
  } catch (const toml::parse_error&) {
    return {};
  }
}

Family read_manifest(std::string_view text, ManifestLines& lines) {
  toml::table root;
  if (const unsigned line = line_not_ascii(text); line != 0)
    throw Error(ErrorCode::invalid,
                fmt::format("{}: not valid TOML: a character that is not ASCII outside a text or comment",
                            lines.place(line)));
  try {
    root = parsed(text);
  } catch (const toml::parse_error& error) {
    lines.set("line", error.source().begin.line);
    throw Error(ErrorCode::invalid,
                db::one_line(fmt::format("{}: not valid TOML: {}", lines.place(error.source().begin.line),
                                         error.description())));
  }
  const Table top(root, "", lines, {"family", "problem", "argument", "variant", "ladder", "check"});

  Family family;
  family.manifest = text;
  const Table head(top.table("family"), "family", lines, {"name", "version", "description", "include"});
  family.name = head.name("name");
  family.version = head.text("version");
  family.description = head.text("description");
  head.text("include", "");
  read_problem(top.table("problem"), family, lines);

  for (std::size_t i = 0; i < top.array("argument").size(); ++i)
    family.arguments.push_back(read_argument(
        Table(top.as_table(top.array("argument")[i], top.item("argument", i)), top.item("argument", i), lines,
              {"name", "kind", "type", "extent", "access", "fill"})));
  for (std::size_t i = 0; i < top.array("variant").size(); ++i)
    family.variants.push_back(read_variant(top.as_table(top.array("variant")[i], top.item("variant", i)),
                                           top.item("variant", i), family, lines));
  if (top.has("ladder"))
    for (std::size_t i = 0; i < top.array("ladder").size(); ++i)
      family.ladder.push_back(
          read_ladder_point(Table(top.as_table(top.array("ladder")[i], top.item("ladder", i)),
                                  top.item("ladder", i), lines, {"name", "variant", "parameters", "best_of"}),
                            family));
  read_check(
      Table(top.table("check"), "check", lines,
            {"reference", "items", "comparison", "bounds", "extents", "large_extents", "misalignments"}),
      family);
  return family;
}

}  // namespace hone
