#include "runtime/source_changes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/includes.hpp"

namespace hone {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;  ///< of files, by label

auto text_of(auto& texts, const std::string& label) {
  return std::find_if(texts.begin(), texts.end(), [&](const auto& each) { return each.first == label; });
}

/// Takes an expanded source apart at the `#line 1 "relu/op.h"` that name its files.
Texts texts_of(std::string_view source) {
  constexpr std::string_view mark = "#line ";
  Texts texts;
  std::string label;
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size() - 1) + 1;
    const std::string_view line = source.substr(0, end);
    source.remove_prefix(end);
    const std::size_t open = line.starts_with(mark) ? line.find('"') : std::string_view::npos;
    if (open != std::string_view::npos) {
      label = line.substr(open + 1, line.rfind('"') - open - 1);
      if (text_of(texts, label) == texts.end()) texts.emplace_back(label, "");
    } else if (!label.empty()) {
      text_of(texts, label)->second.append(line);
    }
  }
  return texts;
}

}  // namespace

std::vector<std::string> changed_files(const Variant& before, const Variant& now,
                                       const std::filesystem::path& folder) {
  const Texts old_texts = texts_of(before.source), new_texts = texts_of(now.source);
  const SourceFolders folders(folder);
  std::vector<std::string> changed;
  for (const auto& [label, text] : new_texts)
    if (const auto was = text_of(old_texts, label); was == old_texts.end() || was->second != text)
      changed.push_back(folders.find(label, label).file.string());
  for (const auto& [label, text] : old_texts)
    if (text_of(new_texts, label) == new_texts.end()) changed.push_back(label);
  return changed;
}

}  // namespace hone
