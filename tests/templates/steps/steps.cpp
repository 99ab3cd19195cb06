#include "prelude.h"

HONE_KERNEL(steps, const i32* x, i32* y, i64 n) {
  const i64 i = static_cast<i64>(HONE_BLOCK_INDEX_X) * HONE_BLOCK_SIZE_X + HONE_THREAD_X;
  if (i >= n) return;
  const i32 value = x[i];
  // A chain of multiplications that no compiler can shorten; its result decides nothing.
  u32 sum = static_cast<u32>(value) | 1U;
  for (int k = 0; k < HONE_WORK * HONE_WORK * 40; ++k) sum = sum * sum ^ static_cast<u32>(k);
  y[i] = sum == 0x5A5A5A5AU && n == 987654321 ? 0 : value;
}
