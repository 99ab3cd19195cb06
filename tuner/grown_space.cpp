#include "tuner/grown_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "runtime/manifest.hpp"

namespace hone::tuner {
namespace {

std::string values_text(const Variant& variant, const db::Parameter& parameter) {
  std::vector<std::string> values;
  for (const db::Value& value : parameter.values) values.push_back(db::to_string(value));
  return fmt::format("{} {}={}", variant.name, parameter.name, fmt::join(values, ","));
}

const db::Parameter* parameter_of(const Variant& variant, const std::string& name) {
  const auto found = std::find_if(variant.parameters.begin(), variant.parameters.end(),
                                  [&](const db::Parameter& each) { return each.name == name; });
  return found == variant.parameters.end() ? nullptr : &*found;
}

void append(std::string& text, const std::string& part) {
  text += (text.empty() ? "" : "; ") + part;
}

}  // namespace

std::optional<Growth> growth(const Family& before, const Family& now, const DeviceInfo& device) {
  Growth grown;
  for (const Variant& variant : now.variants) {
    if (!variant.runs_on(device)) continue;
    const Variant* earlier = before.variant(variant.name);
    if (earlier == nullptr || !earlier->runs_on(device)) {
      append(grown.now, "variant " + variant.name);
      continue;
    }
    for (const db::Parameter& parameter : variant.parameters) {
      const db::Parameter* had = parameter_of(*earlier, parameter.name);
      const bool has_more =
          std::any_of(parameter.values.begin(), parameter.values.end(), [&](const db::Value& value) {
            return had == nullptr ||
                   std::find(had->values.begin(), had->values.end(), value) == had->values.end();
          });
      if (!has_more) continue;
      if (had != nullptr) append(grown.before, values_text(variant, *had));
      append(grown.now, values_text(variant, parameter));
    }
  }
  return grown.now.empty() ? std::nullopt : std::optional(grown);
}

std::optional<Growth> GrownSpaces::since(const db::Winner& winner, const Family& now) {
  const auto manifest = manifest_of(winner);
  if (!manifest) return std::nullopt;
  const auto& before = family(*manifest);
  const auto& on = device(winner.device);
  if (!before || !on || before->manifest == now.manifest) return std::nullopt;
  return growth(*before, now, *on);
}

std::optional<db::Id> GrownSpaces::manifest_of(const db::Winner& winner) {
  if (auto searched = manifest_of_run(winner.run)) return searched;
  // A refresh chose it among what an earlier run had found.
  if (!searched_) {
    searched_.emplace();
    for (const db::MeasuredRow& row : store_.choices({}))
      if (const auto searched = manifest_of_run(row.measurement.run))
        searched_->try_emplace({row.device.id(), row.measurement.problem, row.measurement.regime}, *searched);
  }
  const auto found = searched_->find({winner.device, winner.problem.id(), winner.regime});
  return found == searched_->end() ? std::nullopt : std::optional(found->second);
}

std::optional<db::Id> GrownSpaces::manifest_of_run(const db::Id& id) {
  const auto [at, is_new] = manifests_.try_emplace(id);
  if (is_new)
    if (const auto run = store_.run(id))
      if (const auto setting = run->settings.find(manifest_setting); setting != run->settings.end())
        at->second = db::Id::parse(setting->second);
  return at->second;
}

const std::optional<Family>& GrownSpaces::family(const db::Id& manifest) {
  const auto [at, is_new] = families_.try_emplace(manifest);
  if (!is_new) return at->second;
  auto text = store_.text(manifest);
  if (!text) return at->second;
  try {
    ManifestLines lines("a manifest that the database holds");
    at->second = read_manifest(*text, lines);
    at->second->manifest = std::move(*text);
  } catch (const Error&) {
    // Written for another hone, which may know keys that this one does not.
  }
  return at->second;
}

const std::optional<DeviceInfo>& GrownSpaces::device(const db::Id& id) {
  const auto [at, is_new] = devices_.try_emplace(id);
  const auto record = is_new ? store_.device(id) : std::nullopt;
  for (const Backend backend : {Backend::host, Backend::cuda, Backend::hip}) {
    if (!record || record->backend != name(backend)) continue;
    at->second.emplace();
    at->second->backend = backend;
    at->second->architecture = record->architecture;
  }
  return at->second;
}

}  // namespace hone::tuner
