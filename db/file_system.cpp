#include "db/file_system.hpp"

#include <fmt/format.h>
#include <sys/vfs.h>

#include "db/error.hpp"

namespace hone::db {

std::optional<std::string> network_file_system(std::uint32_t magic) {
  switch (magic) {
    case 0x00006969:
      return "NFS";
    case 0x0000517b:
      return "SMB";
    case 0xff534d42:
      return "CIFS";
    case 0xfe534d42:
      return "SMB2";
    case 0x5346414f:
    case 0x6b414653:
      return "AFS";
    case 0x0bd00bd0:
      return "Lustre";
    case 0x47504653:
      return "GPFS";
    default:
      return std::nullopt;
  }
}

void require_local(const std::filesystem::path& file) {
  std::error_code ignored;
  std::filesystem::path there = std::filesystem::absolute(file, ignored);
  while (!std::filesystem::exists(there, ignored) && there.has_relative_path()) there = there.parent_path();
  struct statfs about {};
  if (statfs(there.c_str(), &about) != 0) return;  // opening will say what is wrong
  if (const auto network = network_file_system(static_cast<std::uint32_t>(about.f_type))) {
    throw Error(
        Error::Kind::unusable,
        fmt::format("{}: lies on {}, whose locks do not protect a database that several write; give each "
                    "writer a file on a local disk and merge them (reading it here is fine)",
                    file.string(), *network));
  }
}

}  // namespace hone::db
