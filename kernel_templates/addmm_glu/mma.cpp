// addmm_glu by warps' matrix instructions (mma.sync), for CUDA from sm_80 on. A block computes tiles of out
// of tile_m x tile_n elements. Tiles of A and B pass through a ring of shared memory, swizzled so that
// neither their writes nor the loads of fragments meet in a bank; the ring goes on from one tile of out to
// the next.
//
// Fragments of mma.m16n8k16 (g = lane / 4, t = lane % 4):
//   A   rows g and g + 8, columns 2t, 2t + 1 and those 8 further on
//   B   rows 2t, 2t + 1 and those 8 further on, column g
//   C   rows g and g + 8, columns 2t, 2t + 1
#define HONE_MAX_THREADS (HONE_WARPS_M * HONE_WARPS_N * 32)
#include "access.h"
#include "mma_ptx.h"
#include "prelude.h"
#include "through_f32.h"
#include "tile_order.h"

enum : u32 {
  tile_m = HONE_TILE_M,
  tile_n = HONE_TILE_N,
  tile_k = HONE_TILE_K,
  stages = HONE_STAGES,
  threads = HONE_MAX_THREADS,
  warps_n = HONE_WARPS_N,
  warp_m = HONE_TILE_M / HONE_WARPS_M,  // elements of out a warp computes
  warp_n = HONE_TILE_N / HONE_WARPS_N,
  mmas_m = warp_m / 16,
  mmas_n = warp_n / 8,
  mmas_k = tile_k / 16,
  vector = HONE_VECTOR,     // bytes of an access
  per_vector = vector / 2,  // elements
  split = HONE_SPLIT,       // blocks that share a tile, each with a part of K
  a_bytes = tile_m * tile_k * 2,
  slot_bytes = a_bytes + tile_n * tile_k * 2,
  ring_bytes = stages * slot_bytes,
};
static_assert(warp_m % 16 == 0 && warp_n % 8 == 0 && tile_k % 16 == 0, "no tile of matrix instructions");

constexpr bool async = HONE_LOAD == HONE_LOAD_ASYNC;
constexpr bool y_early = HONE_Y_PATH == HONE_Y_PATH_EARLY;
constexpr bool y_shared = HONE_Y_PATH == HONE_Y_PATH_SHARED;
constexpr bool store_shared = HONE_STORE == HONE_STORE_SHARED;
constexpr bool bias_first = HONE_BIAS == HONE_BIAS_FIRST;
constexpr bool persistent = HONE_PERSISTENT != 0;
#if defined(HONE_LAYOUT_NT)
constexpr bool b_along_k = true;
#else
constexpr bool b_along_k = false;
#endif
#if HONE_HINT == HONE_HINT_NT
constexpr hone_hint hint = hone_nt;
#else
constexpr hone_hint hint = hone_plain;
#endif
static_assert(async || stages <= 2, "a thread holds one tile's elements in registers");
static_assert(async || !y_shared, "y reaches shared memory by asynchronous copies");
static_assert(vector >= 4 || (!async && !store_shared), "no access so narrow");

/// After the ring: y's tile, replaced by out's, or 16 rows of each row of warps, which take turns in them.
enum : u32 {
  buffer_rows = y_shared       ? tile_m
                : store_shared ? 16 * HONE_WARPS_M
                               : 0,
  buffer_bytes = buffer_rows * tile_n * 2,
  ticket_at = ring_bytes + buffer_bytes,
  /// At the start of the workspace, for as many tiles as have one: how many blocks gave their parts. Always
  /// so many, so that what one problem leaves zero is zero for another.
  counters = 4096,
};

/// Bytes from a tile's start to 16 bytes of a row. Eight rows' 16 bytes, at the same or at neighbouring
/// places, lie in different banks.
template <u32 Columns>
HONE_DEVICE u32 swizzled(u32 row, u32 chunk) {
  constexpr u32 chunks = Columns / 8;
  constexpr u32 period = chunks % 8 == 0 ? 8 : chunks % 4 == 0 ? 4 : chunks % 2 == 0 ? 2 : 1;
  return (row * chunks + (chunk ^ (row / (8 / period) % period))) * 16;
}

