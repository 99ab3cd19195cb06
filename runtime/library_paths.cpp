#include "runtime/library_paths.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace hone {
namespace {

namespace fs = std::filesystem;

/// The folder an environment variable names, then those of `parent` whose names start with `prefix`: the
/// plain name, which is the administrator's choice, before the versioned ones, of which the newest first.
std::vector<fs::path> toolkit_folders(std::initializer_list<const char*> variables, const fs::path& parent,
                                      const std::string& prefix) {
  std::vector<fs::path> folders;
  for (const char* const variable : variables) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value != '\0') folders.emplace_back(value);
  }
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with(prefix)) found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    const std::size_t a_size = a.native().size();
    const std::size_t b_size = b.native().size();
    return a_size != b_size ? a_size > b_size : a > b;
  });
  std::stable_partition(found.begin(), found.end(),
                        [&](const fs::path& path) { return path.filename() == prefix; });
  folders.insert(folders.end(), found.begin(), found.end());
  return folders;
}

std::vector<std::string> with_folders(const std::vector<std::string>& names,
                                      const std::vector<fs::path>& folders) {
  std::vector<std::string> all = names;
  for (const fs::path& folder : folders) {
    for (const char* const library_folder : {"lib64", "lib"}) {
      for (const std::string& name : names) all.push_back((folder / library_folder / name).string());
    }
  }
  return all;
}

}  // namespace

std::vector<std::string> rocm_library_names(const std::vector<std::string>& names) {
  return with_folders(names, toolkit_folders({"ROCM_PATH", "HIP_PATH"}, "/opt", "rocm"));
}

std::vector<std::string> cuda_library_names(const std::vector<std::string>& names) {
  return with_folders(names, toolkit_folders({"CUDA_HOME", "CUDA_PATH"}, "/usr/local", "cuda"));
}

}  // namespace hone
