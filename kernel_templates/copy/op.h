// copy: the same bits.
#ifndef HONE_OP_H
#define HONE_OP_H

#include "access.h"

template <int Bytes>
HONE_DEVICE hone_pack<Bytes> elementwise_op(const hone_pack<Bytes>& pack) {
  return pack;
}

#endif