/// The bytes of an access that `left` elements allow.
template <typename Integer>
HONE_DEVICE u32 bytes_of(Integer left) {
  return left >= static_cast<Integer>(per_vector) ? static_cast<u32>(vector)
         : left > 0                               ? static_cast<u32>(left) * 2
                                                  : 0;
}

struct Problem {
  const u16* a;
  const u16* b;
  const u16* bias;
  const u16* y;
  u16* out;
  i64 m, n, depth, lda, ldb, ldy, ldo;
  u32 tiles_m, tiles_n, items, steps;  // items: parts of tiles; steps: tile_k's along K
};

/// What a block computes in one go: steps [begin, end) along K of a tile of out.
struct Item {
  u32 tile, part;
  u32 begin, end;
  i64 row, column;  // of the tile's first element
};

HONE_DEVICE Item item_of(const Problem& p, u32 index) {
  Item item;
  item.tile = index / split;
  item.part = index % split;
  item.begin = static_cast<u32>(static_cast<u64>(p.steps) * item.part / split);
  item.end = static_cast<u32>(static_cast<u64>(p.steps) * (item.part + 1) / split);
  const TilePlace place = grouped_tile(item.tile, p.tiles_m, p.tiles_n, HONE_GROUP_M);
  item.row = static_cast<i64>(place.row) * tile_m;
  item.column = static_cast<i64>(place.column) * tile_n;
  return item;
}

constexpr u32 power_of_two_in(u32 number, u32 most) {
  u32 result = 1;
  while (result < most && number % (2 * result) == 0) result *= 2;
  return result;
}

/// A thread's share of tiles of Rows x Columns elements that follow each other along K, on their way from a
/// row-major matrix to shared memory. K lies along the matrix's rows, or else across them. `lanes` threads
/// have neighbouring vectors of a row; a thread has the same columns in each of its rows.
template <u32 Rows, u32 Columns, bool AlongK>
struct Copier {
  enum : u32 {
    vectors = Columns / per_vector,  // in a row
    lanes = power_of_two_in(vectors, 32),
    blocks = vectors / lanes,  // of `lanes` vectors in a row
    units = threads / lanes,
    rows_at_once = units < Rows ? units : Rows,
    groups = units / rows_at_once,  // that have blocks of their own in the same rows
    row_turns = (Rows + rows_at_once - 1) / rows_at_once,
    column_turns = (blocks + groups - 1) / groups,
  };
  const u16* matrix;
  const u16* from;  // the thread's first element
  i64 stride;
  u32 across;              // rows (K along them) or columns that the tile has
  u32 row, block, column;  // the thread's first within the tile
  hone_pack<vector> held[async ? 1 : row_turns][async ? 1 : column_turns];

  /// Whether there is something for the thread in a turn: known before it runs, for most tiles.
  HONE_DEVICE bool has(u32 r, u32 c) const {
    return (units == rows_at_once * groups || block < groups) &&
           (blocks % groups == 0 || block + c * groups < blocks) &&
           (Rows % rows_at_once == 0 || row + r * rows_at_once < Rows);
  }
  HONE_DEVICE u32 column_of(u32 c) const { return column + c * groups * lanes * per_vector; }
  HONE_DEVICE u32 place_of(u32 r, u32 c) const {
    return swizzled<Columns>(row + r * rows_at_once, column_of(c) / 8) + column_of(c) % 8 * 2;
  }
  HONE_DEVICE const u16* from_of(u32 r, u32 c) const {
    return from + r * rows_at_once * stride + c * groups * lanes * per_vector;
  }

  HONE_DEVICE explicit Copier(u32 thread)
      : row(thread / lanes % rows_at_once),
        block(thread / lanes / rows_at_once),
        column((block * lanes + thread % lanes) * per_vector) {}

  /// The tiles from `k` on, of rows (or columns) [first, end) of the matrix as far as a tile has them.
  HONE_DEVICE void begin(const u16* of, i64 row_stride, i64 first, i64 end, i64 k) {
    constexpr u32 most = AlongK ? Rows : Columns;
    matrix = of;
    stride = row_stride;
    across = end - first < most ? static_cast<u32>(end - first) : most;
    from = AlongK ? of + (first + row) * stride + k + column : of + (k + row) * stride + first + column;
  }

