#include "prelude.h"

HONE_KERNEL(lent, const i32* x, i32* y, u32* workspace, i64 n) {
  const i64 i = static_cast<i64>(HONE_BLOCK_INDEX_X) * HONE_BLOCK_SIZE_X + HONE_THREAD_X;
#if HONE_FAULT == HONE_FAULT_PAST_SMALL
  if (i < n) y[i] = x[i];
  if (i == 0) workspace[2] = 7;
#else
  i32* const copy = reinterpret_cast<i32*>(workspace + 4096);
  if (i < n) {
#if HONE_FAULT == HONE_FAULT_REST_TRUSTED
    // Right as long as nobody else has been there.
    y[i] = x[i] + copy[i];
    copy[i] = 0;
#else
    copy[i] = x[i];
    y[i] = copy[i];
#endif
  }
#endif
#if HONE_FAULT == HONE_FAULT_PAST_END
  if (i == n - 1) copy[n] = 7;
#elif HONE_FAULT == HONE_FAULT_BEFORE_START
  if (i == 0) *(workspace - 1) = 7;
#endif
  // Counts to the number of blocks and, the last one, back to 0: a count that does not start there ends elsewhere.
  if (HONE_THREAD_X == 0 && HONE_ATOMIC_ADD(workspace, 1U) == HONE_BLOCK_COUNT_X - 1) {
#if HONE_FAULT != HONE_FAULT_COUNTER_LEFT
    *workspace = 0;
#endif
  }
}
