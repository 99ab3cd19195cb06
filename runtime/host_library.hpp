// A shared object loaded from memory: a host kernel's code object, or a check's reference
// (compile_host_library()).
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace hone {

class HostLibrary {
 public:
  /// Throws DeviceError (not sticky) when it is not a shared object for this machine.
  explicit HostLibrary(std::span<const std::byte> object);
  ~HostLibrary();
  HostLibrary(const HostLibrary&) = delete;
  HostLibrary& operator=(const HostLibrary&) = delete;

  /// The address of an exported name; null when there is none.
  void* symbol(const std::string& name) const;

 private:
  int descriptor_ = -1;
  void* handle_ = nullptr;
};

}  // namespace hone