  /// Bytes to copy where the matrix has `left` elements along K from the tile's first on; Full: all of them.
  template <bool Full>
  HONE_DEVICE u32 bytes(u32 r, u32 c, i64 left) const {
    const u32 own_row = row + r * rows_at_once;
    const i64 own_column = column_of(c);
    if constexpr (AlongK) {
      if (own_row >= across) return 0;
      return Full ? static_cast<u32>(vector) : bytes_of(left - own_column);
    } else {
      if (!Full && own_row >= left) return 0;
      return bytes_of(static_cast<i32>(across) - static_cast<i32>(own_column));
    }
  }

  template <bool Full>
  HONE_DEVICE void copy(u32 to, i64 left) {
#pragma unroll
    for (u32 r = 0; r < row_turns; ++r) {
#pragma unroll
      for (u32 c = 0; c < column_turns; ++c) {
        if (!has(r, c)) continue;
        const u32 count = bytes<Full>(r, c, left);
        if constexpr (async)
          copy_async<vector, hone_plain>(to + place_of(r, c), count > 0 ? from_of(r, c) : matrix, count);
      }
    }
  }

  template <bool Full>
  HONE_DEVICE void fetch(i64 left) {
#pragma unroll
    for (u32 r = 0; r < row_turns; ++r) {
#pragma unroll
      for (u32 c = 0; c < column_turns; ++c) {
        auto& pack = held[r][c];
        const u32 count = has(r, c) ? bytes<Full>(r, c, left) : 0;
        if (count == vector) {
          pack = hone_load<vector, hone_plain>(from_of(r, c));
          continue;
        }
#pragma unroll
        for (u32 w = 0; w < hone_pack<vector>::words; ++w) pack.word[w] = 0;
#pragma unroll
        for (u32 e = 0; e + 1 < per_vector; ++e) {
          if (2 * e < count) pack.word[e / 2] |= static_cast<u32>(from_of(r, c)[e]) << (e % 2 * 16);
        }
      }
    }
  }

  HONE_DEVICE void put(u8* to) const {
#pragma unroll
    for (u32 r = 0; r < row_turns; ++r) {
#pragma unroll
      for (u32 c = 0; c < column_turns; ++c) {
        if (has(r, c)) hone_store<vector, hone_plain>(to + place_of(r, c), held[r][c]);
      }
    }
  }

  HONE_DEVICE void advance() {
    from += AlongK ? static_cast<i64>(tile_k) : tile_k * stride;
  }
};

/// The ring of shared memory with tiles of A and B, filled ahead of their use. Every step of the block's
/// items has an arrive(), loads from the slot at at() with a refill() among them, and a leave().
struct Ring {
  const Problem& p;
  u8* const shared;
  const u32 blocks;
  u32 index;           // the item whose steps are loaded next
  u32 steps_left = 0;  // of it
  i64 depth_left = 0;  // elements along K from the next step on
  u32 filled = 0;      // slot that is filled next
  u32 used = 0;        // slot in use
  Copier<tile_m, tile_k, true> a;
  Copier<b_along_k ? tile_n : tile_k, b_along_k ? tile_k : tile_n, b_along_k> b;

  HONE_DEVICE Ring(const Problem& problem, u8* memory, u32 thread, u32 block, u32 block_count)
      : p(problem), shared(memory), blocks(block_count), index(block), a(thread), b(thread) {
    begin();
    if constexpr (async) {
#pragma unroll
      for (u32 stage = 1; stage < stages; ++stage) copy_next();
    } else {
      fetch_next();
      if constexpr (stages == 2) put(0);
    }
  }

  HONE_DEVICE u32 at() const {
    return used * slot_bytes;
  }

  HONE_DEVICE void arrive() {
    if constexpr (async && stages == 1) {
      wait_for_block();
      copy_next();
    }
    if constexpr (async) wait_for_copies<stages == 1 ? 0 : stages - 2>();
    wait_for_block();
    if constexpr (!async && stages == 1) {
      put(0);
      wait_for_block();
    }
  }

  /// Starts the loads of a later step; the slot that they go to is free once all threads have arrived.
  HONE_DEVICE void refill() {
    if constexpr (!async) {
      fetch_next();
    } else if constexpr (stages > 1) {
      copy_next();
    }
  }

