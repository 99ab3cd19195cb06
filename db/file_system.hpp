// Where a database may be written: SQLite's locks do not hold on network file systems.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace hone::db {

/// The name of the network file system that statfs() reports by `magic`; none: it is a local one.
std::optional<std::string> network_file_system(std::uint32_t magic);

/// Throws where `file` lies, or would be created, on a network file system.
void require_local(const std::filesystem::path& file);

}  // namespace hone::db
