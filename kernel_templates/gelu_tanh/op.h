// gelu by its tanh formula: x (1 + tanh z) / 2 with z = sqrt(2 / pi) (x + 0.044715 x^3), as x / (1 + e^-2z).
#ifndef HONE_OP_H
#define HONE_OP_H

#include "exponential.h"
#include "through_f32.h"

HONE_DEVICE f32 gelu_tanh(f32 x) {
  x = bounded(x);
  return sigmoid_of(x, x * (1.59576912F + 0.0713548163F * (x * x)));
}

template <int Bytes>
HONE_DEVICE hone_pack<Bytes> elementwise_op(const hone_pack<Bytes>& pack) {
  return through_f32<gelu_tanh>(pack);
}

#endif
