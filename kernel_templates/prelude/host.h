// The prelude for the host's C++ compiler; prelude.h says what each name means. A kernel becomes an inlined
// function of one lane, and its entry a loop over blocks and lanes in the same translation unit, so that the
// compiler sees through it: 0.7 ns an element, where indices in thread-local variables cost 11 ns.
#ifndef HONE_PRELUDE_HOST_H
#define HONE_PRELUDE_HOST_H

#include <utility>

#include "host_abi.h"

struct hone_lane {
  u32 thread[3];
  u32 block[3];
  u32 block_size[3];
  u32 grid[3];
  const hone_host_worker* worker;
};

template <auto Body>
struct hone_host_kernel;

template <typename... Arguments, void (*Body)(const hone_lane&, Arguments...)>
struct hone_host_kernel<Body> {
  static void loop(const hone_host_launch& launch, const hone_host_worker& worker, void* const* parameters,
                   u64 first, u64 last) {
    unpack(launch, worker, parameters, first, last, std::index_sequence_for<Arguments...>(),
           [](hone_lane& lane, Arguments... arguments) {
             for (u32 z = 0; z < lane.block_size[2]; ++z) {
               for (u32 y = 0; y < lane.block_size[1]; ++y) {
                 for (u32 x = 0; x < lane.block_size[0]; ++x) {
                   Body(hone_lane{{x, y, z},
                                  {lane.block[0], lane.block[1], lane.block[2]},
                                  {lane.block_size[0], lane.block_size[1], lane.block_size[2]},
                                  {lane.grid[0], lane.grid[1], lane.grid[2]},
                                  lane.worker},
                        arguments...);
                 }
               }
             }
           });
  }

  static void fibres(const hone_host_launch& launch, const hone_host_worker& worker, void* const* parameters,
                     u64 first, u64 last) {
    unpack(launch, worker, parameters, first, last, std::index_sequence_for<Arguments...>(),
           [](hone_lane& block, Arguments... arguments) {
             auto run = [&](u32 x, u32 y, u32 z) {
               hone_lane lane = block;
               lane.thread[0] = x;
               lane.thread[1] = y;
               lane.thread[2] = z;
               Body(lane, arguments...);
             };
             block.worker->run_lanes(
                 block.worker->fibres, block.block_size,
                 [](void* context, u32 x, u32 y, u32 z) { (*static_cast<decltype(run)*>(context))(x, y, z); },
                 &run);
           });
  }

 private:
  template <std::size_t... Index, typename RunBlock>
  static void unpack(const hone_host_launch& launch, const hone_host_worker& worker,
                     [[maybe_unused]] void* const* parameters, u64 first, u64 last,
                     std::index_sequence<Index...>, RunBlock run_block) {
    const u64 row = launch.grid[0];
    const u64 plane = row * launch.grid[1];
    hone_lane lane{};
    lane.worker = &worker;
    for (int axis = 0; axis < 3; ++axis) {
      lane.block_size[axis] = launch.block[axis];
      lane.grid[axis] = launch.grid[axis];
    }
    for (u64 block = first; block < last; ++block) {
      lane.block[0] = static_cast<u32>(block % row);
      lane.block[1] = static_cast<u32>(block % plane / row);
      lane.block[2] = static_cast<u32>(block / plane);
      run_block(lane, *static_cast<const Arguments*>(parameters[Index])...);
    }
  }
};

#define HONE_DEVICE __attribute__((always_inline)) inline

#define HONE_HOST_KERNEL_(name, how, ...)                                                           \
  __attribute__((always_inline)) static inline void name(const hone_lane& hone_lane_ __VA_OPT__(, ) \
                                                             __VA_ARGS__);                          \
  extern "C" __attribute__((visibility("default"))) void name##_hone_host(                          \
      const hone_host_launch* launch, const hone_host_worker* worker, void* const* parameters,      \
      unsigned long long first, unsigned long long last) {                                          \
    hone_host_kernel<&name>::how(*launch, *worker, parameters, first, last);                        \
  }                                                                                                 \
  static inline void name([[maybe_unused]] const hone_lane& hone_lane_ __VA_OPT__(, ) __VA_ARGS__)
#define HONE_KERNEL(name, ...) HONE_HOST_KERNEL_(name, loop, __VA_ARGS__)
#define HONE_KERNEL_WITH_BARRIERS(name, ...) HONE_HOST_KERNEL_(name, fibres, __VA_ARGS__)

#define HONE_THREAD_X hone_lane_.thread[0]
#define HONE_THREAD_Y hone_lane_.thread[1]
#define HONE_THREAD_Z hone_lane_.thread[2]
#define HONE_BLOCK_SIZE_X hone_lane_.block_size[0]
#define HONE_BLOCK_SIZE_Y hone_lane_.block_size[1]
#define HONE_BLOCK_SIZE_Z hone_lane_.block_size[2]
#define HONE_BLOCK_INDEX_X hone_lane_.block[0]
#define HONE_BLOCK_INDEX_Y hone_lane_.block[1]
#define HONE_BLOCK_INDEX_Z hone_lane_.block[2]
#define HONE_BLOCK_COUNT_X hone_lane_.grid[0]
#define HONE_BLOCK_COUNT_Y hone_lane_.grid[1]
#define HONE_BLOCK_COUNT_Z hone_lane_.grid[2]

// A block stays on one thread from its first lane to its last.
#define HONE_SHARED static thread_local
#define HONE_DYNAMIC_SHARED(type, name) \
  type* const name = static_cast<type*>(hone_lane_.worker->dynamic_shared)
#define HONE_BARRIER() hone_lane_.worker->barrier(hone_lane_.worker->fibres)

/// First index of the `lane`-th of `lanes` shares of `count`.
inline i64 hone_share(i64 count, i64 lane, i64 lanes) {
  const i64 rest = count % lanes;
  return count / lanes * lane + (lane < rest ? lane : rest);
}
#define HONE_WAIT_FOR_EARLIER_KERNELS() static_cast<void>(0)
#define HONE_LET_NEXT_KERNEL_START() static_cast<void>(0)

#define HONE_FOR_EACH(i, count)                                                                         \
  for (i64 hone_lane_index_ = static_cast<i64>(HONE_BLOCK_INDEX_X) * HONE_BLOCK_SIZE_X + HONE_THREAD_X, \
           hone_lanes_ = static_cast<i64>(HONE_BLOCK_COUNT_X) * HONE_BLOCK_SIZE_X,                      \
           i = hone_share(count, hone_lane_index_, hone_lanes_),                                        \
           hone_end_ = hone_share(count, hone_lane_index_ + 1, hone_lanes_);                            \
       i < hone_end_; ++i)

#define HONE_ATOMIC_ADD(pointer, value) __atomic_fetch_add(pointer, value, __ATOMIC_RELAXED)
#define HONE_ATOMIC_MIN(pointer, value) hone_atomic_min(pointer, value)
template <typename T>
inline T hone_atomic_min(T* pointer, T value) {
  T seen = __atomic_load_n(pointer, __ATOMIC_RELAXED);
  while (value < seen &&
         !__atomic_compare_exchange_n(pointer, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return seen;
}

#endif
