// Operations on f32, f16 and bf16 that are computed in f32:
//
//   through_f32<Function>(pack)   Function, an f32 (f32), of each element, rounded to nearest even
//
// Conversions are written out: the vendors' headers take longer to parse than a kernel to compile.
#ifndef HONE_THROUGH_F32_H
#define HONE_THROUGH_F32_H

#include "access.h"
#include "prelude.h"

#if defined(HONE_ELEMENT_F16)

HONE_DEVICE f32 f32_of_half(u16 half) {
#if defined(HONE_BACKEND_CUDA)
  f32 value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
#elif defined(HONE_BACKEND_HIP)
  return hone_bits<_Float16>(half);
#else
  // A product puts the exponent's bias right and normalises a denormal; infinity and NaN keep theirs.
  const u32 magnitude = half & 0x7FFFU;
  const u32 finite = hone_bits<u32>(hone_bits<f32>(magnitude << 13) * 0x1p112F);
  const u32 sign = (half & 0x8000U) << 16;
  return hone_bits<f32>(sign | (magnitude < 0x7C00U ? finite : 0x7F800000U | magnitude << 13));
#endif
}

HONE_DEVICE u16 half_of_f32(f32 value) {
#if defined(HONE_BACKEND_CUDA)
  u16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
#elif defined(HONE_BACKEND_HIP)
  return hone_bits<u16>(static_cast<_Float16>(value));
#else
  const u32 bits = hone_bits<u32>(value);
  const u32 magnitude = bits & 0x7FFFFFFFU;
  // The smallest normal half is 2^-14; added to 1/2, a lesser number is rounded to multiples of 2^-24.
  const u32 denormal = hone_bits<u32>(hone_bits<f32>(magnitude) + 0.5F) - 0x3F000000U;
  const u32 normal = (magnitude - 0x38000000U + 0xFFFU + (magnitude >> 13 & 1U)) >> 13;
  u32 half = magnitude < 0x38800000U ? denormal : normal;
  if (magnitude >= 0x47800000U) half = magnitude > 0x7F800000U ? 0x7E00U : 0x7C00U;
  return static_cast<u16>(half | (bits >> 16 & 0x8000U));
#endif
}

#elif defined(HONE_ELEMENT_BF16)

HONE_DEVICE f32 f32_of_half(u16 half) {
  return hone_bits<f32>(static_cast<u32>(half) << 16);
}

HONE_DEVICE u16 half_of_f32(f32 value) {
#if defined(HONE_BACKEND_CUDA) && __CUDA_ARCH__ >= 800
  u16 half;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
#else
  const u32 bits = hone_bits<u32>(value);
  const u32 rounded = bits + 0x7FFFU + (bits >> 16 & 1U);
  // The sum may carry a NaN over to a number.
  return static_cast<u16>((value == value ? rounded : bits | 0x400000U) >> 16);
#endif
}

#endif

#if !defined(HONE_ELEMENT_F32)
/// Both halves of a word.
HONE_DEVICE u32 word_of_f32(f32 low, f32 high) {
#if defined(HONE_BACKEND_CUDA) && __CUDA_ARCH__ >= 800
  u32 word;
#if defined(HONE_ELEMENT_F16)
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#else
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#endif
  return word;
#elif defined(__gfx950__) && defined(HONE_ELEMENT_BF16)
  // The first architecture of AMD's with an instruction for it.
  typedef __bf16 pair __attribute__((ext_vector_type(2)));
  return hone_bits<u32>(pair{static_cast<__bf16>(low), static_cast<__bf16>(high)});
#else
  return half_of_f32(low) | static_cast<u32>(half_of_f32(high)) << 16;
#endif
}
#endif

template <f32 (*Function)(f32), int Bytes>
HONE_DEVICE hone_pack<Bytes> through_f32(hone_pack<Bytes> pack) {
#pragma unroll
  for (int i = 0; i < hone_pack<Bytes>::words; ++i) {
    u32& word = pack.word[i];
#if defined(HONE_ELEMENT_F32)
    word = hone_bits<u32>(Function(hone_bits<f32>(word)));
#else
    const f32 low = Function(f32_of_half(static_cast<u16>(word)));
    if constexpr (Bytes == 2) {
      word = half_of_f32(low);
    } else {
      word = word_of_f32(low, Function(f32_of_half(static_cast<u16>(word >> 16))));
    }
#endif
  }
  return pack;
}

#endif
