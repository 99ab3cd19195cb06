// The device memory that launches are lent (a manifest's `workspace`). One serves every configuration and
// problem of a session, as an application's may: launches follow each other, and a kernel leaves zero what
// has to be.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tuner/problem_buffers.hpp"

namespace hone::tuner {

class Workspace {
 public:
  Workspace(Device& device, CheckKernels& kernels) : device_(device), kernels_(kernels) {}

  /// At least so many bytes, ready for a launch; null for none. What was given before stays.
  void* get(std::int64_t bytes);

  /// The same, for one launch that is checked: between guard regions, and poisoned where it may hold
  /// anything. Enqueues.
  void* guarded(std::int64_t bytes);
  /// Enqueues, behind a launch with guarded(bytes), the comparison of guards and of what must be zero, into
  /// CheckKernels::workspace_tallies from `first` on. Several launches may add to the same.
  void compare(std::int64_t bytes, TallySlot first);
  std::optional<Fault> judge(const std::vector<Tally>& all, TallySlot first) const;
  /// Enqueues: makes zero again what a faulty kernel did not leave so.
  void restore();

 private:
  struct Piece {
    DeviceMemory memory;
    std::int64_t bytes;  ///< between the guards
  };
  static std::byte* start(const Piece& piece) { return piece.memory.get() + guard_bytes; }

  Device& device_;
  CheckKernels& kernels_;
  std::vector<Piece> pieces_;  ///< each larger than the one before
};

}  // namespace hone::tuner
