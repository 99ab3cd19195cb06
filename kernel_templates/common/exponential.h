// Exponentials in f32, for gates that fall off like one: their relative error stays small as far down as f32
// reaches, denormals included.
//
//   root_exp(x)       the root of e^x for x <= 0, normal even where e^x is a denormal. A small result is
//                     multiplied by it twice, the last thing: only the result is rounded to a denormal
//   reciprocal(x)     1 / x to an ulp, for x of at least 1
//   sigmoid_of(x, z)  x / (1 + e^-z), for x above -infinity
//   bounded(x)        x, but at least -256: gates are zero there, and their formulas NaN for -infinity
#ifndef HONE_EXPONENTIAL_H
#define HONE_EXPONENTIAL_H

#include "prelude.h"

HONE_DEVICE f32 power_of_two(f32 x) {
#if defined(HONE_BACKEND_CUDA)
  f32 result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#elif defined(__has_builtin) && __has_builtin(__builtin_amdgcn_exp2f)
  return __builtin_amdgcn_exp2f(x);
#else
  return __builtin_exp2f(x);
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

HONE_DEVICE f32 root_exp(f32 x) {
  return power_of_two(x * 0.721347520F);
}

HONE_DEVICE f32 bounded(f32 x) {
  return x < -256 ? -256 : x;
}

HONE_DEVICE f32 sigmoid_of(f32 x, f32 z) {
  const f32 root = root_exp(z < 0 ? z : -z);
  const f32 part = x * reciprocal(1 + root * root);
  return z < 0 ? part * root * root : part;
}

#endif
