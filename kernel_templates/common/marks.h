// Marks that a reference may leave among the doubles it writes, for families that are compared as numbers:
// NaNs with payloads of their own, which no f32, f16 or bf16 and no arithmetic gives.
//
//   hone_untouched   what a written argument's doubles hold at first. An element left so belongs to no result
//                    (the gaps between rows of a strided output): a kernel must not change its bytes
//   hone_unsampled   the reference leaves this element out, to save time. A kernel must write a number there,
//   and
//                    any number is right. A family whose results may be NaN leaves nothing out
#ifndef HONE_MARKS_H
#define HONE_MARKS_H

#include "fill.h"

/// The bits of the marks.
enum hone_mark : unsigned long long {
  hone_untouched = 0x7FFA756E746F7563ULL,
  hone_unsampled = 0x7FFA756E73616D70ULL,
};

HONE_FILL_FUNCTION double hone_mark_number(hone_mark mark) {
  return hone_as_double(mark);
}

#endif
