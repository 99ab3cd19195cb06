// relu on bit patterns: a negative number becomes +0; NaN, whatever its sign and payload, and -0 pass
// untouched. The `x < 0` of that definition is an ordered compare, so no maximum instruction serves.
#ifndef HONE_OP_H
#define HONE_OP_H

#include "access.h"
#include "prelude.h"

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
#elif defined(HONE_BACKEND_HIP)
  // The selectors 8 to 11 give copies of the signs of the odd ones of eight bytes.
  return word & ~__builtin_amdgcn_perm(word, word << 8, 0x0B090A08);
#else
  const u32 negative = word & 0x80808080U;
  return word & ~(negative | (negative - (negative >> 7)));
#endif
#else
#error "relu serves f32, f16, bf16 and i8"
#endif
}

#if defined(HONE_BACKEND_HOST)
// As signed integers the negative numbers but NaN and -0 lie above the least and not above -infinity. A
// vector of elements, so that the compiler has compares for them.
#if defined(HONE_ELEMENT_F32)
typedef i32 relu_element;
constexpr relu_element relu_minus_zero = -0x7FFFFFFF - 1;
constexpr relu_element relu_minus_infinity = relu_minus_zero + 0x7F800000;
#elif defined(HONE_ELEMENT_I8)
typedef i8 relu_element;
#else
typedef i16 relu_element;
constexpr relu_element relu_minus_zero = -0x8000;
constexpr relu_element relu_minus_infinity = relu_minus_zero + static_cast<relu_element>(RELU_INFINITY);
#endif

template <int Bytes>
HONE_DEVICE hone_pack<Bytes> relu_elements(hone_pack<Bytes> pack) {
  typedef relu_element elements __attribute__((vector_size(Bytes)));
  elements x;
  __builtin_memcpy(&x, pack.word, Bytes);
#if defined(HONE_ELEMENT_I8)
  x &= x >= 0;
#else
  x &= ~((x > relu_minus_zero) & (x <= relu_minus_infinity));
#endif
  __builtin_memcpy(pack.word, &x, Bytes);
  return pack;
}
#endif

template <int Bytes>
HONE_DEVICE hone_pack<Bytes> elementwise_op(hone_pack<Bytes> pack) {
#if defined(HONE_BACKEND_HOST)
  if constexpr (Bytes >= 8) return relu_elements(pack);
#endif
#pragma unroll
  for (int i = 0; i < hone_pack<Bytes>::words; ++i) pack.word[i] = relu_word(pack.word[i]);
  return pack;
}

#endif
