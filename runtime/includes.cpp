#include "runtime/includes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 64;

/// Whether `file`, symbolic links resolved, lies in `folder`.
bool lies_in(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path inner = fs::weakly_canonical(file, error);
  const fs::path outer = fs::weakly_canonical(folder, error);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// What follows `#` on a preprocessor line; empty for any other.
std::string_view directive(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('#')) return {};
  return trimmed(line.substr(1));
}

/// Whether a block comment is open after `line`, which began inside one or not.
bool in_comment_after(std::string_view line, bool inside) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view two = line.substr(i, 2);
    if (inside) {
      if (two == "*/") {
        inside = false;
        ++i;
      }
    } else if (quote != 0) {
      if (line[i] == '\\')
        ++i;
      else if (line[i] == quote)
        quote = 0;
    } else if (two == "//") {
      return false;
    } else if (two == "/*") {
      inside = true;
      ++i;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    }
  }
  return inside;
}

/// Whether the text's first directives are `#ifndef X` and `#define X`: a guard against its own repetition,
/// which is no condition under which the file may be absent.
bool is_guarded(std::string_view text) {
  bool comment = false;
  std::string_view guard;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    const std::string_view word = comment ? std::string_view() : directive(line);
    comment = in_comment_after(line, comment);
    if (word.empty()) continue;
    if (guard.empty()) {
      if (!word.starts_with("ifndef")) return false;
      guard = trimmed(word.substr(6));
      if (guard.empty()) return false;
    } else {
      return word.starts_with("define") && trimmed(word.substr(6)) == guard;
    }
  }
  return false;
}

/// One source's expansion. A file included outside any #if is expanded there and nowhere after; one included
/// under an #if that may not hold is guarded by a macro, so that it can come again where the #if did not
/// hold.
class Expansion {
 public:
  explicit Expansion(const SourceFolders& folders) : folders_(folders) {}

  std::string run(const SourceFolders::Found& found) {
    expand(found, 0, false);
    return std::move(out_);
  }

 private:
  void expand(const SourceFolders::Found& found, int depth, bool conditional) {
    if (depth > kDeepest)
      throw Error(ErrorCode::invalid, fmt::format("{}: includes nest too deep", found.label));
    if (!conditional) everywhere_.insert(found.label);
    open_.insert(found.label);
    const std::string text = read_text(found.file);
    if (out_.size() + text.size() > kLargestExpansion)
      throw Error(ErrorCode::invalid, fmt::format("{}: its includes make a source of more than {} bytes",
                                                  found.label, kLargestExpansion));
    line_directive(1, found.label);
    int ifs = is_guarded(text) ? -1 : 0;
    bool comment = false;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      ++number;
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      begin = end + 1;
      const std::string_view word = comment ? std::string_view() : directive(line);
      comment = in_comment_after(line, comment);
      if (word.starts_with("if")) ++ifs;
      if (word.starts_with("endif")) --ifs;
      if (is_pragma_once(word)) {
        out_ += '\n';
      } else if (const auto name = included(word)) {
        include(*name, fmt::format("{}:{}", found.label, number), depth, conditional || ifs > 0);
        line_directive(number + 1, found.label);
      } else {
        out_.append(line).append("\n");
      }
    }
    open_.erase(found.label);
  }

  void include(const std::string& name, const std::string& from, int depth, bool conditional) {
    const auto found = folders_.find(name, from);
    if (everywhere_.contains(found.label) || open_.contains(found.label)) return;
    if (!conditional && !guarded_.contains(found.label)) return expand(found, depth + 1, false);
    guarded_.insert(found.label);
    std::string macro = "HONE_INCLUDED_";
    for (const unsigned char c : found.label)
      macro += std::isalnum(c) != 0 ? static_cast<char>(std::toupper(c)) : '_';
    out_ += fmt::format("#ifndef {0}\n#define {0}\n", macro);
    expand(found, depth + 1, conditional);
    out_ += "#endif\n";
  }

  static bool is_pragma_once(std::string_view word) {
    return word.starts_with("pragma") && trimmed(word.substr(6)).starts_with("once");
  }

  /// The name between quotes of an include; none for `<…>`, which stays for the compiler.
  static std::optional<std::string> included(std::string_view word) {
    if (!word.starts_with("include")) return std::nullopt;
    const std::string_view rest = trimmed(word.substr(7));
    if (!rest.starts_with('"')) return std::nullopt;
    const auto end = rest.find('"', 1);
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(rest.substr(1, end - 1));
  }

  void line_directive(std::size_t number, const std::string& label) {
    out_ += fmt::format("#line {} \"{}\"\n", number, label);
  }

  const SourceFolders& folders_;
  std::string out_;
  std::set<std::string> everywhere_;  ///< expanded where no #if can hide it
  std::set<std::string> guarded_;     ///< expanded under a macro at least once
  std::set<std::string> open_;        ///< being expanded now
};

}  // namespace

SourceFolders::SourceFolders(const fs::path& family_folder) {
  const fs::path family = fs::absolute(family_folder).lexically_normal();
  const fs::path root = family.parent_path();
  folders_.push_back({family, family.filename().string()});
  for (const char* shared : {"common", "prelude"}) folders_.push_back({root / shared, shared});
  for (const auto& installed : template_folders({}))
    if (installed.trusted)
      for (const char* shared : {"common", "prelude"}) folders_.push_back({installed.path / shared, shared});
}

SourceFolders::Found SourceFolders::find(const std::string& name, const std::string& from) const {
  const fs::path path(name);
  if (name.empty() || path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end())
    throw Error(
        ErrorCode::invalid,
        fmt::format("{}: `{}` leaves the folders that sources may come from (the family's, common, prelude)",
                    from, name));
  for (const auto& folder : folders_) {
    // `prelude/hone.h` and `hone.h` both name the file of that folder.
    fs::path inside = path;
    if (std::distance(path.begin(), path.end()) > 1 && *path.begin() == folder.label)
      inside = path.lexically_relative(folder.label);
    for (const fs::path& candidate : {path, inside}) {
      const fs::path file = folder.path / candidate;
      std::error_code error;
      if (!fs::is_regular_file(file, error)) continue;
      if (!lies_in(file, folder.path))
        throw Error(ErrorCode::invalid,
                    fmt::format("{}: `{}` is a link out of {}", from, name, folder.path.string()));
      return {file, folder.label + "/" + candidate.lexically_normal().generic_string()};
    }
  }
  std::string searched;
  for (const auto& folder : folders_) searched += (searched.empty() ? "" : ", ") + folder.path.string();
  throw Error(ErrorCode::invalid, fmt::format("{}: there is no `{}` (searched: {})", from, name, searched));
}

std::string expand_source(const SourceFolders& folders, const std::string& name, const std::string& from) {
  return Expansion(folders).run(folders.find(name, from));
}

std::string expand_includes(const fs::path& file) {
  const fs::path full = fs::absolute(file).lexically_normal();
  return expand_source(SourceFolders(full.parent_path()), full.filename().string(), full.string());
}

}  // namespace hone
