// gelu: x P(x), P the normal distribution: (1 + erf(x / sqrt 2)) / 2.
#ifndef HONE_OP_H
#define HONE_OP_H

#include "exponential.h"
#include "through_f32.h"

HONE_DEVICE f32 gelu(f32 x) {
  x = bounded(x);
  // P(-|x|) is e^(-x^2 / 2) times a function that falls like 1 / |x|, which a polynomial in t = 1 / (1 + 0.3
  // |x|) gives to 5e-7: one formula from the middle to the far tail, where 1 + erf would cancel.
  const f32 t = reciprocal(1 + 0.3F * absolute(x));
  f32 p = 0.0372845098F;
  p = p * t - 0.163714769F;
  p = p * t + 0.217185282F;
  p = p * t - 0.0632398459F;
  p = p * t + 0.133364785F;
  p = p * t + 0.0985454996F;
  p = p * t + 0.120957431F;
  p = p * t + 0.11961714F;
  const f32 root = root_exp(-0.5F * (x * x));
  const f32 part = t * p * root;
  return x < 0 ? x * part * root : x * (1 - part * root);
}

template <int Bytes>
HONE_DEVICE hone_pack<Bytes> elementwise_op(const hone_pack<Bytes>& pack) {
  return through_f32<gelu>(pack);
}

#endif
