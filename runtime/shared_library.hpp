// A shared library opened when it is first asked for, never linked.
#pragma once

#include <string>
#include <vector>

namespace hone {

class SharedLibrary {
 public:
  SharedLibrary() = default;
  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  /// Opens the first of `names` that loads. When none does the result is closed and `problem()` says why: the
  /// names tried, or the loader's own words where a library was found and did not load.
  static SharedLibrary open(const std::vector<std::string>& names);

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  const std::string& name() const noexcept { return name_; }
  const std::string& problem() const noexcept { return problem_; }

  /// The function called `symbol`, null when there is none.
  template <typename Function>
  Function find(const char* symbol) const {
    return reinterpret_cast<Function>(address(symbol));
  }

  /// Keeps the library loaded until the process ends: a driver's own threads outlive every owner.
  void keep() noexcept;

 private:
  void* address(const char* symbol) const noexcept;

  void* handle_ = nullptr;
  std::string name_;
  std::string problem_;
};

}  // namespace hone
