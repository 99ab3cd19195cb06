// The host device with its compiler, for tests that run kernels written in place.
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/family.hpp"
#include "runtime/host_compiler.hpp"
#include "runtime/host_device.hpp"

namespace hone::test {

inline const std::string templates = std::string(HONE_SOURCE_DIR) + "/kernel_templates";

using Macros = std::vector<std::pair<std::string, std::string>>;

inline std::string define(const Macros& macros) {
  std::string text;
  for (const auto& [name, value] : macros) text += "#define " + name + " " + value + "\n";
  return text;
}

/// A translation unit for a backend: the prelude, then `body`.
inline std::string with_prelude(const std::string& body, const std::string& backend = "HOST") {
  return define({{"HONE_BACKEND_" + backend, "1"}}) + expand_includes(templates + "/prelude/prelude.h") +
         "\n" + body;
}

class HostRig {
 public:
  HostRig() : device_(open_host_device(host_device_info())), compiler_(open_host_compiler()) {}

  Device& device() { return *device_; }
  Compiler& compiler() { return *compiler_; }

  std::vector<std::byte> object(const std::string& source, const std::string& entry) {
    CompileResult result = compiler_->compile({Backend::host, device_->info().architecture, source, entry});
    if (!result.ok) throw std::runtime_error(result.log);
    return std::move(result.object);
  }

  std::unique_ptr<Kernel> kernel(const std::string& source, const std::string& entry) {
    return device_->load(object(source, entry), entry);
  }

  /// Launches with the values of `arguments`.
  template <typename... Arguments>
  void launch(const Kernel& kernel, const Geometry& geometry, Arguments... arguments) {
    void* parameters[] = {static_cast<void*>(&arguments)..., nullptr};
    device_->launch({&kernel, geometry, parameters}, nullptr);
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Compiler> compiler_;
};

inline Geometry line(std::uint32_t grid, std::uint32_t block) {
  return {{grid, 1, 1}, {block, 1, 1}, 0};
}

}  // namespace hone::test
