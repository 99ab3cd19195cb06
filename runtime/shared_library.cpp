#include "runtime/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace hone {

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      name_(std::move(other.name_)),
      problem_(std::move(other.problem_)) {}

SharedLibrary& SharedLibrary::operator=(SharedLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(name_, other.name_);
  std::swap(problem_, other.problem_);
  return *this;
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

SharedLibrary SharedLibrary::open(const std::vector<std::string>& names) {
  SharedLibrary library;
  std::string tried;
  std::string refused;
  for (const std::string& name : names) {
    const bool is_path = name.find('/') != std::string::npos;
    std::error_code ignored;
    if (is_path && !std::filesystem::exists(name, ignored)) continue;
    library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ != nullptr) {
      library.name_ = name;
      return library;
    }
    const char* const error = dlerror();
    const std::string text = error != nullptr ? error : "";
    // The loader says "NAME: cannot open ..." of the library asked for; anything else was found and is
    // unusable.
    if (is_path || !text.starts_with(name + ": cannot open shared object file: No such file")) refused = text;
    if (!is_path) tried += (tried.empty() ? "" : ", ") + name;
  }
  library.problem_ = !refused.empty() ? fmt::format("cannot be loaded: {}", refused)
                                      : fmt::format("library not found (tried {})", tried);
  return library;
}

void SharedLibrary::keep() noexcept {
  handle_ = nullptr;
}

void* SharedLibrary::address(const char* symbol) const noexcept {
  return handle_ != nullptr ? dlsym(handle_, symbol) : nullptr;
}

}  // namespace hone
