// Where files go that only this process needs: a private folder, gone with it.
#pragma once

#include <filesystem>

namespace hone::db {

/// TMPDIR, or /tmp where that names no folder.
std::filesystem::path temporary_folder();

class PrivateFolder {
 public:
  /// In `parent`, under a name that nobody can foresee, for this user alone. Throws where it cannot be made.
  explicit PrivateFolder(const std::filesystem::path& parent);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hone::db
