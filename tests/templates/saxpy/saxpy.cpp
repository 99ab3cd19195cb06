#include "access.h"
#include "prelude.h"

HONE_KERNEL(saxpy, i64 n, f32 a, const f32* x, f32* y) {
  constexpr int vector_bytes = 4 * HONE_VECTOR;
  for (int u = 0; u < HONE_UNROLL; ++u) {
    const i64 first =
        ((HONE_BLOCK_INDEX_X * static_cast<i64>(HONE_UNROLL) + u) * HONE_BLOCK + HONE_THREAD_X) * HONE_VECTOR;
    if (first + HONE_VECTOR <= n) {
      const auto from = hone_load<vector_bytes, hone_plain>(x + first);
      auto to = hone_load<vector_bytes, hone_plain>(y + first);
      for (int i = 0; i < HONE_VECTOR; ++i) {
        to.word[i] = hone_bits<u32>(a * hone_bits<f32>(from.word[i]) + hone_bits<f32>(to.word[i]));
      }
      hone_store<vector_bytes, hone_plain>(y + first, to);
    } else {
      for (i64 i = first; i < n; ++i) y[i] = a * x[i] + y[i];
    }
  }
}
