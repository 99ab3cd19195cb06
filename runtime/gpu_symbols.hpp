// Fills a table of entry points from a library and remembers the first that is missing.
#pragma once

#include <string>

#include "runtime/shared_library.hpp"

namespace hone {

class SymbolFinder {
 public:
  explicit SymbolFinder(const SharedLibrary& library) : library_(library) {}

  template <typename Function>
  void require(Function& function, const char* symbol) {
    function = library_.find<Function>(symbol);
    if (function == nullptr && missing_.empty()) missing_ = symbol;
  }
  template <typename Function>
  void prefer(Function& function, const char* symbol) {
    if (function == nullptr) function = library_.find<Function>(symbol);
  }
  /// The first required symbol that is not there; empty when all are.
  const std::string& missing() const noexcept { return missing_; }

 private:
  const SharedLibrary& library_;
  std::string missing_;
};

}  // namespace hone
