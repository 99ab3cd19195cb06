#include "db/private_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "db/error.hpp"

namespace hone::db {
namespace {

// A new name survives a power cut once its folder is on the disk.
void synchronise_folder(const std::filesystem::path& folder) noexcept {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

void make_private_folders(const std::filesystem::path& folder) {
  const std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
  std::filesystem::path path;
  for (const auto& part : whole) {
    const std::filesystem::path parent = path;
    path /= part;
    if (mkdir(path.c_str(), 0700) == 0) {
      synchronise_folder(parent);
      continue;
    }
    // An existing folder may also be on a file system that is read-only, or not ours to write.
    const int why = errno;
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      throw std::filesystem::filesystem_error(
          "cannot make a folder", path,
          std::error_code(why == EEXIST ? ENOTDIR : why, std::generic_category()));
    }
  }
}

std::filesystem::path private_file_beside(const std::filesystem::path& file) {
  std::string name = file.string() + ".XXXXXX";
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);  // 0600
  if (descriptor < 0) {
    throw Error(Error::Kind::unusable,
                fmt::format("{}: cannot be created ({})", file.string(), std::strerror(errno)));
  }
  close(descriptor);
  return name;
}

bool rename_to_new(const std::filesystem::path& part, const std::filesystem::path& to) noexcept {
  if (renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
    // Some file systems cannot rename so, but can link.
    if (errno != EINVAL || link(part.c_str(), to.c_str()) != 0) return false;
    unlink(part.c_str());
  }
  try {
    synchronise_folder(std::filesystem::absolute(to).parent_path());
  } catch (const std::exception&) {
    // Of a power cut alone would it be forgotten.
  }
  return true;
}

}  // namespace hone::db
