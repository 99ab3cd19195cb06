// relu by vectors of HONE_VECTOR bytes: HONE_BLOCK threads with HONE_UNROLL of them each, under the load and
// store hints.
#include "access.h"
#include "prelude.h"
#include "relu_bits.h"

#if HONE_LOAD == HONE_LOAD_NT
#define RELU_LOAD hone_nt
#elif HONE_LOAD == HONE_LOAD_NO_ALLOCATE
#define RELU_LOAD hone_no_allocate
#elif HONE_LOAD == HONE_LOAD_EVICT_LAST
#define RELU_LOAD hone_evict_last
#else
#define RELU_LOAD hone_plain
#endif

#if HONE_STORE == HONE_STORE_NT
#define RELU_STORE hone_nt
#elif HONE_STORE == HONE_STORE_WT
#define RELU_STORE hone_write_through
#elif HONE_STORE == HONE_STORE_EVICT_FIRST
#define RELU_STORE hone_evict_first
#else
#define RELU_STORE hone_plain
#endif

enum : i64 {
  per_vector = HONE_VECTOR / HONE_ELEMENT_SIZE,      // elements
  span = static_cast<i64>(HONE_BLOCK) * HONE_UNROLL  // vectors that a block takes at once
};

// Recursions and not loops: clang drops the non-temporal hint of a store in a loop that runs once.

template <int U>
HONE_DEVICE void relu_stores(u8* y, const hone_pack<HONE_VECTOR> (&packs)[HONE_UNROLL]) {
  if constexpr (U < HONE_UNROLL) {
    hone_store<HONE_VECTOR, RELU_STORE>(y + U * HONE_BLOCK * HONE_VECTOR, relu_pack(packs[U]));
    relu_stores<U + 1>(y, packs);
  }
}

/// Loads a thread's vectors from `U` on, then stores all of them.
template <int U>
HONE_DEVICE void relu_vectors(const u8* x, u8* y, hone_pack<HONE_VECTOR> (&packs)[HONE_UNROLL]) {
  if constexpr (U < HONE_UNROLL) {
    constexpr int offset = U * HONE_BLOCK * HONE_VECTOR;
    packs[U] = hone_load<HONE_VECTOR, RELU_LOAD>(x + offset);
    relu_vectors<U + 1>(x, y, packs);
  } else {
    relu_stores<0>(y, packs);
  }
}

/// As far as there are vectors: `left` of them begin with the thread's first.
template <int U>
HONE_DEVICE void relu_last_vectors(const u8* x, u8* y, i64 left) {
  if constexpr (U < HONE_UNROLL) {
    constexpr int offset = U * HONE_BLOCK * HONE_VECTOR;
    if (U * HONE_BLOCK < left) {
      hone_store<HONE_VECTOR, RELU_STORE>(y + offset,
                                          relu_pack(hone_load<HONE_VECTOR, RELU_LOAD>(x + offset)));
    }
    relu_last_vectors<U + 1>(x, y, left);
  }
}

/// The thread's part of the block's `span` vectors from `first` on; with the last of them come the elements
/// that fill no vector, one a thread.
HONE_DEVICE void relu_span(const u8* x, u8* y, i64 numel, i64 first, u32 thread) {
  const i64 vectors = static_cast<i64>(static_cast<u64>(numel) / per_vector);
  const i64 mine = first + thread;
  x += mine * HONE_VECTOR;
  y += mine * HONE_VECTOR;
  if (first + span <= vectors) {
    hone_pack<HONE_VECTOR> packs[HONE_UNROLL];
    relu_vectors<0>(x, y, packs);
    return;
  }
  relu_last_vectors<0>(x, y, vectors - mine);
  if (per_vector > 1 && thread < numel - vectors * per_vector) {
    const i64 skip = (vectors - mine) * HONE_VECTOR + static_cast<i64>(thread) * HONE_ELEMENT_SIZE;
    hone_store<HONE_ELEMENT_SIZE, hone_plain>(y + skip,
                                              relu_pack(hone_load<HONE_ELEMENT_SIZE, hone_plain>(x + skip)));
  }
}

HONE_KERNEL(relu, const void* x, void* y, i64 numel) {
  const u8* from = static_cast<const u8*>(x);
  u8* to = static_cast<u8*>(y);
  const i64 first = HONE_BLOCK_INDEX_X * span;
#if HONE_MODE == HONE_MODE_GRID_STRIDE
  const i64 step = HONE_BLOCK_COUNT_X * span;
  for (i64 next = first; next * per_vector < numel; next += step)
    relu_span(from, to, numel, next, HONE_THREAD_X);
#else
  relu_span(from, to, numel, first, HONE_THREAD_X);
#endif
}
