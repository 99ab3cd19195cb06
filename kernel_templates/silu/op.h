// silu: x / (1 + e^-x).
#ifndef HONE_OP_H
#define HONE_OP_H

#include "exponential.h"
#include "through_f32.h"

HONE_DEVICE f32 silu(f32 x) {
  x = bounded(x);
  return sigmoid_of(x, x);
}

template <int Bytes>
HONE_DEVICE hone_pack<Bytes> elementwise_op(const hone_pack<Bytes>& pack) {
  return through_f32<silu>(pack);
}

#endif
