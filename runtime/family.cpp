#include "runtime/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "runtime/includes.hpp"
#include "runtime/manifest.hpp"

namespace hone {

bool Variant::runs_on(const DeviceInfo& device) const {
  return std::any_of(targets.begin(), targets.end(),
                     [&](const Target& target) { return target.matches(device); });
}

const Variant* Family::variant(std::string_view wanted) const {
  const auto found = std::find_if(variants.begin(), variants.end(),
                                  [&](const Variant& each) { return each.name == wanted; });
  return found == variants.end() ? nullptr : &*found;
}

const Variant* Family::default_variant(const DeviceInfo& device) const {
  const auto found = std::find_if(variants.begin(), variants.end(),
                                  [&](const Variant& each) { return each.runs_on(device); });
  return found == variants.end() ? nullptr : &*found;
}

bool LadderPoint::has(const db::Configuration& configuration) const {
  if (configuration.variant != variant) return false;
  return std::all_of(parameters.begin(), parameters.end(), [&](const auto& parameter) {
    if (std::find(best_of.begin(), best_of.end(), parameter.first) != best_of.end()) return true;
    const auto found = configuration.parameters.find(parameter.first);
    return found != configuration.parameters.end() && found->second == parameter.second;
  });
}

bool Check::large_extent_serves(std::size_t index, ElementType type) const {
  if (index >= large_element_types.size() || large_element_types[index].empty()) return true;
  const auto& types = large_element_types[index];
  return std::find(types.begin(), types.end(), type) != types.end();
}

std::string read_text(const std::filesystem::path& file) {
  std::error_code ignored;
  if (const auto bytes = std::filesystem::file_size(file, ignored); !ignored && bytes > kLargestText)
    throw Error(ErrorCode::invalid, fmt::format("{}: has {} bytes; a manifest or source may have {}",
                                                file.string(), bytes, kLargestText));
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file, ignored))
    throw Error(ErrorCode::invalid,
                fmt::format("{}: cannot be read: check that the file exists", file.string()));
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

db::Id source_hash(const Family& family, const Variant& variant) {
  db::KeyBuilder key;
  key.add("source").add(family.name).add(variant.source).add(variant.entry);
  key.add(static_cast<std::int64_t>(family.dimensions.size()));
  for (const auto& dimension : family.dimensions)
    key.add(dimension.name).add(dimension.by_default).add(dimension.at_least);
  key.add(static_cast<std::int64_t>(family.arguments.size()));
  for (const auto& argument : family.arguments) {
    key.add(argument.name).add(static_cast<std::int64_t>(argument.kind)).add(argument.extent);
    key.add(argument.type ? name(*argument.type) : "T").add(static_cast<std::int64_t>(argument.access));
  }
  key.add(static_cast<std::int64_t>(variant.launch_arguments.size()));
  for (const auto& argument : variant.launch_arguments)
    key.add(static_cast<std::int64_t>(argument.from)).add(static_cast<std::int64_t>(argument.index));
  // A constraint that was added because a kernel is wrong without it must not leave old winners standing.
  key.add(static_cast<std::int64_t>(variant.constraints.size()));
  for (const auto& constraint : variant.constraints) key.add(constraint);
  key.add(variant.alignment).add(variant.dynamic_shared).add(variant.overlap);
  for (const auto& axes : {variant.grid, variant.block, variant.covers, variant.extent})
    for (const auto& expression : axes) key.add(expression);
  for (const auto& expression : variant.cluster) key.add(expression);
  key.add(variant.workspace).add(static_cast<std::int64_t>(variant.tensor_maps.size()));
  for (const auto& map : variant.tensor_maps) {
    key.add(static_cast<std::int64_t>(map.argument)).add(map.swizzle).add(map.promotion);
    for (const auto* axes : {&map.extent, &map.stride, &map.box}) {
      key.add(static_cast<std::int64_t>(axes->size()));
      for (const auto& expression : *axes) key.add(expression);
    }
  }
  return key.id();
}

