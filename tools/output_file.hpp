// Files that a verb makes: whether they can be is found out before the work for them, folders are never made
// along the way, and a file is there whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace hone::tools {

/// Throws Error: invalid where `file` exists, environment where its folder does not.
void require_new_file(const std::filesystem::path& file);

/// A page of `hone report` in the making.
class PageFile {
 public:
  /// Makes a file beside it. Throws Error: invalid where something else than such a page has the name,
  /// environment where its folder does not exist or it cannot be written.
  explicit PageFile(std::filesystem::path file);
  /// Removes what was not published.
  ~PageFile();
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;

  /// Gives it its text and its name, once. Whoever reads meanwhile sees the old page or the new one, and a
  /// failure, which throws Error{environment}, leaves the old one.
  void publish(std::string_view text);

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path file_, part_;
  int descriptor_ = -1;
};

}  // namespace hone::tools
