// A family's reference, loaded from the shared object that the host compiler made of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "runtime/host_library.hpp"

namespace hone::tuner {

class Reference {
 public:
  /// Throws Error{invalid} when the object does not define `hone_reference`.
  explicit Reference(std::span<const std::byte> object);

  /// Computes items [0, items) on all cores. `arguments` in the family's order, in host memory;
  /// kernel_templates/ README.md describes the function.
  void compute(const db::Problem& problem, std::span<void* const> arguments, std::int64_t items) const;

 private:
  HostLibrary library_;
  using Function = void (*)(const long long* dimensions, const char* element_type, const char* layout,
                            void* const* arguments, long long first, long long last);
  Function function_ = nullptr;
};

}  // namespace hone::tuner
