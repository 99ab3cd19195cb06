// y = op(x) like elementwise.cpp, through AMD buffer descriptors. A block has its own, so that offsets stay
// small for any extent. They end with the block's whole vectors, so that no access straddles the end, and the
// hardware's range check takes the place of comparisons.
#include "amd_buffer.h"
#include "op.h"

#if HONE_LOAD == HONE_LOAD_NT
#define ELEMENTWISE_LOAD hone_buffer_nt
#elif HONE_LOAD == HONE_LOAD_SC1
#define ELEMENTWISE_LOAD hone_buffer_sc1
#else
#define ELEMENTWISE_LOAD hone_buffer_plain
#endif

#if HONE_STORE == HONE_STORE_NT
#define ELEMENTWISE_STORE hone_buffer_nt
#elif HONE_STORE == HONE_STORE_SC0
#define ELEMENTWISE_STORE hone_buffer_sc0
#elif HONE_STORE == HONE_STORE_SC1
#define ELEMENTWISE_STORE hone_buffer_sc1
#else
#define ELEMENTWISE_STORE hone_buffer_plain
#endif

enum : i64 { span = static_cast<i64>(HONE_BLOCK) * HONE_UNROLL * HONE_VECTOR };  // bytes of a block

HONE_KERNEL(elementwise_buffer, const void* x, void* y, i64 numel) {
  const i64 first = HONE_BLOCK_INDEX_X * span;
  const i64 left = numel * HONE_ELEMENT_SIZE - first;
  const u32 bytes = static_cast<u32>(left < span ? left : span);
  const u32 rest = bytes % HONE_VECTOR;
  const u8* const block_x = static_cast<const u8*>(x) + first;
  u8* const block_y = static_cast<u8*>(y) + first;
  const u32 thread = HONE_THREAD_X;

  const hone_buffer from = hone_buffer_of(block_x, bytes - rest);
  const hone_buffer to = hone_buffer_of(block_y, bytes - rest);
  hone_pack<HONE_VECTOR> packs[HONE_UNROLL];
#pragma unroll
  for (u32 u = 0; u < HONE_UNROLL; ++u) {
    const u32 offset = (u * HONE_BLOCK + thread) * HONE_VECTOR;
    packs[u] = hone_buffer_load<HONE_VECTOR, ELEMENTWISE_LOAD>(from, offset);
  }
#pragma unroll
  for (u32 u = 0; u < HONE_UNROLL; ++u) {
    const u32 offset = (u * HONE_BLOCK + thread) * HONE_VECTOR;
    hone_buffer_store<HONE_VECTOR, ELEMENTWISE_STORE>(to, offset, elementwise_op(packs[u]));
  }

  // The elements that fill no vector, one a thread.
  if (thread * HONE_ELEMENT_SIZE < rest) {
    const u32 offset = bytes - rest + thread * HONE_ELEMENT_SIZE;
    hone_store<HONE_ELEMENT_SIZE, hone_plain>(
        block_y + offset, elementwise_op(hone_load<HONE_ELEMENT_SIZE, hone_plain>(block_x + offset)));
  }
}
