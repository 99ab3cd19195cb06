// Where sources are looked for, and the expansion of their includes.
#pragma once

#include <cstddef>
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

inline constexpr std::size_t kLargestText = std::size_t{4} << 20;        ///< of a manifest or source
inline constexpr std::size_t kLargestExpansion = std::size_t{16} << 20;  ///< of a source with its includes

/// The text of `name` with its includes expanded. Throws Error{invalid} where that passes kLargestExpansion:
/// includes under conditions, each with several of its own, grow without end.
std::string expand_source(const SourceFolders& folders, const std::string& name, const std::string& from);

/// A file's text, of kLargestText bytes at most. Throws Error{invalid} naming it.
std::string read_text(const std::filesystem::path& file);

}  // namespace hone
