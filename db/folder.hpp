// A private folder for files that only this process needs, gone with it.
#pragma once

#include <filesystem>

namespace hone::db {

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
