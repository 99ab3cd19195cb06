// y = op(x) by Hopper's bulk copies: a block takes stages of HONE_STAGE_BYTES in turn with the others of a
// persistent grid. Each is copied into shared memory, changed in place, and copied out, by HONE_STAGES of
// them in a ring: while one is worked on, the one before it drains and the others fill.
#include "access.h"
#include "op.h"
#include "ptx_bulk.h"

#if HONE_LOAD == HONE_LOAD_EVICT_FIRST
#define ELEMENTWISE_LOAD hone_evict_first
#elif HONE_LOAD == HONE_LOAD_EVICT_LAST
#define ELEMENTWISE_LOAD hone_evict_last
#else
#define ELEMENTWISE_LOAD hone_plain
#endif

#if HONE_STORE == HONE_STORE_EVICT_FIRST
#define ELEMENTWISE_STORE hone_evict_first
#else
#define ELEMENTWISE_STORE hone_plain
#endif

enum : u32 { unit = 16 };  // bytes; sizes and addresses of bulk copies are multiples of it

HONE_DEVICE u32 bytes_of_stage(i64 stage, i64 bytes) {
  const i64 left = bytes - stage * HONE_STAGE_BYTES;
  return static_cast<u32>(left < HONE_STAGE_BYTES ? left : HONE_STAGE_BYTES);
}

/// Each unit of a stage in shared memory, by all threads of the block.
HONE_DEVICE void change(u8* stage, u32 bytes, u32 thread) {
  if (bytes == HONE_STAGE_BYTES) {
#pragma unroll
    for (u32 at = 0; at < HONE_STAGE_BYTES; at += HONE_BLOCK * unit) {
      u8* mine = stage + at + thread * unit;
      hone_store<unit, hone_plain>(mine, elementwise_op(hone_load<unit, hone_plain>(mine)));
    }
  } else {
    for (u32 at = thread * unit; at < bytes; at += HONE_BLOCK * unit)
      hone_store<unit, hone_plain>(stage + at, elementwise_op(hone_load<unit, hone_plain>(stage + at)));
  }
}

HONE_KERNEL_WITH_BARRIERS(elementwise_bulk, const void* x, void* y, i64 numel) {
  HONE_DYNAMIC_SHARED(u8, ring);
  HONE_SHARED u64 full[HONE_STAGES];
  const u8* from = static_cast<const u8*>(x);
  u8* to = static_cast<u8*>(y);
  const u32 thread = HONE_THREAD_X;
  const i64 all = numel * HONE_ELEMENT_SIZE;
  const i64 bytes = all - all % unit;
  const i64 stages = (bytes + HONE_STAGE_BYTES - 1) / HONE_STAGE_BYTES;
  const i64 step = HONE_BLOCK_COUNT_X;

  const auto fill = [&](i64 stage, u32 slot) {
    const u32 size = bytes_of_stage(stage, bytes);
    hone_expect_bytes(full + slot, size);
    hone_bulk_load<ELEMENTWISE_LOAD>(ring + slot * HONE_STAGE_BYTES, from + stage * HONE_STAGE_BYTES, size,
                                     full + slot);
  };

  i64 stage = HONE_BLOCK_INDEX_X;
  if (thread == 0) {
    for (u32 slot = 0; slot < HONE_STAGES; ++slot) hone_initialise_arrivals(full + slot);
    hone_fence_to_bulk();
    for (u32 slot = 0; slot + 1 < HONE_STAGES; ++slot)
      if (stage + slot * step < stages) fill(stage + slot * step, slot);
  }
  // The elements that fill no unit, one a thread of the first block.
  if (HONE_BLOCK_INDEX_X == 0 && thread * HONE_ELEMENT_SIZE < all - bytes) {
    const i64 offset = bytes + thread * HONE_ELEMENT_SIZE;
    hone_store<HONE_ELEMENT_SIZE, hone_plain>(
        to + offset, elementwise_op(hone_load<HONE_ELEMENT_SIZE, hone_plain>(from + offset)));
  }
  HONE_BARRIER();

  u32 slot = 0;
  u32 round = 0;  // parity of the slot's fills
  for (; stage < stages; stage += step) {
    u8* const here = ring + slot * HONE_STAGE_BYTES;
    const u32 size = bytes_of_stage(stage, bytes);
    hone_wait_full(full + slot, round);
    change(here, size, thread);
    hone_fence_to_bulk();
    HONE_BARRIER();
    if (thread == 0) {
      hone_bulk_store<ELEMENTWISE_STORE>(to + stage * HONE_STAGE_BYTES, here, size);
      // The slot before this one is free once its copy has read it: only the newest may still be under way.
      hone_bulk_wait_read<1>();
      const i64 next = stage + (HONE_STAGES - 1) * step;
      if (next < stages) fill(next, slot == 0 ? HONE_STAGES - 1 : slot - 1);
    }
    if (++slot == HONE_STAGES) {
      slot = 0;
      round ^= 1;
    }
  }
  // Shared memory must outlive the copies that read it.
  if (thread == 0) hone_bulk_wait_read<0>();
}
