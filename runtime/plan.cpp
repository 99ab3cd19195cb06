#include "runtime/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>

#include "db/error.hpp"
#include "runtime/architectures.hpp"
#include "runtime/spelling.hpp"

namespace hone {
namespace {

constexpr std::int64_t kLargestGridX = 2147483647;
constexpr std::int64_t kLargestGridYZ = 65535;
constexpr std::int64_t kLargestBlockXY = 65536;  // far above every device's threads, and three fit 64 bits
constexpr std::int64_t kLargestBlockZ = 64;
constexpr std::int64_t kLargestAlignment = 4096;
constexpr std::int64_t kLargestCluster = 8;       // what every device with clusters has
constexpr int kFirstWithClusters = 90;            // compute capability
constexpr std::int64_t kTensorMapAlignment = 16;  // of addresses, strides and rows of a box

[[noreturn]] void fail(const std::string& line) {
  throw Error(ErrorCode::invalid, line);
}

/// A manifest's field: `grid of simt`.
struct Field {
  const char* key;
  std::string_view owner;
  std::string text() const { return owner.empty() ? key : fmt::format("{} of {}", key, owner); }
};

/// An expression's value; its failure names the field and the call.
std::int64_t evaluate(db::Evaluator& evaluator, const std::string& expression, const db::Values& names,
                      const Field& field, const db::Problem& problem) {
  try {
    return evaluator.evaluate(expression, names);
  } catch (const db::Error& error) {
    fail(fmt::format("{}: {}: {}", problem.text(), field.text(), error.what()));
  }
}

std::vector<std::string> dimension_names(const Family& family) {
  std::vector<std::string> names;
  for (const auto& dimension : family.dimensions) names.push_back(dimension.name);
  return names;
}

void check_words(const Family& family, const std::string& element_type, const std::string& layout) {
  const auto type = parse_element_type(element_type);
  if (!type || std::find(family.element_types.begin(), family.element_types.end(), *type) ==
                   family.element_types.end()) {
    std::vector<std::string> known;
    for (const ElementType each : family.element_types) known.emplace_back(name(each));
    fail(fmt::format("{} has no element type `{}`{}", family.name, element_type,
                     suggestion(element_type, known)));
  }
  if (const std::string fault = layout_fault(family, layout); !fault.empty()) fail(fault);
}

void check_range(const db::Problem& problem, const Dimension& dimension, std::int64_t value) {
  if (value >= dimension.minimum && value <= dimension.maximum) return;
  const std::string range = dimension.maximum == std::numeric_limits<std::int64_t>::max()
                                ? fmt::format("at least {}", dimension.minimum)
                                : fmt::format("{} to {}", dimension.minimum, dimension.maximum);
  fail(fmt::format("{}: {} = {} must be {}", problem.family, dimension.name, value, range));
}

/// Three axes of the launch; which one is out of its limits, if any.
std::string out_of_range(const std::string& what, std::size_t axis, std::int64_t value, std::int64_t limit) {
  constexpr std::array<const char*, 3> kAxes{"x", "y", "z"};
  if (value < 1) return fmt::format("{}.{} is {}, below 1", what, kAxes.at(axis), value);
  if (value > limit)
    return fmt::format("{}.{} is {}, above the limit of {}", what, kAxes.at(axis), value, limit);
  return {};
}

}  // namespace

db::Values problem_names(const db::Problem& problem) {
  db::Values names;
  for (const auto& [name, value] : problem.dimensions) names[name] = value;
  const auto type = parse_element_type(problem.element_type);
  if (!type) fail(fmt::format("{}: `{}` is not an element type", problem.family, problem.element_type));
  names["element_size"] = static_cast<std::int64_t>(size_of(*type));
  names["element_type"] = problem.element_type;
  names["layout"] = problem.layout;
  return names;
}

std::string layout_fault(const Family& family, const std::string& layout) {
  if (family.layouts.empty())
    return layout.empty() ? "" : fmt::format("{} has no layouts: leave out `{}`", family.name, layout);
  if (layout.empty())
    return fmt::format("{} has layouts: give --layout {}", family.name, fmt::join(family.layouts, " or "));
  if (std::find(family.layouts.begin(), family.layouts.end(), layout) != family.layouts.end()) return {};
  return fmt::format("{} has no layout `{}`{}", family.name, layout, suggestion(layout, family.layouts));
}

db::Problem complete_problem(db::Evaluator& evaluator, const Family& family, const std::string& element_type,
                             const std::string& layout,
                             const std::vector<std::pair<std::string, std::int64_t>>& dimensions) {
  check_words(family, element_type, layout);
  const auto known = dimension_names(family);
  for (auto given = dimensions.begin(); given != dimensions.end(); ++given) {
    if (std::find(known.begin(), known.end(), given->first) == known.end())
      fail(fmt::format("{} has no dimension `{}`{}", family.name, given->first,
                       suggestion(given->first, known)));
    if (std::any_of(dimensions.begin(), given,
                    [&](const auto& earlier) { return earlier.first == given->first; }))
      fail(fmt::format("{}: `{}` is given twice", family.name, given->first));
  }

  db::Problem problem{family.name, element_type, layout, {}};
  db::Values earlier = problem_names(problem);
  for (const auto& dimension : family.dimensions) {
    const auto given = std::find_if(dimensions.begin(), dimensions.end(),
                                    [&](const auto& each) { return each.first == dimension.name; });
    std::int64_t value = 0;
    if (given != dimensions.end())
      value = given->second;
    else if (!dimension.by_default.empty())
      value = evaluate(evaluator, dimension.by_default, earlier, {"default", dimension.name}, problem);
    else
      fail(fmt::format("{}: dimension `{}` is missing (dimensions: {})", family.name, dimension.name,
                       fmt::join(known, ", ")));
    check_range(problem, dimension, value);
    if (!dimension.at_least.empty()) {
      const std::int64_t bound =
          evaluate(evaluator, dimension.at_least, earlier, {"at_least", dimension.name}, problem);
      if (value < bound)
        fail(fmt::format("{}: {} = {} must be at least {} = {}", family.name, dimension.name, value,
                         dimension.at_least, bound));
    }
    problem.dimensions.emplace_back(dimension.name, value);
    earlier[dimension.name] = value;
  }
  return problem;
}

db::Problem make_problem(db::Evaluator& evaluator, const Family& family, const std::string& element_type,
                         const std::string& layout,
                         const std::vector<std::pair<std::string, std::int64_t>>& dimensions) {
  db::Problem problem = complete_problem(evaluator, family, element_type, layout, dimensions);
  argument_shapes(evaluator, family, problem);
  working_set(evaluator, family, problem);
  return problem;
}

namespace {

std::int64_t not_negative(db::Evaluator& evaluator, const std::string& expression, const db::Values& names,
                          const Field& field, const db::Problem& problem) {
  const std::int64_t value = evaluate(evaluator, expression, names, field, problem);
  if (value < 0)
    fail(fmt::format("{}: {} `{}` is negative: {}", problem.text(), field.text(), expression, value));
  return value;
}

}  // namespace

std::int64_t working_set(db::Evaluator& evaluator, const Family& family, const db::Problem& problem) {
  return not_negative(evaluator, family.working_set, problem_names(problem), {"working_set", {}}, problem);
}

std::int64_t work(db::Evaluator& evaluator, const Family& family, const db::Problem& problem) {
  return not_negative(evaluator, family.work, problem_names(problem), {"work", {}}, problem);
}

std::vector<ArgumentShape> argument_shapes(db::Evaluator& evaluator, const Family& family,
                                           const db::Problem& problem) {
  const auto own_type = parse_element_type(problem.element_type);
  if (!own_type) fail(fmt::format("{}: `{}` is not an element type", problem.family, problem.element_type));
  const db::Values names = problem_names(problem);
  std::vector<ArgumentShape> shapes;
  for (const auto& argument : family.arguments) {
    ArgumentShape shape;
    shape.type = argument.type.value_or(*own_type);
    if (argument.kind == ArgumentKind::pointer)
      shape.elements = not_negative(evaluator, argument.extent, names, {"extent", argument.name}, problem);
    // Half of the address space, so that sums of a buffer's bytes and its guards stay within 64 bits too.
    if (shape.elements >
        std::numeric_limits<std::int64_t>::max() / 2 / static_cast<std::int64_t>(size_of(shape.type)))
      fail(fmt::format("{}: {} has {} elements, more than any device can address", problem.text(),
                       argument.name, shape.elements));
    shapes.push_back(shape);
  }
  return shapes;
}

namespace {

/// Evaluates one configuration's expressions on one problem.
class Planner {
 public:
  Planner(db::Evaluator& evaluator, const Family& family, const Variant& variant,
          const db::Values& parameters, const db::Problem& problem, const DeviceInfo& device)
      : evaluator_(evaluator),
        family_(family),
        variant_(variant),
        problem_(problem),
        device_(device),
        names_(problem_names(problem)) {
    for (const auto& [name, value] : device.names()) names_[name] = value;
    for (const auto& parameter : variant.parameters) {
      const auto found = parameters.find(parameter.name);
      if (found == parameters.end())
        fail(fmt::format("a configuration of {} has no value for `{}`", variant.name, parameter.name));
      names_[parameter.name] = found->second;
    }
    if (parameters.size() != variant.parameters.size())
      fail(fmt::format("a configuration of {} has parameters that the variant has not: {}", variant.name,
                       db::to_string(parameters)));
  }

