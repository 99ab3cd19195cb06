// Fibres of one thread of the host device: they let the lanes of a block wait for each other at barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernel_templates/prelude/host_abi.h"

namespace hone {

class HostFibres {
 public:
  HostFibres();
  ~HostFibres();
  HostFibres(const HostFibres&) = delete;
  HostFibres& operator=(const HostFibres&) = delete;

  /// Runs every lane of a block to its end. A lane has 64 KiB of stack (256 KiB under sanitizers).
  void run(const unsigned block[3], hone_host_lane lane, void* context);
  /// Called by a lane.
  void barrier();

 private:
  struct Fibre;
  struct Scheduler;
  void grow(std::size_t count);
  void resume(Fibre& fibre);
  void yield();
  static void start(unsigned high, unsigned low);

  std::unique_ptr<Scheduler> scheduler_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  Fibre* running_ = nullptr;
};

}  // namespace hone
