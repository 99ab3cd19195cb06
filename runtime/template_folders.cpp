// Where families are looked for, and whose word is taken for them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "runtime/family.hpp"
#include "runtime/spelling.hpp"
#include "runtime/user_data.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

fs::path beside_executable() {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return executable.parent_path().parent_path() / "share" / "hone" / "kernel_templates";
}

std::vector<fs::path> trusted_folders() {
  std::vector<fs::path> all;
  if (const auto data = user_data_folder(); !data.empty()) all.push_back(data / "kernel_templates");
  if (const auto beside = beside_executable(); !beside.empty()) all.push_back(beside);
#ifdef HONE_INSTALLED_TEMPLATES
  all.emplace_back(HONE_INSTALLED_TEMPLATES);
#endif
  return all;
}

/// Two ways to write a folder are one, so that `--templates` on an installed folder loses no trust.
bool same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

/// Somebody else may have put there what lies there.
bool others_may_write(const fs::path& folder) {
  std::error_code error;
  const auto permissions = fs::status(folder, error).permissions();
  return error || (permissions & fs::perms::others_write) != fs::perms::none;
}

/// The same of what lies in a folder, however deep. One that is not there holds nothing of anybody.
bool others_may_write_in(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return false;
  if (others_may_write(folder)) return true;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (others_may_write(entry->path())) return true;
  return static_cast<bool>(error);
}

void add(std::vector<TemplateFolder>& folders, const fs::path& path, bool trusted, bool named) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return;
  if (std::none_of(folders.begin(), folders.end(), [&](const auto& each) { return same(each.path, path); }))
    folders.push_back({path, trusted && !others_may_write(path), named});
}

void split(const char* list, std::vector<std::string>& into) {
  if (list == nullptr) return;
  std::string_view rest = list;
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    if (colon != 0) into.emplace_back(rest.substr(0, colon));
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
}

}  // namespace

std::vector<TemplateFolder> template_folders(const std::vector<std::string>& given) {
  const auto trusted = trusted_folders();
  std::vector<TemplateFolder> folders;
  std::vector<std::string> untrusted = given;
  for (const auto& path : given)
    if (std::error_code error; !fs::is_directory(path, error))
      throw Error(ErrorCode::invalid, fmt::format("--templates {}: no such folder", path));
  split(std::getenv("HONE_TEMPLATES"), untrusted);
  for (const auto& path : untrusted)
    add(folders, path,
        std::any_of(trusted.begin(), trusted.end(), [&](const auto& each) { return same(each, path); }),
        true);
  for (const auto& path : trusted) add(folders, path, true, false);
  return folders;
}

Family find_family(const std::string& name, const std::vector<TemplateFolder>& folders) {
  if (is_name(name)) {
    for (const auto& folder : folders) {
      const fs::path file = folder.path / name / (name + ".toml");
      if (std::error_code error; !fs::is_regular_file(file, error)) continue;
      Family family = parse_family(file);
      family.trusted = folder.trusted;
      family.named = folder.named;
      for (const char* part : {name.c_str(), "common", "prelude"})
        if (family.trusted) family.trusted = !others_may_write_in(folder.path / part);
      return family;
    }
  }
  const auto known = list_families(folders);
  if (known.empty())
    throw Error(ErrorCode::invalid,
                fmt::format("no family `{}`: no templates were found; give --templates DIR", name));
  throw Error(ErrorCode::invalid, fmt::format("no family `{}`{}", name, suggestion(name, known)));
}

std::vector<std::string> list_families(const std::vector<TemplateFolder>& folders) {
  std::set<std::string> names;
  for (const auto& folder : folders) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder.path, error)) {
      const std::string name = entry.path().filename().string();
      if (is_name(name) && fs::is_regular_file(entry.path() / (name + ".toml"), error)) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace hone