  std::variant<Plan, Illegal> run() {
    const auto holds = evaluator_.evaluate_each(variant_.constraints, names_);
    for (std::size_t i = 0; i < holds.size(); ++i) {
      const std::string& constraint = variant_.constraints[i];
      if ((holds[i] ? *holds[i] : value(constraint, "constraint")) == 0)
        return Illegal{
            fmt::format("the constraint `{}` does not hold ({})", constraint, readings(constraint))};
    }
    if (std::string why = place(); !why.empty()) return Illegal{std::move(why)};
    if (std::string why = exceeds(); !why.empty()) return Illegal{std::move(why), true};
    plan_.geometry.overlap = value(variant_.overlap, "overlap") != 0;
    if (std::string why = cluster(); !why.empty()) return Illegal{std::move(why)};
    align();
    cover();
    plan_.workspace = lend();
    for (const auto& map : variant_.tensor_maps)
      if (std::string why = add_tensor_map(map); !why.empty())
        return Illegal{fmt::format("the tensor map {} is impossible: {}", map.name, why)};
    plan_.arguments = variant_.launch_arguments;
    for (const auto& [name, extent] : problem_.dimensions) plan_.dimensions.push_back(extent);
    return std::move(plan_);
  }

 private:
  std::int64_t value(const std::string& expression, const char* key) {
    return value(expression, key, variant_.name);
  }
  std::int64_t value(const std::string& expression, const char* key, const std::string& owner) {
    return evaluate(evaluator_, expression, names_, {key, owner}, problem_);
  }

