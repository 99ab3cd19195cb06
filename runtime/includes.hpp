// Where sources are looked for, and the expansion of their includes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/family.hpp"

namespace hone {

/// The only places a family's sources may come from, in the order they are searched.
class SourceFolders {
 public:
  explicit SourceFolders(const std::filesystem::path& family_folder);

  struct Found {
    std::filesystem::path file;
    std::string label;  ///< relative to the templates' root, so that hashes do not depend on where that lies
  };
  /// Throws Error{invalid} that starts with `from` when there is no such file, or it lies elsewhere.
  Found find(const std::string& name, const std::string& from) const;

 private:
  struct Folder {
    std::filesystem::path path;
    std::string label;
  };
  std::vector<Folder> folders_;
};

/// The text of `name` with its includes expanded.
std::string expand_source(const SourceFolders& folders, const std::string& name, const std::string& from);

/// A file's text. Throws Error{invalid} naming it.
std::string read_text(const std::filesystem::path& file);

}  // namespace hone
