// The steps from a manifest's text to a proven family; manifest.cpp documents the keys.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "runtime/family.hpp"

namespace hone {

/// Where a manifest's fields stand, for messages.
class ManifestLines {
 public:
  explicit ManifestLines(std::string file) : file_(std::move(file)) {}
  /// The lines after `last` are those of another file, from its first.
  void continue_in(std::string file, unsigned last) {
    included_ = std::move(file);
    own_lines_ = last;
  }
  void set(const std::string& field, unsigned line) { lines_[field] = line; }
  /// `file:line`.
  std::string place(unsigned line) const;
  /// Throws Error{invalid}: `file:line: field: what`.
  [[noreturn]] void fail(const std::string& field, const std::string& what) const;

 private:
  std::string file_;
  std::string included_;
  unsigned own_lines_ = ~0U;
  std::map<std::string, unsigned> lines_;
};

/// What [family] include names; empty: nothing, or no manifest at all.
std::string included_file(std::string_view manifest);

/// Keys and types of a manifest that what it includes follows; sources, hashes and the reference are not
/// filled in.
Family read_manifest(std::string_view text, ManifestLines& lines);

/// What holds between fields: names, defaults, ladder, and each expression over the names it may read.
void prove_manifest(const Family& family, const ManifestLines& lines);

/// `host`, `cuda >= sm_80`, `hip in [gfx90a, gfx942]`. Throws Error{invalid} with what is wrong.
Target parse_target(std::string_view text);

/// Whether problems and calls of one are problems and calls of the other.
bool same_signature(const Family& a, const Family& b);

/// Identifies a variant's source with what describes its launch: a change of it makes winners stale.
db::Id source_hash(const Family& family, const Variant& variant);

}  // namespace hone
