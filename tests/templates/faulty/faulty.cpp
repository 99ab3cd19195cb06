#include "prelude.h"

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
  // Wrong in about one launch of four, as a missing barrier may be.
  if (i == 0) {
    const u32 launch = HONE_ATOMIC_ADD(&launches, 1U);
    if ((launch * 2654435761U) >> 30 == 0) {
      y[0] = ~x[0];
      return;
    }
  }
#elif HONE_FAULT == HONE_FAULT_UNWRITTEN
  return;
#endif
  if (i < n) y[i] = x[i];
}
