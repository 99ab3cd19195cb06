// y = op(x) by vectors of HONE_VECTOR bytes: HONE_BLOCK threads with HONE_UNROLL of them each, under the load
// and store hints. The family's op.h has
//
//   elementwise_op<Bytes>(pack)   the operation on each element of a hone_pack; below 4 bytes that is a word
//                                 with zeros above its elements
#include "access.h"
#include "op.h"
#include "prelude.h"

#if HONE_LOAD == HONE_LOAD_NT
#define ELEMENTWISE_LOAD hone_nt
#elif HONE_LOAD == HONE_LOAD_EVICT_LAST
#define ELEMENTWISE_LOAD hone_evict_last
#else
#define ELEMENTWISE_LOAD hone_plain
#endif

#if HONE_STORE == HONE_STORE_NT
#define ELEMENTWISE_STORE hone_nt
#elif HONE_STORE == HONE_STORE_EVICT_FIRST
#define ELEMENTWISE_STORE hone_evict_first
#else
#define ELEMENTWISE_STORE hone_plain
#endif

enum : i64 {
  per_vector = HONE_VECTOR / HONE_ELEMENT_SIZE,      // elements
  span = static_cast<i64>(HONE_BLOCK) * HONE_UNROLL  // vectors that a block takes at once
};

// Recursions and not loops: clang drops the non-temporal hint of a store in a loop that runs once.

template <int U>
HONE_DEVICE void store_vectors(u8* y, const hone_pack<HONE_VECTOR> (&packs)[HONE_UNROLL]) {
  if constexpr (U < HONE_UNROLL) {
    hone_store<HONE_VECTOR, ELEMENTWISE_STORE>(y + U * HONE_BLOCK * HONE_VECTOR, elementwise_op(packs[U]));
    store_vectors<U + 1>(y, packs);
  }
}

/// Loads a thread's vectors from `U` on, then stores all of them.
template <int U>
HONE_DEVICE void load_vectors(const u8* x, u8* y, hone_pack<HONE_VECTOR> (&packs)[HONE_UNROLL]) {
  if constexpr (U < HONE_UNROLL) {
    constexpr int offset = U * HONE_BLOCK * HONE_VECTOR;
    packs[U] = hone_load<HONE_VECTOR, ELEMENTWISE_LOAD>(x + offset);
    load_vectors<U + 1>(x, y, packs);
  } else {
    store_vectors<0>(y, packs);
  }
}

// As far as there are vectors: `left` of them begin with the thread's first.

template <int U>
HONE_DEVICE void load_some(const u8* x, i64 left, hone_pack<HONE_VECTOR> (&packs)[HONE_UNROLL]) {
  if constexpr (U < HONE_UNROLL) {
    constexpr int offset = U * HONE_BLOCK * HONE_VECTOR;
    if (U * HONE_BLOCK < left) packs[U] = hone_load<HONE_VECTOR, ELEMENTWISE_LOAD>(x + offset);
    load_some<U + 1>(x, left, packs);
  }
}

template <int U>
HONE_DEVICE void store_some(u8* y, i64 left, const hone_pack<HONE_VECTOR> (&packs)[HONE_UNROLL]) {
  if constexpr (U < HONE_UNROLL) {
    constexpr int offset = U * HONE_BLOCK * HONE_VECTOR;
    if (U * HONE_BLOCK < left)
      hone_store<HONE_VECTOR, ELEMENTWISE_STORE>(y + offset, elementwise_op(packs[U]));
    store_some<U + 1>(y, left, packs);
  }
}

/// The thread's part of the block's `span` vectors from `first` on; with the last of them come the elements
/// that fill no vector, one a thread.
HONE_DEVICE void serve_span(const u8* x, u8* y, i64 numel, i64 first, u32 thread) {
  const i64 vectors = static_cast<i64>(static_cast<u64>(numel) / per_vector);
  const i64 mine = first + thread;
  x += mine * HONE_VECTOR;
  y += mine * HONE_VECTOR;
  hone_pack<HONE_VECTOR> packs[HONE_UNROLL];
  if (first + span <= vectors) {
    load_vectors<0>(x, y, packs);
    return;
  }
  // Here too all is loaded before anything is stored: small problems wait for their last block. The element is
  // stored last, or clang merges the paths' last stores and drops their hint.
  const bool has_element = per_vector > 1 && thread < numel - vectors * per_vector;
  const i64 element = (vectors - mine) * HONE_VECTOR + static_cast<i64>(thread) * HONE_ELEMENT_SIZE;
  hone_pack<HONE_ELEMENT_SIZE> last;
  load_some<0>(x, vectors - mine, packs);
  if (has_element) last = hone_load<HONE_ELEMENT_SIZE, hone_plain>(x + element);
  store_some<0>(y, vectors - mine, packs);
  if (has_element) hone_store<HONE_ELEMENT_SIZE, hone_plain>(y + element, elementwise_op(last));
}

HONE_KERNEL(elementwise, const void* x, void* y, i64 numel) {
  const u8* from = static_cast<const u8*>(x);
  u8* to = static_cast<u8*>(y);
  const i64 first = HONE_BLOCK_INDEX_X * span;
#if HONE_OVERLAP
  HONE_LET_NEXT_KERNEL_START();
  HONE_WAIT_FOR_EARLIER_KERNELS();
#endif
#if HONE_MODE == HONE_MODE_GRID_STRIDE
  const i64 step = HONE_BLOCK_COUNT_X * span;
  for (i64 next = first; next * per_vector < numel; next += step)
    serve_span(from, to, numel, next, HONE_THREAD_X);
#else
  serve_span(from, to, numel, first, HONE_THREAD_X);
#endif
}
