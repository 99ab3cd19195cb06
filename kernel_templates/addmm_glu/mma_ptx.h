// Instructions of CUDA's warps from sm_80 on, by what they do.
//
//   shared_address(pointer)                   the 32-bit address that the next ones take
//   copy_async<Bytes, Hint>(to, from, bytes)  starts a copy of 4, 8 or 16 bytes from global to shared memory:
//   the
//                                             first `bytes` of them, then zeros
//   commit_copies()                           makes one group of the thread's copies since the last
//   wait_for_copies<Groups>()                 waits for all of the thread's groups but the newest Groups
//   load_matrices<Transposed>(address, …)     8 x 8 elements of 2 bytes to a register: the lane of a warp
//   gets row
//                                             lane / 4, elements 2 (lane % 4) and the next, of each matrix,
//                                             or of its transpose. Lanes 8 i to 8 i + 7 have the addresses of
//                                             the i-th matrix's rows, multiples of 16
//   multiply_add(sums, a, b)                  sums (16 x 8) += a (16 x 16) b (16 x 8), f32 from f16 or bf16
//   load_shared_by_all<T>(address)            f32 x 4 that other blocks wrote: not from the L1 cache
#ifndef HONE_MMA_PTX_H
#define HONE_MMA_PTX_H

#include "access.h"
#include "prelude.h"

HONE_DEVICE u32 shared_address(const void* pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

template <u32 Bytes, hone_hint Hint>
HONE_DEVICE void copy_async(u32 to, const void* from, u32 bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "no copy of so many bytes");
  if constexpr (Hint == hone_plain && Bytes == 16) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
  } else if constexpr (Hint == hone_plain) {
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(Bytes),
                 "r"(bytes)
                 : "memory");
  } else if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(to), "l"(from),
                 "r"(bytes), "l"(hone_cache_policy<hone_evict_first>())
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3, %4;" ::"r"(to), "l"(from),
                 "n"(Bytes), "r"(bytes), "l"(hone_cache_policy<hone_evict_first>())
                 : "memory");
  }
}

HONE_DEVICE void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <u32 Groups>
HONE_DEVICE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

template <bool Transposed>
HONE_DEVICE void load_matrices(u32 address, u32& a, u32& b, u32& c, u32& d) {
  if constexpr (Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(address));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(address));
  }
}

template <bool Transposed>
HONE_DEVICE void load_matrices(u32 address, u32& a, u32& b) {
  if constexpr (Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "r"(address));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "r"(address));
  }
}

#if defined(HONE_ELEMENT_F16)
#define HONE_MMA_TYPES "f32.f16.f16.f32"
#else
#define HONE_MMA_TYPES "f32.bf16.bf16.f32"
#endif

HONE_DEVICE void multiply_add(f32 (&sums)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col." HONE_MMA_TYPES
      " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

HONE_DEVICE void wait_for_block() {
  __syncthreads();
}

HONE_DEVICE void wait_for_warp() {
  __syncwarp();
}

/// What this thread wrote is seen before what it writes from now on, by every block.
HONE_DEVICE void order_for_all_blocks() {
  __threadfence();
}

HONE_DEVICE void load_written_by_others(const f32* from, f32 (&to)[4]) {
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(from)
               : "memory");
}

HONE_DEVICE void store_for_others(f32* to, const f32 (&from)[4]) {
  asm volatile("st.global.cg.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(from[0]), "f"(from[1]),
               "f"(from[2]), "f"(from[3])
               : "memory");
}

#endif
