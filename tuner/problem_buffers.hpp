// One problem's arguments on a device: every buffer between guard regions, inputs filled, the reference
// computed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/plan.hpp"
#include "tuner/check_kernels.hpp"
#include "tuner/reference.hpp"

namespace hone::tuner {

/// Device memory, released when destroyed.
class DeviceMemory {
 public:
  DeviceMemory(Device& device, std::size_t bytes) : device_(&device), memory_(device.allocate(bytes)) {}
  DeviceMemory(DeviceMemory&& other) noexcept
      : device_(other.device_), memory_(std::exchange(other.memory_, nullptr)) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory() {
    if (memory_ != nullptr) device_->release(memory_);
  }
  std::byte* get() const noexcept { return static_cast<std::byte*>(memory_); }

 private:
  Device* device_;
  void* memory_;
};

/// On each side of a buffer; more than any block writes.
inline constexpr std::int64_t guard_bytes = 64 << 10;
inline constexpr std::uint8_t guard_sentinel = 0xa5;

/// A launch's parameters, and the values that no buffer holds. What it points to stays where it is when this
/// moves.
struct LaunchParameters {
  std::vector<void*> addresses;
  std::unique_ptr<TensorMap[]> maps;
  std::unique_ptr<void*> workspace;
  void* const* data() const noexcept { return addresses.data(); }
};

/// What a check found wrong.
struct Fault {
  db::Outcome outcome;
  std::string reason;
};

/// The arguments of one problem at one misalignment.
class ProblemBuffers {
 public:
  /// Allocates, fills and computes. `offset` moves every pointer by so many elements from its aligned place.
  /// `copies` more sets of the arguments are made for the cold regime, which rotates among them.
  ProblemBuffers(Device& device, CheckKernels& kernels, db::Evaluator& evaluator, const Family& family,
                 const db::Problem& problem, const Reference& reference, std::int64_t offset,
                 std::int64_t copies, std::uint64_t seed);

  /// Makes so many more sets, in places apart from each other, to see what a launch takes wherever its
  /// buffers lie; fewer where memory is short.
  void spread(std::int64_t copies);

  const db::Problem& problem() const noexcept { return problem_; }
  /// Bytes every pointer is aligned to.
  std::int64_t alignment() const noexcept { return alignment_; }
  std::int64_t sets() const noexcept { return static_cast<std::int64_t>(sets_.size()); }

  /// The kernel's parameters for one set, with a workspace (null: none); they live as long as this does.
  /// Throws DeviceError where the device has no such tensor maps.
  LaunchParameters parameters(const Plan& plan, std::int64_t set, void* workspace) const;

  /// Poisons what the kernel must write and fills again what it reads and writes.
  void reset();
  /// Tallies that a comparison uses.
  TallySlot tallies() const noexcept;
  /// Enqueues the comparisons of values, guards and inputs, from tally `first` on; returns how many it uses.
  TallySlot compare(TallySlot first);
  /// What those tallies say.
  std::optional<Fault> judge(const std::vector<Tally>& tallies, TallySlot first) const;
  /// Makes everything as it was after a faulty kernel: guards, inputs.
  void restore();

 private:
  struct Buffer {
    DeviceMemory memory;
    std::byte* data;
    std::size_t total;  ///< guards included
  };
  struct Set {
    std::vector<std::optional<Buffer>> buffers;  ///< by argument
    std::vector<void*> pointers;
  };
  Set make_set();
  void fill_inputs(const Set& set);
  std::uint64_t seed_of(std::size_t argument) const { return seed_ * 1000003 + argument; }
  bool written(std::size_t argument) const;
  void compute(const Reference& reference);

  Device& device_;
  CheckKernels& kernels_;
  const Family& family_;
  db::Problem problem_;
  std::vector<ArgumentShape> shapes_;
  std::int64_t offset_ = 0;
  std::int64_t alignment_ = 1;
  std::uint64_t seed_ = 0;
  std::vector<Set> sets_;
  std::vector<DeviceMemory> gaps_;                      ///< between sets that are spread
  std::vector<std::optional<DeviceMemory>> reference_;  ///< by argument, what it must hold afterwards
  std::vector<Tolerance> tolerances_;                   ///< by argument, for comparisons that are not bitwise
  mutable std::vector<std::uint64_t> scalars_;          ///< by argument, the value's bytes
  mutable std::vector<std::int64_t> dimensions_;
};

}  // namespace hone::tuner