  HONE_DEVICE void leave() {
    used = used + 1 == stages ? 0 : used + 1;
    if constexpr (!async && stages == 2) put(used);
  }

 private:
  HONE_DEVICE void begin() {
    const Item item = item_of(p, index);
    const i64 k = static_cast<i64>(item.begin) * tile_k;
    a.begin(p.a, p.lda, item.row, p.m, k);
    b.begin(p.b, p.ldb, item.column, p.n, k);
    steps_left = item.end - item.begin;
    depth_left = p.depth - k;
  }

  HONE_DEVICE void pass() {
    a.advance();
    b.advance();
    depth_left -= tile_k;
    if (--steps_left > 0 || !persistent) return;
    index += blocks;
    if (index < p.items) begin();
  }

  HONE_DEVICE void copy_next() {
    if (steps_left > 0) {
      const u32 to = shared_address(shared) + filled * slot_bytes;
      if (depth_left >= tile_k) {
        a.template copy<true>(to, depth_left);
        b.template copy<true>(to + a_bytes, depth_left);
      } else {
        a.template copy<false>(to, depth_left);
        b.template copy<false>(to + a_bytes, depth_left);
      }
      filled = filled + 1 == stages ? 0 : filled + 1;
      pass();
    }
    commit_copies();
  }

  HONE_DEVICE void fetch_next() {
    if (steps_left == 0) return;
    if (depth_left >= tile_k) {
      a.template fetch<true>(depth_left);
      b.template fetch<true>(depth_left);
    } else {
      a.template fetch<false>(depth_left);
      b.template fetch<false>(depth_left);
    }
    pass();
  }

  HONE_DEVICE void put(u32 slot) {
    a.put(shared + slot * slot_bytes);
    b.put(shared + slot * slot_bytes + a_bytes);
  }
};

/// A warp's part of a block's tile.
struct Warp {
  u32 lane;
  u32 row, column;  // of its first element within the tile
  u32 buffer_row;   // of its first row in the buffer
};

using Sums = f32[mmas_m][mmas_n][4];
using Gates = u32[mmas_m][mmas_n][2];  // y's elements, where the sums' are, two in a word

struct Fragments {
  u32 a[mmas_m][4];
  u32 b[mmas_n][2];
};

HONE_DEVICE void load_fragments(u32 slot, const Warp& warp, u32 k, Fragments& to) {
  const u32 lane = warp.lane;
#pragma unroll
  for (u32 i = 0; i < mmas_m; ++i) {
    load_matrices<false>(slot + swizzled<tile_k>(warp.row + i * 16 + lane % 16, k * 2 + lane / 16),
                         to.a[i][0], to.a[i][1], to.a[i][2], to.a[i][3]);
  }
  const u32 b = slot + a_bytes;
#pragma unroll
  for (u32 j = 0; j + 1 < mmas_n; j += 2) {
    const u32 column = warp.column + j * 8;
    const u32 place = b_along_k ? swizzled<tile_k>(column + lane / 16 * 8 + lane % 8, k * 2 + lane / 8 % 2)
                                : swizzled<tile_n>(k * 16 + lane % 16, column / 8 + lane / 16);
    load_matrices<!b_along_k>(b + place, to.b[j][0], to.b[j][1], to.b[j + 1][0], to.b[j + 1][1]);
  }
  if constexpr (mmas_n % 2 == 1) {
    const u32 column = warp.column + (mmas_n - 1) * 8;
    const u32 place = b_along_k ? swizzled<tile_k>(column + lane % 8, k * 2 + lane / 8 % 2)
                                : swizzled<tile_n>(k * 16 + lane % 16, column / 8);
    load_matrices<!b_along_k>(b + place, to.b[mmas_n - 1][0], to.b[mmas_n - 1][1]);
  }
}

