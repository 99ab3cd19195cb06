// What has changed since winners were found: the sources of their templates, the environment of their device.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "runtime/family.hpp"
#include "tools/options.hpp"
#include "tuner/grown_space.hpp"

namespace hone::tools {

/// One difference between then and now.
struct Changed {
  std::string what;  ///< `source`, `space`, `driver`, `compiler`, …
  std::string before, now;
  bool serves = false;  ///< what was tuned before goes on serving
};

/// The folders that the user named: against their sources the ladder asks what is stale, since who names them
/// serves from them. Installed templates are for tuning: applications serve from the database's own copies.
std::vector<std::string> named_folders(const std::vector<std::string>& given);

/// Compares with this machine: the templates found here, and the devices that are there, each once. The
/// environment makes a winner only doubtful, a source that is served from makes it useless.
class Staleness {
 public:
  Staleness(db::Store& store, std::vector<TemplateFolder> folders)
      : store_(store), folders_(std::move(folders)), grown_spaces_(store) {}

  /// Of the source of a family's variant; none where it is as it was, or where there is no such family here.
  std::optional<Changed> of_source(const std::string& family, const std::string& variant,
                                   const db::Id& source_hash);
  /// Of the space that the winner was searched for in, where it has grown: the winner serves, and may not be
  /// the best any more.
  std::optional<Changed> of_space(const db::Winner& winner);
  /// Of the device's environment; empty where nothing has changed, or the device is not in this machine.
  std::vector<Changed> of_environment(const db::Id& device, const db::Id& environment);

 private:
  /// None: not here, or broken.
  const std::optional<Family>& family_now(const std::string& name);

  db::Store& store_;
  std::vector<TemplateFolder> folders_;
  tuner::GrownSpaces grown_spaces_;
  std::map<std::string, std::optional<Family>> families_;
  std::map<db::Id, std::optional<db::Environment>> environments_;  ///< of devices, now
};

}  // namespace hone::tools
