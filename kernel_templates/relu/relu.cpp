// relu on bit patterns: a negative number becomes +0; NaN, whatever its sign and payload, and -0 pass
// untouched. The `x < 0` of that definition is an ordered compare, so no maximum instruction serves.
#include "access.h"
#include "prelude.h"

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

// Infinity's bits in 16-bit formats.
#if defined(HONE_ELEMENT_F16)
#define RELU_INFINITY 0x7C00U
#elif defined(HONE_ELEMENT_BF16)
#define RELU_INFINITY 0x7F80U
#endif

#if defined(HONE_BACKEND_CUDA)
/// A byte of copies of a sign bit for each digit of the selector, 8 plus the byte whose sign it is.
/// (__byte_perm drops the 8.)
template <u32 Selector>
HONE_DEVICE u32 sign_bytes(u32 word) {
  u32 bytes;
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(bytes) : "r"(word), "n"(Selector));
  return bytes;
}
#endif

/// relu of a word that holds one f32, two f16 or bf16, or four i8; a zero stays zero, so that a word may be
/// part full.
HONE_DEVICE u32 relu_word(u32 word) {
#if defined(HONE_ELEMENT_F32)
#if defined(HONE_BACKEND_CUDA)
  u32 result;
  asm("{ .reg .pred negative; setp.lt.f32 negative, %1, 0f00000000; selp.b32 %0, 0, %1, negative; }"
      : "=r"(result)
      : "r"(word));
  return result;
#else
  // From the smallest negative denormal to -infinity.
  return word - 0x80000001U <= 0xFF800000U - 0x80000001U ? 0 : word;
#endif
#elif defined(HONE_ELEMENT_F16) || defined(HONE_ELEMENT_BF16)
#if defined(HONE_BACKEND_CUDA) && defined(HONE_ELEMENT_F16)
  u32 negative;
  asm("set.lt.u32.f16x2 %0, %1, %2;" : "=r"(negative) : "r"(word), "r"(0));
  return word & ~negative;
#elif defined(HONE_BACKEND_CUDA) && __CUDA_ARCH__ >= 900
  u32 negative;
  asm("set.lt.u32.bf16x2 %0, %1, %2;" : "=r"(negative) : "r"(word), "r"(0));
  return word & ~negative;
#else
  // The sign bits of: the number itself; its magnitude plus 0x7FFF, set unless it is zero; infinity's less
  // the magnitude, set unless it is NaN. Neither sum carries into the other half.
  const u32 infinities = RELU_INFINITY * 0x10001U;
  const u32 magnitude = word & 0x7FFF7FFFU;
  const u32 signs = word & (magnitude + 0x7FFF7FFFU) & ((infinities | 0x80008000U) - magnitude);
#if defined(HONE_BACKEND_CUDA)
  return word & ~sign_bytes<0xBB99>(signs);
#elif defined(HONE_BACKEND_HIP)
  return word & ~__builtin_amdgcn_perm(signs, signs, 0x09090808U);
#else
  const u32 negative = signs & 0x80008000U;
  return word & ~(negative | (negative - (negative >> 15)));
#endif
#endif
#elif defined(HONE_ELEMENT_I8)
#if defined(HONE_BACKEND_CUDA)
  return word & ~sign_bytes<0xBA98>(word);
#else
  const u32 negative = word & 0x80808080U;
  return word & ~(negative | (negative - (negative >> 7)));
#endif
#else
#error "relu serves f32, f16, bf16 and i8"
#endif
}

template <int Bytes>
HONE_DEVICE hone_pack<Bytes> relu_pack(hone_pack<Bytes> pack) {
#pragma unroll
  for (int i = 0; i < hone_pack<Bytes>::words; ++i) pack.word[i] = relu_word(pack.word[i]);
  return pack;
}

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
