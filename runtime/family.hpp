// A family as its manifest describes it. parse_family() reads <family>.toml; kernel_templates/README.md
// documents it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/expression.hpp"
#include "db/records.hpp"
#include "runtime/device.hpp"
#include "runtime/element_type.hpp"
#include "runtime/tensor_map.hpp"

namespace hone {

inline constexpr std::size_t kMaximumDimensions = 12;  ///< of a problem, strides included
inline constexpr std::size_t kMaximumArguments = 16;
inline constexpr std::size_t kMaximumLaunchArguments = 32;

struct Dimension {
  std::string name;
  std::int64_t minimum = 1;
  std::int64_t maximum = INT64_MAX;
  std::string
      by_default;  ///< strides: expression over earlier dimensions that gives the value when none is given
  std::string at_least;  ///< strides: expression over earlier dimensions that bounds it from below
};

enum class ArgumentKind { pointer, scalar };
enum class ArgumentAccess { read, write, read_write };

/// A logical argument of the family, in the order callers pass them.
struct Argument {
  std::string name;
  ArgumentKind kind = ArgumentKind::pointer;
  std::optional<ElementType> type;  ///< none: the problem's element type
  std::string extent;               ///< pointers: elements, an expression over the dimensions
  ArgumentAccess access = ArgumentAccess::read;
  std::string fill =
      "uniform";  ///< `uniform` in [-1, 1), `any` bit pattern with special values mixed in, or a number
};

/// What the kernel takes at one position.
struct LaunchArgument {
  enum class From { argument, dimension, tensor_map, workspace } from = From::argument;
  std::size_t index = 0;  ///< into Family::arguments, Family::dimensions or Variant::tensor_maps
};

/// A tensor map by the manifest's expressions; TensorMapShape says what they are of.
struct TensorMapTemplate {
  std::string name;
  std::size_t argument = 0;
  std::vector<std::string> extent, stride, box;
  std::string swizzle = "0";
  std::string promotion = "128";
};

struct Target {
  Backend backend = Backend::host;
  std::vector<std::string> architectures;  ///< empty: all; GPUs: exactly these, without feature flags
  int at_least_sm = 0;                     ///< CUDA: lowest compute capability, 90 for sm_90
  bool specific = false;                   ///< CUDA: only that capability's own `a` architecture
  bool matches(const DeviceInfo& device) const;
};

struct Variant {
  std::string name;
  std::string source_file;  ///< relative to the family's folder
  std::string entry;
  std::vector<Target> targets;
  std::vector<db::Parameter> parameters;
  std::vector<std::string> constraints;
  db::Values defaults;          ///< a value for each parameter
  std::string alignment = "1";  ///< bytes each pointer must be aligned to
  std::string working_set;      ///< bytes it moves at least; empty: the problem's
  std::string work;             ///< operations it does at least; empty: the problem's
  std::vector<LaunchArgument> launch_arguments;
  std::vector<TensorMapTemplate> tensor_maps;
  std::string workspace = "0";  ///< bytes of device memory that the caller lends a launch
  std::array<std::string, 3> grid{"1", "1", "1"};
  std::array<std::string, 3> block{"1", "1", "1"};
  std::array<std::string, 3> cluster{"1", "1", "1"};  ///< blocks, by axis
  std::string dynamic_shared = "0";
  std::string overlap = "0";  ///< not 0: Geometry::overlap
  /// Per grid axis, the blocks the problem needs at least: more of them launched is `over_launched`.
  std::array<std::string, 3> covers{"", "", ""};  ///< extent one block serves; empty: the axis is not checked
  std::array<std::string, 3> extent{"", "", ""};  ///< what the axis's blocks have to cover together
  std::string source;                             ///< after its includes
  db::Id source_hash;
  bool runs_on(const DeviceInfo& device) const;
};

struct LadderPoint {
  std::string name;
  std::string variant;
  db::Values parameters;
  std::vector<std::string> best_of;  ///< parameters that it is the fastest over, whatever their values
  /// Whether a configuration is this point, or one of those that it is the fastest of.
  bool has(const db::Configuration& configuration) const;
};

enum class Comparison { bitwise, relative, elementwise };

struct Check {
  std::string reference_file;
  std::string reference;  ///< its source after includes
  std::string items;      ///< how many items the reference is computed over (split among threads)
  Comparison comparison = Comparison::bitwise;
  /// relative: largest |out - ref| / max|ref| an element may have; elementwise: |out - ref| / |ref|
  std::map<ElementType, double> bounds;
  std::vector<std::vector<std::pair<std::string, std::int64_t>>> extents;  ///< every configuration
  std::vector<std::vector<std::pair<std::string, std::int64_t>>>
      large_extents;  ///< finalists and `hone verify`
  std::vector<std::vector<ElementType>>
      large_element_types;                  ///< per large extent, what it is tried with; empty: all
  std::vector<std::int64_t> misalignments;  ///< element offsets tried where a configuration allows them
  bool large_extent_serves(std::size_t index, ElementType type) const;
};

struct Family {
  std::string name;
  std::string version;
  std::string description;
  std::filesystem::path file;  ///< the manifest
  bool trusted = false;        ///< it lies in an installed or the user's own folder
  bool named = false;          ///< it lies in a folder of --templates or HONE_TEMPLATES
  std::string manifest;        ///< its text
  std::vector<ElementType> element_types;
  std::vector<std::string> layouts;   ///< empty: one, unnamed
  std::vector<Dimension> dimensions;  ///< strides last
  std::string working_set;            ///< bytes
  std::string work;                   ///< operations
  std::string sweep;                  ///< the dimension that --sweep varies; empty: the first
  std::vector<Argument> arguments;
  std::vector<Variant> variants;  ///< the first that runs on a device gives its default
  std::vector<LadderPoint> ladder;
  Check check;

  const Variant* variant(std::string_view name) const;
  /// The first variant that runs on `device`; none: the family cannot run there.
  const Variant* default_variant(const DeviceInfo& device) const;
};

/// Reads and proves a manifest: every key known, every field there, every expression valid SQL over the names
/// it may read. manifest.cpp documents the keys. Throws Error{invalid} with one line that names file, field
/// and remedy.
Family parse_family(const std::filesystem::path& manifest);

/// The same from stored text (a tuning database's template records); sources come from `sources`, by variant.
/// The reference is not there, so that such a family can be launched and not checked.
Family family_from_records(const std::vector<db::Template>& records);

/// Folders searched for families: `given` (--templates), HONE_TEMPLATES, the user's data folder, the
/// installed ones (beside the executable, and where cmake installed them).
struct TemplateFolder {
  std::filesystem::path path;
  bool trusted = false;
  bool named = false;  ///< by --templates or HONE_TEMPLATES
};
std::vector<TemplateFolder> template_folders(const std::vector<std::string>& given);

/// The family called `name`. Throws Error{invalid} that lists what there is.
Family find_family(const std::string& name, const std::vector<TemplateFolder>& folders);
std::vector<std::string> list_families(const std::vector<TemplateFolder>& folders);

/// `file`'s text with its quoted includes expanded, each file once, `#line` kept. Includes are looked for in
/// the family's folder (the one `file` lies in), then in `common` and `prelude` next to it, then in the
/// installed templates' `common` and `prelude`; nowhere else. Throws Error{invalid}.
std::string expand_includes(const std::filesystem::path& file);

}  // namespace hone
