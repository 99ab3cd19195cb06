#include "db/folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "db/error.hpp"

namespace hone::db {

std::filesystem::path temporary_folder() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return error ? std::filesystem::path("/tmp") : folder;
}

PrivateFolder::PrivateFolder(const std::filesystem::path& parent) {
  std::string name = (parent / ".hone-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw Error(Error::Kind::unusable,
                fmt::format("{}: no file can be written there ({}); check that the folder exists and its "
                            "permissions",
                            parent.string(), std::strerror(errno)));
  path_ = name;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hone::db