  std::string readings(const std::string& expression) {
    std::set<std::string> known;
    for (const auto& [name, value] : names_) known.insert(name);
    std::string text;
    for (const auto& name : evaluator_.names(expression, known)) {
      const auto found = names_.find(name);
      if (found != names_.end())
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, db::to_string(found->second));
    }
    return text;
  }

  /// Grid, block and shared memory; why they are no launch at all, if they are none.
  std::string place() {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t blocks = value(variant_.grid.at(axis), "grid");
      const std::int64_t size = value(variant_.block.at(axis), "block");
      if (auto why = out_of_range("grid", axis, blocks, axis == 0 ? kLargestGridX : kLargestGridYZ);
          !why.empty())
        return why;
      if (auto why = out_of_range("block", axis, size, axis == 2 ? kLargestBlockZ : kLargestBlockXY);
          !why.empty())
        return why;
      plan_.geometry.grid.at(axis) = static_cast<std::uint32_t>(blocks);
      plan_.geometry.block.at(axis) = static_cast<std::uint32_t>(size);
    }
    shared_ = value(variant_.dynamic_shared, "dynamic_shared");
    return shared_ < 0 ? fmt::format("dynamic_shared is {}, below 0", shared_) : "";
  }

  std::string cluster() {
    std::int64_t blocks = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t size = value(variant_.cluster.at(axis), "cluster");
      if (auto why = out_of_range("cluster", axis, size, kLargestCluster); !why.empty()) return why;
      const std::uint32_t grid = plan_.geometry.grid.at(axis);
      if (grid % size != 0)
        return fmt::format("grid.{} is {}, no multiple of the cluster's {}", "xyz"[axis], grid, size);
      plan_.geometry.cluster.at(axis) = static_cast<std::uint32_t>(size);
      blocks *= size;
    }
    if (blocks > kLargestCluster)
      return fmt::format("a cluster has {} blocks, above the limit of {}", blocks, kLargestCluster);
    if (blocks > 1 && compute_capability(device_.architecture) < kFirstWithClusters)
      return fmt::format("a cluster has {} blocks, and {} has no clusters", blocks, device_.architecture);
    return {};
  }

  std::int64_t lend() {
    const std::int64_t bytes = value(variant_.workspace, "workspace");
    if (bytes < 0)
      fail(fmt::format("{}: workspace `{}` of {} is negative: {}", problem_.family, variant_.workspace,
                       variant_.name, bytes));
    return bytes;
  }

  /// What the tensor memory accelerator cannot do (CUDA's cuTensorMapEncodeTiled); empty: the map is in the
  /// plan.
  std::string add_tensor_map(const TensorMapTemplate& from) {
    constexpr std::int64_t largest_extent = std::int64_t{1} << 32;
    constexpr std::int64_t largest_stride = (std::int64_t{1} << 40) - 1;
    constexpr std::int64_t largest_box = 256;
    TensorMapShape map;
    map.argument = from.argument;
    map.type = type_of(from.argument);
    map.rank = static_cast<std::uint32_t>(from.extent.size());
    const auto size = static_cast<std::int64_t>(size_of(map.type));
    const auto is_one_of = [](std::int64_t value, std::initializer_list<std::int64_t> all) {
      return std::find(all.begin(), all.end(), value) != all.end();
    };
    for (std::size_t axis = 0; axis < from.extent.size(); ++axis) {
      const std::int64_t extent = value(from.extent[axis], "extent", from.name);
      const std::int64_t box = value(from.box[axis], "box", from.name);
      if (extent < 1 || extent > largest_extent) return fmt::format("axis {} has {} elements", axis, extent);
      if (box < 1 || box > largest_box)
        return fmt::format("its box has {} elements along axis {}, where 1 to {} are possible", box, axis,
                           largest_box);
      map.extent.at(axis) = static_cast<std::uint64_t>(extent);
      map.box.at(axis) = static_cast<std::uint32_t>(box);
    }
    for (std::size_t axis = 0; axis < from.stride.size(); ++axis) {
      const std::int64_t elements = value(from.stride[axis], "stride", from.name);
      if (elements < 1 || elements > largest_stride / size || elements * size % kTensorMapAlignment != 0)
        return fmt::format("its stride of {} elements is no multiple of {} bytes below 2^40", elements,
                           kTensorMapAlignment);
      map.stride.at(axis) = static_cast<std::uint64_t>(elements * size);
    }
    const std::int64_t swizzle = value(from.swizzle, "swizzle", from.name);
    const std::int64_t promotion = value(from.promotion, "promotion", from.name);
    const std::int64_t row = map.box[0] * size;
    if (!is_one_of(swizzle, {0, 32, 64, 128})) return fmt::format("its swizzle is {} bytes", swizzle);
    if (!is_one_of(promotion, {0, 64, 128, 256})) return fmt::format("its promotion is {} bytes", promotion);
    if (row % kTensorMapAlignment != 0 || (swizzle != 0 && row > swizzle))
      return fmt::format("a row of its box has {} bytes with a swizzle of {}", row, swizzle);
    map.swizzle = static_cast<std::uint32_t>(swizzle);
    map.promotion = static_cast<std::uint32_t>(promotion);
    plan_.tensor_maps.push_back(map);
    return {};
  }

  ElementType type_of(std::size_t argument) const {
    return family_.arguments[argument].type.value_or(*parse_element_type(problem_.element_type));
  }

  /// What a block asks for beyond what the device has.
  std::string exceeds() {
    std::int64_t threads = 1;
    for (const std::uint32_t size : plan_.geometry.block) threads *= size;
    if (threads > device_.max_threads)
      return fmt::format("a block has {} threads, above the device's limit of {}", threads,
                         device_.max_threads);
    if (static_cast<std::uint64_t>(shared_) > device_.shared_memory_bytes)
      return fmt::format("a block asks for {} bytes of shared memory, above the device's limit of {}",
                         shared_, device_.shared_memory_bytes);
    plan_.geometry.dynamic_shared_bytes = static_cast<std::uint32_t>(shared_);
    return {};
  }

  void align() {
    const std::int64_t bytes = value(variant_.alignment, "alignment");
    if (bytes < 1 || bytes > kLargestAlignment || (bytes & (bytes - 1)) != 0)
      fail(fmt::format("{}: alignment `{}` of {} is {}: it must be a power of two up to {}", problem_.family,
                       variant_.alignment, variant_.name, bytes, kLargestAlignment));
    if (!variant_.tensor_maps.empty() && bytes < kTensorMapAlignment)
      fail(fmt::format("{}: alignment `{}` of {} is {}: its tensor maps need {}", problem_.family,
                       variant_.alignment, variant_.name, bytes, kTensorMapAlignment));
    plan_.alignment = bytes;
  }

  void cover() {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (variant_.covers.at(axis).empty()) continue;
      const std::int64_t served = value(variant_.covers.at(axis), "covers");
      const std::int64_t extent = value(variant_.extent.at(axis), "extent");
      if (served < 1)
        fail(fmt::format("{}: covers `{}` of {} is {}: it must be above 0", problem_.family,
                         variant_.covers.at(axis), variant_.name, served));
      if (extent < 0)
        fail(fmt::format("{}: extent `{}` of {} is negative: {}", problem_.family, variant_.extent.at(axis),
                         variant_.name, extent));
      plan_.needed_blocks.at(axis) = extent / served + (extent % served != 0 ? 1 : 0);
    }
  }

  db::Evaluator& evaluator_;
  const Family& family_;
  const Variant& variant_;
  const db::Problem& problem_;
  const DeviceInfo& device_;
  db::Values names_;
  Plan plan_;
  std::int64_t shared_ = 0;  ///< dynamic bytes a block asks for
};

}  // namespace

