// From a problem and a configuration to a launch: names for expressions, legality, geometry, the translation
// unit.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "db/expression.hpp"
#include "runtime/device.hpp"
#include "runtime/family.hpp"

namespace hone {

/// Completes and checks a problem against its family: dimensions known and in range, strides filled in,
/// element type and layout the family's, extents and working set within 64 bits. Throws Error{invalid} naming
/// the field.
db::Problem make_problem(db::Evaluator& evaluator, const Family& family, const std::string& element_type,
                         const std::string& layout,
                         const std::vector<std::pair<std::string, std::int64_t>>& dimensions);

/// The same for who asks for the extents next: these, and the working set, are not looked at.
db::Problem complete_problem(db::Evaluator& evaluator, const Family& family, const std::string& element_type,
                             const std::string& layout,
                             const std::vector<std::pair<std::string, std::int64_t>>& dimensions);

/// Why `layout` is none of the family's, and what to give; empty: it is one.
std::string layout_fault(const Family& family, const std::string& layout);

/// What expressions about a problem may read: dimensions, element_size, element_type, layout.
db::Values problem_names(const db::Problem& problem);

std::int64_t working_set(db::Evaluator& evaluator, const Family& family, const db::Problem& problem);
std::int64_t work(db::Evaluator& evaluator, const Family& family, const db::Problem& problem);

/// Elements of each logical argument (0 for scalars), and the bytes of its element type.
struct ArgumentShape {
  std::int64_t elements = 0;
  ElementType type = ElementType::f32;
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(elements) * size_of(type); }
};
std::vector<ArgumentShape> argument_shapes(db::Evaluator& evaluator, const Family& family,
                                           const db::Problem& problem);

/// Whether nothing is to be written, so that there is nothing to launch.
bool is_empty(const Family& family, const std::vector<ArgumentShape>& shapes);
bool is_empty(db::Evaluator& evaluator, const Family& family, const db::Problem& problem);

/// A workspace starts at a multiple of this many bytes.
inline constexpr std::int64_t kWorkspaceAlignment = 256;
/// The first bytes of a workspace are zero before a launch, and the kernel leaves them zero: for counters.
/// The rest may hold anything, so that one workspace serves any launches that follow each other.
inline constexpr std::int64_t kWorkspaceZeros = 16384;

/// A launch of one configuration on one problem, without the caller's pointers.
struct Plan {
  bool empty = false;  ///< the problem has nothing to do: launch nothing
  Geometry geometry;
  std::int64_t alignment = 1;
  std::array<std::int64_t, 3> needed_blocks{0, 0, 0};  ///< 0: the axis is not checked
  std::vector<LaunchArgument> arguments;
  std::vector<TensorMapShape> tensor_maps;
  std::int64_t workspace = 0;            ///< bytes that a launch is lent; see kWorkspaceAlignment
  std::vector<std::int64_t> dimensions;  ///< values of the problem's dimensions
};

/// Why a configuration may not run on a problem: the constraint or limit, quoted.
struct Illegal {
  std::string why;
  bool exceeds_device = false;  ///< a block asks for more threads or shared memory than the device has
};

/// Constraints are evaluated, geometry computed and held against the device's limits.
/// Throws Error{invalid} only when an expression itself fails.
std::variant<Plan, Illegal> make_plan(db::Evaluator& evaluator, const Family& family, const Variant& variant,
                                      const db::Values& parameters, const db::Problem& problem,
                                      const DeviceInfo& device);

/// The same for a problem that has something to do, which is not asked again.
std::variant<Plan, Illegal> make_busy_plan(db::Evaluator& evaluator, const Family& family,
                                           const Variant& variant, const db::Values& parameters,
                                           const db::Problem& problem, const DeviceInfo& device);

/// Whether a constraint reads the problem (and so cannot be decided at compile time).
bool reads_problem(db::Evaluator& evaluator, const Family& family, const Variant& variant,
                   const std::string& constraint);

/// The translation unit of a configuration: its macros, then the variant's source.
/// HONE_BACKEND_<HOST|CUDA|HIP>, HONE_ELEMENT_<F16…> and HONE_LAYOUT_<NAME> are 1 for those that apply;
/// HONE_ELEMENT_SIZE is in bytes; an integer parameter `block` is HONE_BLOCK; a text one, `load`, has
/// HONE_LOAD_<VALUE> numbered in the manifest's order and HONE_LOAD naming one of them.
std::string translation_unit(const Variant& variant, const db::Values& parameters,
                             const std::string& element_type, const std::string& layout, Backend backend);

/// What it is made of: the macros of the problem's types and of the backend; the numbers of a parameter's
/// texts; a parameter's macro, and what it is where the parameter has a value.
std::string problem_macros(const std::string& element_type, const std::string& layout, Backend backend);
std::string value_macros(const db::Parameter& parameter);
std::string parameter_macro(const std::string& parameter);
std::string value_macro(const std::string& parameter, const db::Value& value);

/// The largest power of two, at most 4096, that divides every address.
std::int64_t alignment_of(std::span<const void* const> pointers);

}  // namespace hone
