// Hopper's asynchronous machinery by its PTX: mbarriers, the tensor memory accelerator, clusters. For CUDA, sm_90 and
// later; addresses of shared memory are the 32-bit ones of shared_address().
#ifndef HONE_HOPPER_H
#define HONE_HOPPER_H

#include "prelude.h"

/// A tensor map as the driver encodes it: a kernel takes it as `const __grid_constant__ hone_tensor_map`.
struct alignas(64) hone_tensor_map {
  u64 opaque[16];
};

HONE_DEVICE u32 shared_address(const void* pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

/// The same address in the shared memory of another block of the cluster.
HONE_DEVICE u32 cluster_address(u32 address, u32 rank) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

HONE_DEVICE u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Every thread of every block of the cluster; it orders no memory but what barrier_init_fence() does.
HONE_DEVICE void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

HONE_DEVICE void barrier_init(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes initialised barriers seen by the other blocks of the cluster and by the copy engine.
HONE_DEVICE void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}

HONE_DEVICE void barrier_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

HONE_DEVICE void barrier_arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// At a barrier that cluster_address() gave. Nothing this thread wrote is ordered before it.
HONE_DEVICE void barrier_arrive_cluster(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// The same after what this thread wrote, for other blocks to see: it waits for memory, which takes hundreds of cycles.
HONE_DEVICE void barrier_release_cluster(u32 barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Waits until the phase of that parity is over.
HONE_DEVICE void barrier_wait(u32 barrier, u32 parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// The same where other blocks of the cluster arrive, whose writes are then seen.
HONE_DEVICE void barrier_wait_cluster(u32 barrier, u32 parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Shared memory that this thread wrote is seen by the copy engine and the tensor cores.
HONE_DEVICE void async_proxy_fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// How long the L2 keeps what a copy moves.
HONE_DEVICE u64 policy_evict_first() {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
HONE_DEVICE u64 policy_evict_normal() {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
HONE_DEVICE u64 policy_evict_last() {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

HONE_DEVICE void tensor_prefetch_map(const hone_tensor_map* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// Loads the map's box at (x, y) to shared memory and completes its bytes at the barrier.
HONE_DEVICE void tensor_load(u32 to, const hone_tensor_map* map, i32 x, i32 y, u32 barrier, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "l"(policy)
      : "memory");
}

/// The same of one axis, from x on.
HONE_DEVICE void vector_load(u32 to, const hone_tensor_map* map, i32 x, u32 barrier, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2}], [%3], %4;" ::"r"(to),
      "l"(map), "r"(x), "r"(barrier), "l"(policy)
      : "memory");
}

/// tensor_load() to the same place in each block of the cluster that `blocks` has a bit for.
HONE_DEVICE void tensor_load_multicast(u32 to, const hone_tensor_map* map, i32 x, i32 y, u32 barrier, u64 policy,
                                       u16 blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(blocks), "l"(policy)
      : "memory");
}

HONE_DEVICE void tensor_store(u32 from, const hone_tensor_map* map, i32 x, i32 y, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(map),
      "r"(x), "r"(y), "r"(from), "l"(policy)
      : "memory");
}
HONE_DEVICE void tensor_store_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until this thread's stores have read their shared memory.
HONE_DEVICE void tensor_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/// Waits until this thread's stores are done.
HONE_DEVICE void tensor_store_wait() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Four 8x8 matrices of 16-bit elements from and to shared memory: lanes 8i to 8i + 7 give the rows of matrix i, 16
/// bytes each; a lane then holds elements 2(lane % 4) and the next of row lane / 4.
HONE_DEVICE void matrix_load(u32 (&to)[4], u32 from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from));
}
HONE_DEVICE void matrix_store(u32 to, const u32 (&from)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(from[0]),
               "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

#endif