/// One step. Fragments are loaded while those before are multiplied, and a later step's loads start in
/// between.
HONE_DEVICE void multiply(Ring& ring, const Warp& warp, Sums& sums) {
  ring.arrive();
  const u32 slot = shared_address(ring.shared) + ring.at();
  Fragments fragments[2];
  load_fragments(slot, warp, 0, fragments[0]);
  ring.refill();
#pragma unroll
  for (u32 k = 0; k < mmas_k; ++k) {
    if (k + 1 < mmas_k) load_fragments(slot, warp, k + 1, fragments[(k + 1) % 2]);
    const Fragments& now = fragments[k % 2];
#pragma unroll
    for (u32 j = 0; j < mmas_n; ++j) {
#pragma unroll
      for (u32 i = 0; i < mmas_m; ++i) multiply_add(sums[i][j], now.a[i], now.b[j]);
    }
  }
  ring.leave();
}

// Most tiles are Whole: all of their elements exist.

/// Two elements of a row that has `left` from the first on; zeros beyond.
template <bool Whole, hone_hint Hint>
HONE_DEVICE u32 load_pair(const u16* from, i64 left) {
  if (vector >= 4 && (Whole || left >= 2)) return hone_load<4, Hint>(from).word[0];
  u32 word = 0;
  if (left >= 1) word = hone_load<2, Hint>(from).word[0];
  if (left >= 2) word |= hone_load<2, Hint>(from + 1).word[0] << 16;
  return word;
}

template <bool Whole, hone_hint Hint>
HONE_DEVICE void store_pair(u16* to, u32 word, i64 left) {
  if (vector >= 4 && (Whole || left >= 2)) {
    hone_pack<4> pack;
    pack.word[0] = word;
    hone_store<4, Hint>(to, pack);
    return;
  }
  hone_pack<2> half;
  half.word[0] = word & 0xFFFF;
  if (left >= 1) hone_store<2, Hint>(to, half);
  half.word[0] = word >> 16;
  if (left >= 2) hone_store<2, Hint>(to + 1, half);
}

/// The bias at the columns of a lane's elements.
HONE_DEVICE void load_bias(const Problem& p, const Item& item, const Warp& warp, f32 (&bias)[mmas_n][2]) {
#pragma unroll
  for (u32 j = 0; j < mmas_n; ++j) {
    const i64 column = item.column + warp.column + j * 8 + warp.lane % 4 * 2;
    const u32 word = load_pair<false, hone_plain>(p.bias + column, p.n - column);
    bias[j][0] = f32_of_half(static_cast<u16>(word));
    bias[j][1] = f32_of_half(static_cast<u16>(word >> 16));
  }
}

HONE_DEVICE void start(const Problem& p, const Item& item, const Warp& warp, Sums& sums) {
  f32 bias[mmas_n][2] = {};
  if (bias_first && item.part == 0) load_bias(p, item, warp, bias);
#pragma unroll
  for (u32 i = 0; i < mmas_m; ++i) {
#pragma unroll
    for (u32 j = 0; j < mmas_n; ++j) {
#pragma unroll
      for (u32 e = 0; e < 4; ++e) sums[i][j][e] = bias[j][e % 2];
    }
  }
}

template <bool Whole>
HONE_DEVICE void load_gates(const Problem& p, const Item& item, const Warp& warp, Gates& gates) {
#pragma unroll
  for (u32 i = 0; i < mmas_m; ++i) {
#pragma unroll
    for (u32 h = 0; h < 2; ++h) {
      const i64 row = item.row + warp.row + i * 16 + h * 8 + warp.lane / 4;
      const i64 first = item.column + warp.column + warp.lane % 4 * 2;
      const i64 left = Whole || row < p.m ? p.n - first : 0;
      const u16* from = p.y + row * p.ldy + first;
#pragma unroll
      for (u32 j = 0; j < mmas_n; ++j) gates[i][j][h] = load_pair<Whole, hint>(from + j * 8, left - j * 8);
    }
  }
}

/// Starts to copy y's tile to the buffer.
template <hone_hint Hint>
HONE_DEVICE void copy_gates(const Problem& p, const Item& item, u32 thread, u32 buffer) {
  constexpr u32 vectors = tile_n / per_vector;
#pragma unroll 4
  for (u32 v = thread; v < tile_m * vectors; v += threads) {
    const u32 row = v / vectors;
    const u32 column = v % vectors * per_vector;
    const u32 count = item.row + row < p.m ? bytes_of(p.n - item.column - column) : 0;
    const u16* from = count > 0 ? p.y + (item.row + row) * p.ldy + item.column + column : p.y;
    if constexpr (async)
      copy_async<vector, Hint>(buffer + swizzled<tile_n>(row, column / 8) + column % 8 * 2, from, count);
  }
}

