// The kernels of common/check.cpp on a device: fill, poison, compare, look at guard regions. Nothing here
// waits, except reading the tallies.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/element_type.hpp"
#include "runtime/family.hpp"

namespace hone::tuner {

/// How many elements or bytes a comparison found wrong, and the index of the first.
struct Tally {
  std::uint64_t wrong = 0;
  std::uint64_t first = ~std::uint64_t{0};
};

/// Where a comparison counts: an index into the tallies of CheckKernels.
using TallySlot = std::uint32_t;

/// How far an element may be from its reference: absolute + relative * |reference|.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

class CheckKernels {
 public:
  /// The translation unit of common/check.cpp for a backend, and one of its kernels, to compile it by.
  static std::string source(const Family& family, Backend backend);
  static std::string entry();

  CheckKernels(Device& device, std::span<const std::byte> object);
  ~CheckKernels();

  void fill(void* to, std::int64_t elements, ElementType type, const std::string& fill, std::uint64_t seed);
  void poison(void* to, const void* reference, std::int64_t bytes);
  void poison_numbers(void* to, const double* reference, std::int64_t elements, ElementType type);

  // Each adds to a tally; compare_numbers counts what changed in gaps, which the reference leaves untouched
  // (common/marks.h), in one of its own.
  void compare_bits(const void* out, const void* reference, std::int64_t elements, ElementType type,
                    TallySlot slot);
  void compare_numbers(const void* out, const double* reference, std::int64_t elements, ElementType type,
                       Tolerance tolerance, TallySlot slot, TallySlot gaps);
  void check_bytes(const void* region, std::int64_t bytes, std::uint8_t sentinel, TallySlot slot);
  void check_fill(const void* buffer, std::int64_t elements, ElementType type, const std::string& fill,
                  std::uint64_t seed, TallySlot slot);

  static constexpr TallySlot slots = 1024;             ///< for buffers
  static constexpr TallySlot workspace_slots = slots;  ///< the first of those for a workspace
  static constexpr TallySlot workspace_tallies = 3;
  static constexpr TallySlot all_slots = workspace_slots + workspace_tallies;
  void clear_tallies();
  /// Waits for the device and reads them all.
  std::vector<Tally> read_tallies();

 private:
  enum Which {
    fill_kernel,
    poison_kernel,
    poison_numbers_kernel,
    bits_kernel,
    numbers_kernel,
    bytes_kernel,
    check_fill_kernel,
    kernels
  };
  void launch(Which which, std::int64_t bytes, void* const* parameters);

  Device& device_;
  std::unique_ptr<Kernel> kernels_[kernels];
  std::uint64_t* tallies_ = nullptr;  ///< on the device: wrong, first of each slot
};

/// A manifest's `fill` as the check kernels take it: kind, and the value where it is a number. Throws
/// Error{invalid}.
struct Fill {
  int kind = 0;
  double value = 0;
};
Fill parse_fill(const std::string& fill);

}  // namespace hone::tuner
