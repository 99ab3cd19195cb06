#include "prelude.h"
#include "through_f32.h"

HONE_DEVICE f32 twice(f32 x) {
  return 2 * x;
}

HONE_KERNEL(strided, const void* x, void* y, i64 rows, i64 columns, i64 ldy) {
  const i64 row = static_cast<i64>(HONE_BLOCK_INDEX_X) * HONE_BLOCK_SIZE_X + HONE_THREAD_X;
  if (row >= rows) return;
  const u8* from = static_cast<const u8*>(x) + row * columns * HONE_ELEMENT_SIZE;
  u8* to = static_cast<u8*>(y) + row * ldy * HONE_ELEMENT_SIZE;
#if HONE_FAULT == HONE_FAULT_LEFT_OUT_ROW_UNWRITTEN
  if (row == 1) return;
#endif
  for (i64 column = 0; column < columns; ++column) {
    auto pack =
        through_f32<twice>(hone_load<HONE_ELEMENT_SIZE, hone_plain>(from + column * HONE_ELEMENT_SIZE));
#if HONE_FAULT == HONE_FAULT_LEFT_OUT_ROW_NAN
    if (row == 1 && column == 0) pack.word[0] = HONE_ELEMENT_SIZE == 4 ? 0x7FC00000 : 0x7E00;
#elif HONE_FAULT == HONE_FAULT_OTHER_ROW_WRONG
    if (row == rows - 1 - (rows - 1) % 3 && column == 0) pack.word[0] = 0;
#endif
    hone_store<HONE_ELEMENT_SIZE, hone_plain>(to + column * HONE_ELEMENT_SIZE, pack);
  }
#if HONE_FAULT == HONE_FAULT_INTO_GAP
  if (row == 0 && rows > 1 && ldy > columns) {
    hone_pack<HONE_ELEMENT_SIZE> pack{};
    hone_store<HONE_ELEMENT_SIZE, hone_plain>(to + columns * HONE_ELEMENT_SIZE, pack);
  }
#endif
}
