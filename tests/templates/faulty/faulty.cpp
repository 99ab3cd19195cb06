#include "prelude.h"

#if HONE_FAULT == HONE_FAULT_TOO_MANY_REGISTERS && defined(HONE_BACKEND_CUDA)
// A compiler that knows how large blocks are keeps to the registers there are.
#undef HONE_KERNEL
#define HONE_KERNEL(name, ...) extern "C" __global__ void name(__VA_ARGS__)
#endif

#if HONE_FAULT == HONE_FAULT_COMPILE_ERROR
#error "planted"
#endif

#if HONE_FAULT == HONE_FAULT_RACE
#if defined(HONE_BACKEND_HOST)
static u32 launches;
#else
__device__ u32 launches;
#endif
#endif

HONE_KERNEL(faulty, i32* x, i32* y, i64 n) {
  const i64 i = static_cast<i64>(HONE_BLOCK_INDEX_X) * HONE_BLOCK_SIZE_X + HONE_THREAD_X;
#if HONE_FAULT == HONE_FAULT_ILLEGAL_ADDRESS
  if (i == 0) *reinterpret_cast<volatile i32*>(16) = 1;
#elif HONE_FAULT == HONE_FAULT_ENDLESS
  while (*static_cast<volatile i32*>(x) == x[0]) {
  }
#elif HONE_FAULT == HONE_FAULT_PAST_END
  if (i == n - 1) y[n] = 7;
#elif HONE_FAULT == HONE_FAULT_SHORT_TAIL
  if (i == n - 1) return;
#elif HONE_FAULT == HONE_FAULT_INPUT_MODIFIED
  if (i < n) {
    y[i] = x[i];
    if (i == n / 2) x[i] ^= 1;
    return;
  }
#elif HONE_FAULT == HONE_FAULT_RACE
  // Wrong in about one launch of sixteen, as a missing barrier may be. A configuration that is timed has had at
  // least 350 launches checked by the end, of which none is wrong once in six thousand million runs.
  if (i == 0) {
    u32 hash = HONE_ATOMIC_ADD(&launches, 1U) + 0x9E3779B9U;
    hash = (hash ^ hash >> 16) * 0x85EBCA6BU;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35U;
    if ((hash ^ hash >> 16) >> 28 == 0) {
      y[0] = ~x[0];
      return;
    }
  }
#elif HONE_FAULT == HONE_FAULT_UNWRITTEN
  return;
#elif HONE_FAULT == HONE_FAULT_TOO_MANY_REGISTERS && !defined(HONE_BACKEND_HOST)
  // As many live values as a thread can have: all are loaded before any is used, and used in the other order.
  i32 values[96];
#pragma unroll
  for (int k = 0; k < 96; ++k) values[k] = static_cast<volatile i32*>(x)[(i * 96 + k) % n];
  i32 sum = 0;
#pragma unroll
  for (int k = 95; k >= 0; --k) sum = sum * 31 + values[k];
  if (i >= n && sum == 1) y[0] = sum;
#endif
  if (i < n) y[i] = x[i];
}