bool is_empty(const Family& family, const std::vector<ArgumentShape>& shapes) {
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (family.arguments[i].access != ArgumentAccess::read && shapes[i].elements > 0) return false;
  return true;
}

bool is_empty(db::Evaluator& evaluator, const Family& family, const db::Problem& problem) {
  return is_empty(family, argument_shapes(evaluator, family, problem));
}

std::variant<Plan, Illegal> make_plan(db::Evaluator& evaluator, const Family& family, const Variant& variant,
                                      const db::Values& parameters, const db::Problem& problem,
                                      const DeviceInfo& device) {
  if (!variant.runs_on(device) || !is_empty(evaluator, family, problem))
    return make_busy_plan(evaluator, family, variant, parameters, problem, device);
  Plan plan;
  plan.empty = true;
  plan.arguments = variant.launch_arguments;
  for (const auto& [name, extent] : problem.dimensions) plan.dimensions.push_back(extent);
  return plan;
}

std::variant<Plan, Illegal> make_busy_plan(db::Evaluator& evaluator, const Family& family,
                                           const Variant& variant, const db::Values& parameters,
                                           const db::Problem& problem, const DeviceInfo& device) {
  if (!variant.runs_on(device))
    return Illegal{fmt::format("variant {} does not run on {} {}", variant.name, name(device.backend),
                               device.architecture)};
  return Planner(evaluator, family, variant, parameters, problem, device).run();
}

bool reads_problem(db::Evaluator& evaluator, const Family& family, const Variant& variant,
                   const std::string& constraint) {
  std::set<std::string> known{"element_size", "element_type", "layout"};
  for (const auto& [name, value] : DeviceInfo{}.names()) known.insert(name);
  for (const auto& parameter : variant.parameters) known.insert(parameter.name);
  for (const auto& dimension : family.dimensions) known.insert(dimension.name);
  std::set<std::string> read;
  try {
    read = evaluator.names(constraint, known);
  } catch (const db::Error& error) {
    fail(fmt::format("{}: constraint of {}: {}", family.name, variant.name, error.what()));
  }
  return std::any_of(family.dimensions.begin(), family.dimensions.end(),
                     [&](const Dimension& dimension) { return read.contains(dimension.name); });
}

std::int64_t alignment_of(std::span<const void* const> pointers) {
  std::uintptr_t bits = static_cast<std::uintptr_t>(kLargestAlignment);
  for (const void* pointer : pointers) bits |= reinterpret_cast<std::uintptr_t>(pointer);
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

}  // namespace hone
