// Exponentials in f32, for gates that fall off like one: their relative error stays small as far down as f32
// reaches, denormals included.
//
//   root_exp(x)       the root of e^x for x <= 0, normal even where e^x is a denormal. A small result is
//                     multiplied by it twice, the last thing: only the result is rounded to a denormal
//   absolute(x)       |x|, which costs nothing before a sum or product, unlike a choice by sign
//   reciprocal(x)     1 / x to an ulp, for x of at least 1
//   sigmoid_of(x, z)  x / (1 + e^-z), for x above -infinity
//   bounded(x)        x, but at least -256: gates are zero there, and their formulas NaN for -infinity
#ifndef HONE_EXPONENTIAL_H
#define HONE_EXPONENTIAL_H

#include "prelude.h"

/// 2^x for x <= 0, to 3e-7; any small number below 2^-126.
HONE_DEVICE f32 power_of_two(f32 x) {
#if defined(HONE_BACKEND_CUDA)
  f32 result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#elif defined(HONE_BACKEND_HIP)
#if __has_builtin(__builtin_amdgcn_exp2f)
  return __builtin_amdgcn_exp2f(x);
#else
  return __builtin_exp2f(x);
#endif
#else
  // Vectors of it, where a call of the library would be one element at a time. Added to 1.5 * 2^23, a number
  // is rounded to an integer in the lowest bits.
  const f32 integers = 0x1.8p23F;
  x = x < -126 ? -126 : x;
  const f32 rounded = x + integers;
  const f32 rest = x - (rounded - integers);
  f32 power = 0.00133908634F;
  power = power * rest + 0.00967603192F;
  power = power * rest + 0.0555035711F;
  power = power * rest + 0.240221075F;
  power = power * rest + 0.693147188F;
  power = power * rest + 1.00000008F;
  return power * hone_bits<f32>((hone_bits<u32>(rounded) << 23) + 0x3F800000U);
#endif
}

HONE_DEVICE f32 reciprocal(f32 x) {
#if defined(HONE_BACKEND_CUDA)
  f32 result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#elif defined(HONE_BACKEND_HIP)
  return __builtin_amdgcn_rcpf(x);
#else
  return 1 / x;
#endif
}

HONE_DEVICE f32 absolute(f32 x) {
#if defined(HONE_BACKEND_CUDA)
  return fabsf(x);
#else
  return __builtin_fabsf(x);
#endif
}

HONE_DEVICE f32 root_exp(f32 x) {
  return power_of_two(x * 0.721347520F);
}

HONE_DEVICE f32 bounded(f32 x) {
  return x < -256 ? -256 : x;
}

HONE_DEVICE f32 sigmoid_of(f32 x, f32 z) {
  const f32 root = root_exp(-absolute(z));
  const f32 part = x * reciprocal(1 + root * root);
  return z < 0 ? part * root * root : part;
}

#endif