namespace {

/// A manifest with what it includes behind it.
std::string whole_manifest(const std::filesystem::path& file, const SourceFolders& folders,
                           ManifestLines& lines) {
  std::string text = read_text(file);
  const std::string name = included_file(text);
  if (name.empty()) return text;
  if (!text.ends_with('\n')) text += '\n';
  const auto found = folders.find(name, file.string() + ": family.include");
  lines.continue_in(found.file.string(), static_cast<unsigned>(std::count(text.begin(), text.end(), '\n')));
  return text + read_text(found.file);
}

}  // namespace

Family parse_family(const std::filesystem::path& given) {
  const auto manifest = std::filesystem::absolute(given).lexically_normal();
  ManifestLines lines(manifest.string());
  const SourceFolders folders(manifest.parent_path());
  Family family = read_manifest(whole_manifest(manifest, folders, lines), lines);
  prove_manifest(family, lines);
  family.file = manifest;
  if (manifest.stem() != family.name || manifest.parent_path().filename() != family.name)
    lines.fail("family.name", fmt::format("`{0}` must lie in a file {0}/{0}.toml", family.name));

  for (std::size_t i = 0; i < family.variants.size(); ++i) try {
      Variant& variant = family.variants[i];
      variant.source = expand_source(folders, variant.source_file, "source");
      variant.source_hash = source_hash(family, variant);
    } catch (const Error& error) {
      lines.fail(fmt::format("variant[{}].source", i), error.what());
    }
  try {
    family.check.reference = expand_source(folders, family.check.reference_file, "reference");
  } catch (const Error& error) {
    lines.fail("check.reference", error.what());
  }
  return family;
}

bool same_signature(const Family& a, const Family& b) {
  const auto dimension = [](const Dimension& x, const Dimension& y) {
    return x.name == y.name && x.by_default == y.by_default && x.at_least == y.at_least;
  };
  const auto argument = [](const Argument& x, const Argument& y) {
    return x.name == y.name && x.kind == y.kind && x.type == y.type && x.extent == y.extent &&
           x.access == y.access;
  };
  return std::equal(a.dimensions.begin(), a.dimensions.end(), b.dimensions.begin(), b.dimensions.end(),
                    dimension) &&
         std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                    argument) &&
         a.layouts == b.layouts;
}

Family family_from_records(const std::vector<db::Template>& records) {
  if (records.empty())
    throw Error(ErrorCode::invalid, "the database has no template of this family: tune it first");
  std::optional<Family> family;
  std::vector<Variant> variants;
  for (const auto& record : records) {
    ManifestLines lines(fmt::format("{}.toml as stored in the database", record.family));
    Family stored = read_manifest(record.manifest, lines);
    prove_manifest(stored, lines);
    // A variant tuned under another signature than the first record's cannot be launched with its arguments.
    if (family && !same_signature(*family, stored)) continue;
    const Variant* found = stored.variant(record.variant);
    if (found == nullptr) lines.fail("variant", fmt::format("there is none called `{}`", record.variant));
    variants.push_back(*found);
    variants.back().source = record.source;
    variants.back().source_hash = record.source_hash;
    if (!family) family = std::move(stored);
  }
  // The manifest's order decides which variant is a device's default.
  const auto position = [&](const Variant& variant) {
    const Variant* found = family->variant(variant.name);
    return found == nullptr ? family->variants.size()
                            : static_cast<std::size_t>(found - family->variants.data());
  };
  std::stable_sort(variants.begin(), variants.end(),
                   [&](const Variant& a, const Variant& b) { return position(a) < position(b); });
  family->variants = std::move(variants);
  std::erase_if(family->ladder,
                [&](const LadderPoint& point) { return family->variant(point.variant) == nullptr; });
  return *std::move(family);
}

}  // namespace hone