/// Adds up what the blocks of a tile have, in the block that comes last; says whether this is it. Its sums
/// are taken in the order of the parts, whichever came when.
HONE_DEVICE bool add_parts(const Item& item, u32 thread, u8* workspace, u32* ticket, Sums& sums) {
  u32* const counter = reinterpret_cast<u32*>(workspace) + item.tile;
  f32* const parts = reinterpret_cast<f32*>(workspace + counters * 4) +
                     static_cast<i64>(item.tile) * split * tile_m * tile_n + thread * 4;
  const auto place = [&](u32 part, u32 i, u32 j) {
    return parts + part * tile_m * tile_n + (i * mmas_n + j) * threads * 4;
  };
#pragma unroll
  for (u32 i = 0; i < mmas_m; ++i) {
#pragma unroll
    for (u32 j = 0; j < mmas_n; ++j) store_for_others(place(item.part, i, j), sums[i][j]);
  }
  order_for_all_blocks();
  wait_for_block();
  if (thread == 0) *ticket = HONE_ATOMIC_ADD(counter, 1U);
  wait_for_block();
  if (*ticket != split - 1) return false;
  order_for_all_blocks();
  if (thread == 0) *counter = 0;
#pragma unroll
  for (u32 i = 0; i < mmas_m; ++i) {
#pragma unroll
    for (u32 j = 0; j < mmas_n; ++j) {
      f32 total[4] = {};
#pragma unroll
      for (u32 part = 0; part < split; ++part) {
        f32 each[4];
        load_written_by_others(place(part, i, j), each);
#pragma unroll
        for (u32 e = 0; e < 4; ++e) total[e] += each[e];
      }
#pragma unroll
      for (u32 e = 0; e < 4; ++e) sums[i][j][e] = total[e];
    }
  }
  return true;
}

HONE_DEVICE f32 gated(f32 x, u32 half) {
  return x * f32_of_half(static_cast<u16>(half)) + x;
}

/// Writes 16 rows of the warp's elements, its i-th, from the buffer to out, by vectors.
template <bool Whole>
HONE_DEVICE void write_rows(const Problem& p, const Item& item, const Warp& warp, u32 i, const u8* buffer,
                            u32 buffer_row) {
  constexpr u32 vectors = warp_n / per_vector;
#pragma unroll
  for (u32 v = warp.lane; v < 16 * vectors; v += 32) {
    const u32 row = v / vectors;
    const u32 column = warp.column + v % vectors * per_vector;
    const i64 out_row = item.row + warp.row + i * 16 + row;
    const i64 out_column = item.column + column;
    if (!Whole && (out_row >= p.m || out_column >= p.n)) continue;
    const auto pack = hone_load<vector, hone_plain>(buffer + swizzled<tile_n>(buffer_row + row, column / 8) +
                                                    column % 8 * 2);
    u16* const to = p.out + out_row * p.ldo + out_column;
    if (Whole || out_column + per_vector <= p.n) {
      hone_store<vector, hint>(to, pack);
      continue;
    }
#pragma unroll
    for (u32 e = 0; e + 1 < per_vector; ++e) {
      if (out_column + e < p.n) to[e] = static_cast<u16>(pack.word[e / 2] >> (e % 2 * 16));
    }
  }
}

