#include "tools/staleness.hpp"

#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "tuner/environment.hpp"

namespace hone::tools {
namespace {

std::optional<db::Environment> environment_now(const db::Id& device) {
  for (const DeviceInfo& info : list_devices().devices) {
    if (info.record().id() != device) continue;
    std::string compiler;
    try {
      compiler = open_compiler(info.backend)->version();
    } catch (const Error&) {
      // A machine that serves need not compile: nothing is said about the compiler then.
    }
    return tuner::environment_of(info, compiler);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> named_folders(const std::vector<std::string>& given) {
  std::vector<std::string> named;
  for (const TemplateFolder& folder : template_folders(given))
    if (folder.named) named.push_back(folder.path.string());
  return named;
}

const std::optional<Family>& Staleness::family_now(const std::string& name) {
  const auto [at, is_new] = families_.try_emplace(name);
  if (is_new) {
    try {
      at->second = find_family(name, folders_);
    } catch (const Error&) {
      // What was tuned serves from the database's own copy.
    }
  }
  return at->second;
}

std::optional<Changed> Staleness::of_source(const std::string& family, const std::string& variant,
                                            const db::Id& source_hash) {
  const std::optional<Family>& here = family_now(family);
  if (!here) return std::nullopt;
  const std::string file = here->file.string();
  const Variant* now = here->variant(variant);
  if (now != nullptr && now->source_hash == source_hash) return std::nullopt;
  return Changed{"source", source_hash.hex(),
                 now == nullptr ? file + " has no variant " + variant : now->source_hash.hex(),
                 !here->named};
}

std::optional<Changed> Staleness::of_space(const db::Winner& winner) {
  const std::optional<Family>& here = family_now(winner.problem.family);
  auto grown = here ? grown_spaces_.since(winner, *here) : std::nullopt;
  if (!grown) return std::nullopt;
  return Changed{"space", std::move(grown->before), std::move(grown->now), true};
}

std::vector<Changed> Staleness::of_environment(const db::Id& device, const db::Id& environment) {
  const auto [at, is_new] = environments_.try_emplace(device);
  if (is_new) at->second = environment_now(device);
  const auto before = store_.environment(environment);
  std::vector<Changed> changed;
  if (!at->second || !before) return changed;
  for (const auto& [name, now] : at->second->items) {
    const auto found = before->items.find(name);
    const std::string was = found == before->items.end() ? "" : found->second;
    if (was != now && !now.empty()) changed.push_back({name, was, now, true});
  }
  return changed;
}

}  // namespace hone::tools
