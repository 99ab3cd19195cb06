// Hopper's bulk asynchronous copies between global and shared memory (sm_90 and later). Sizes are multiples
// of 16 bytes, addresses multiples of 16. One thread issues the copies:
//
//   hone_initialise_arrivals(barrier)      a u64 in shared memory; hone_fence_to_bulk() follows
//   hone_expect_bytes(barrier, bytes)      that thread arrives, and so many bytes are to come
//   hone_bulk_load<Hint>(shared, global, bytes, barrier)
//   hone_bulk_store<Hint>(global, shared, bytes)   a group of its own
//   hone_bulk_wait_read<Groups>()          until all but the newest groups have read shared memory
//
// and any thread:
//
//   hone_wait_full(barrier, parity)        until the barrier's fill of that parity (0, 1, 0, …) is complete
//   hone_fence_to_bulk()                   what this thread did in shared memory comes before copies that it
//                                          issues, or another thread behind the block's next barrier
//
// Hints: hone_plain, and the L2 policies hone_evict_first and hone_evict_last.
#ifndef HONE_PTX_BULK_H
#define HONE_PTX_BULK_H

#include "access.h"

HONE_DEVICE u32 hone_shared_address(const void* shared) {
  return static_cast<u32>(__cvta_generic_to_shared(shared));
}

HONE_DEVICE void hone_initialise_arrivals(u64* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(hone_shared_address(barrier)) : "memory");
}

HONE_DEVICE void hone_expect_bytes(u64* barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(hone_shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

template <hone_hint Hint>
HONE_DEVICE void hone_bulk_load(void* shared, const void* global, u32 bytes, u64* barrier) {
  const u32 to = hone_shared_address(shared);
  const u32 arrivals = hone_shared_address(barrier);
  if constexpr (Hint == hone_plain) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
        "l"(global), "r"(bytes), "r"(arrivals)
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
        "[%3], "
        "%4;" ::"r"(to),
        "l"(global), "r"(bytes), "r"(arrivals), "l"(hone_cache_policy<Hint>())
        : "memory");
  }
}

template <hone_hint Hint>
HONE_DEVICE void hone_bulk_store(void* global, const void* shared, u32 bytes) {
  const u32 from = hone_shared_address(shared);
  if constexpr (Hint == hone_plain) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global), "r"(from),
                 "r"(bytes)
                 : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(global),
        "r"(from), "r"(bytes), "l"(hone_cache_policy<Hint>())
        : "memory");
  }
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

template <int Groups>
HONE_DEVICE void hone_bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Groups) : "memory");
}

HONE_DEVICE void hone_wait_full(u64* barrier, u32 parity) {
  const u32 address = hone_shared_address(barrier);
  u32 done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred arrived; mbarrier.try_wait.parity.shared::cta.b64 arrived, [%1], %2; "
        "selp.u32 %0, 1, 0, arrived; }"
        : "=r"(done)
        : "r"(address), "r"(parity)
        : "memory");
  }
}

HONE_DEVICE void hone_fence_to_bulk() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#endif
