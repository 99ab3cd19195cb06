// Devices of a database by what people call them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "db/store.hpp"
#include "runtime/device.hpp"

namespace hone::tools {

using RecordedDevices = std::vector<std::pair<db::Id, db::Device>>;

/// Those that `choice` means: `all`, a backend, the start of an architecture, part of a name; or the index of
/// a device of this machine, as `hone devices` counts, for which Error{environment} is thrown where there is
/// none. May be empty.
RecordedDevices find_devices(db::Store& store, const std::string& choice);

/// The same. Throws Error{invalid} that begins with `flag` where the database has none of them.
RecordedDevices devices_called(db::Store& store, const std::string& flag, const std::string& choice);

/// With the limits of its architecture, which the database does not hold. Throws Error{invalid} for a device
/// of an architecture that hone does not know.
DeviceInfo with_limits(const db::Device& device);

}  // namespace hone::tools
