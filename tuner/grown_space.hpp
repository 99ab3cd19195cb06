// Whether a space has grown since winners were tuned. A parameter's new values and a new variant leave the
// sources as they were, and every winner right; it may only not be the best any more.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "db/store.hpp"
#include "runtime/family.hpp"

namespace hone::tuner {

/// The setting of a run that names the manifest whose space it searched: the id of its text. A refresh
/// searches none.
inline constexpr const char* manifest_setting = "manifest";

/// What differs: the values of each parameter that has more of them, and the variants that are new.
struct Growth {
  std::string before, now;
};

/// On a device's backend and architecture; none: each configuration that there is now there was before.
std::optional<Growth> growth(const Family& before, const Family& now, const DeviceInfo& device);

/// Compares with the manifests by which a database's winners were searched for.
class GrownSpaces {
 public:
  explicit GrownSpaces(db::Store& store) : store_(store) {}

  /// None also where the run did not say by which manifest it searched, or the database does not hold it.
  std::optional<Growth> since(const db::Winner& winner, const Family& now);

 private:
  std::optional<db::Id> manifest_of(const db::Winner& winner);
  std::optional<db::Id> manifest_of_run(const db::Id& run);
  const std::optional<Family>& family(const db::Id& manifest);
  const std::optional<DeviceInfo>& device(const db::Id& id);

  using Key = std::tuple<db::Id, db::Id, db::Regime>;  // device, problem
  db::Store& store_;
  std::map<db::Id, std::optional<db::Id>> manifests_;  ///< by run
  std::map<db::Id, std::optional<Family>> families_;   ///< by manifest
  std::map<db::Id, std::optional<DeviceInfo>> devices_;
  std::optional<std::map<Key, db::Id>> searched_;  ///< the manifest of each key's newest search
};

}  // namespace hone::tuner