template <bool Whole>
HONE_DEVICE void finish(const Problem& p, const Item& item, const Warp& warp, u8* buffer, const Gates& gates,
                        const Sums& sums) {
  f32 bias[mmas_n][2] = {};
  if (!bias_first) load_bias(p, item, warp, bias);
#pragma unroll
  for (u32 i = 0; i < mmas_m; ++i) {
    const u32 buffer_row = warp.buffer_row + (y_shared ? i * 16 : 0);
#pragma unroll
    for (u32 h = 0; h < 2; ++h) {
      const u32 row = h * 8 + warp.lane / 4;
      const i64 out_row = item.row + warp.row + i * 16 + row;
#pragma unroll
      for (u32 j = 0; j < mmas_n; ++j) {
        const u32 column = warp.column + j * 8 + warp.lane % 4 * 2;
        u32* const word =
            reinterpret_cast<u32*>(buffer + swizzled<tile_n>(buffer_row + row, column / 8) + column % 8 * 2);
        const u32 gate = y_shared ? *word : gates[i][j][h];
        const u32 result = word_of_f32(gated(sums[i][j][2 * h] + bias[j][0], gate),
                                       gated(sums[i][j][2 * h + 1] + bias[j][1], gate >> 16));
        if constexpr (store_shared) {
          *word = result;
        } else {
          const i64 out_column = item.column + column;
          if (Whole || out_row < p.m)
            store_pair<Whole, hint>(p.out + out_row * p.ldo + out_column, result, p.n - out_column);
        }
      }
    }
    if constexpr (store_shared) {
      wait_for_warp();
      write_rows<Whole>(p, item, warp, i, buffer, buffer_row);
      wait_for_warp();
    }
  }
}

HONE_KERNEL_WITH_BARRIERS(addmm_glu_mma, const u16* a, const u16* b, const u16* bias, const u16* y, u16* out,
                          u8* workspace, i64 m, i64 n, i64 depth, i64 lda, i64 ldb, i64 ldy, i64 ldo) {
  HONE_DYNAMIC_SHARED(u8, shared);
#if HONE_OVERLAP
  HONE_LET_NEXT_KERNEL_START();
  HONE_WAIT_FOR_EARLIER_KERNELS();
#endif
  const auto tiles_m = static_cast<u32>((m + tile_m - 1) / tile_m);
  const auto tiles_n = static_cast<u32>((n + tile_n - 1) / tile_n);
  const Problem p{a,
                  b,
                  bias,
                  y,
                  out,
                  m,
                  n,
                  depth,
                  lda,
                  ldb,
                  ldy,
                  ldo,
                  tiles_m,
                  tiles_n,
                  tiles_m * tiles_n * split,
                  static_cast<u32>((depth + tile_k - 1) / tile_k)};
  const u32 thread = HONE_THREAD_X;
  const u32 warp_row = thread / 32 / warps_n;
  const Warp warp{thread % 32, warp_row * warp_m, thread / 32 % warps_n * warp_n,
                  warp_row * (y_shared ? warp_m : 16)};
  u8* const buffer = shared + ring_bytes;

  Ring ring(p, shared, thread, HONE_BLOCK_INDEX_X, HONE_BLOCK_COUNT_X);
  for (u32 index = HONE_BLOCK_INDEX_X; index < p.items; index += HONE_BLOCK_COUNT_X) {
    const Item item = item_of(p, index);
    const bool whole = item.row + tile_m <= p.m && item.column + tile_n <= p.n;
    if constexpr (y_shared) {
      if constexpr (persistent) wait_for_block();  // for the rows before, which leave the buffer
      copy_gates<hint>(p, item, thread, shared_address(buffer));
    }
    Sums sums;
    Gates gates;
    start(p, item, warp, sums);
    for (u32 step = item.begin; step + (y_early ? 1 : 0) < item.end; ++step) {
      multiply(ring, warp, sums);
    }
    if constexpr (y_early) {
      if (whole) {
        load_gates<true>(p, item, warp, gates);
      } else {
        load_gates<false>(p, item, warp, gates);
      }
      multiply(ring, warp, sums);
    }
    if constexpr (y_shared) {
      // The copies of y are in the first step's group, which the last arrival may not have waited for.
      if (item.end - item.begin < stages) {
        wait_for_copies<0>();
        wait_for_block();
      }
    }
    if constexpr (split > 1) {
      if (!add_parts(item, thread, workspace, reinterpret_cast<u32*>(shared + ticket_at), sums)) continue;
    }
    if (whole) {
      if constexpr (!y_early && !y_shared) load_gates<true>(p, item, warp, gates);
      finish<true>(p, item, warp, buffer, gates, sums);
    } else {
      if constexpr (!y_early && !y_shared) load_gates<false>(p, item, warp, gates);
      finish<false>(p, item, warp, buffer, gates, sums);
    }
  }
}
