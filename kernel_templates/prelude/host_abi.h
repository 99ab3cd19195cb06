// What the host device and a kernel compiled for it agree on: private to prelude/host.h and
// runtime/host_device.cpp. The kernel `name` is exported as `name_hone_host`, a hone_host_entry.
#ifndef HONE_HOST_ABI_H
#define HONE_HOST_ABI_H

extern "C" {

struct hone_host_launch {
  unsigned grid[3];
  unsigned block[3];
  unsigned dynamic_shared_bytes;
};

/// Runs one lane of a block.
typedef void (*hone_host_lane)(void* context, unsigned x, unsigned y, unsigned z);

/// What the thread that runs a range of blocks lends to them.
struct hone_host_worker {
  void* dynamic_shared;  ///< dynamic_shared_bytes of it, for one block at a time
  void* fibres;          ///< first argument of the two functions below
  /// Runs every lane of a block to its end, each on a stack of its own.
  void (*run_lanes)(void* fibres, const unsigned block[3], hone_host_lane lane, void* context);
  /// Called by a lane: returns when every lane of the block that has not ended has called it.
  void (*barrier)(void* fibres);
};

/// Runs the blocks [first, last), numbered with x fastest. `parameters[i]` points to the i-th argument's
/// value.
typedef void (*hone_host_entry)(const hone_host_launch* launch, const hone_host_worker* worker,
                                void* const* parameters, unsigned long long first, unsigned long long last);
}

#endif
