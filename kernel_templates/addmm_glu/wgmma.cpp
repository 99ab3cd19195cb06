// addmm_glu by Hopper's warpgroup matrix instructions. A producer warp fills a ring of shared-memory stages with tiles
// of a and b through the tensor memory accelerator; HONE_GROUPS consumer warpgroups multiply them. With `cooperative`
// they share a tile's rows; with `pingpong` each has a tile of its own, so that one multiplies while the other gates and
// stores. A second warp of the producer's group moves y into, and out from, a ring of buffers (HONE_C_BUFFERS), each for
// 64 rows of every group that shares the tile; in them the consumers replace y by the result.
//
// Tiles lie in panels whose rows are one swizzle span wide: of k (a, and b as N x K), or of n (b as K x N, y, out).
// The blocks of a cluster share tiles of b (along M), of a (along N), or the k of one tile (split).
#define HONE_THREADS (128 * (HONE_GROUPS + 1))
#include "hopper.h"
#include "through_f32.h"
#include "tile_order.h"
#include "wgmma.h"

namespace {

constexpr bool pingpong = HONE_SCHEDULE == HONE_SCHEDULE_PINGPONG;
constexpr u32 tile_m = HONE_TILE_M, tile_n = HONE_TILE_N, tile_k = HONE_TILE_K;
constexpr u32 in_flight = HONE_IN_FLIGHT;  // steps whose products are not waited for when the next is begun
constexpr u32 stages = HONE_STAGES, groups = HONE_GROUPS, c_buffers = HONE_C_BUFFERS;
constexpr u32 cluster_m = HONE_CLUSTER_M, cluster_n = HONE_CLUSTER_N, split = HONE_SPLIT;
constexpr u32 cluster = cluster_m * cluster_n * split;
constexpr bool y_by_tma = HONE_Y_PATH == HONE_Y_PATH_TMA, store_by_tma = HONE_STORE == HONE_STORE_TMA;
constexpr bool bias_first = HONE_BIAS == HONE_BIAS_FIRST, bias_shared = HONE_BIAS == HONE_BIAS_SHARED;

constexpr u32 group_rows = pingpong ? tile_m : tile_m / groups;  // of a tile, that one consumer group has
constexpr u32 blocks_m = group_rows / 64;                        // instructions along M
constexpr u32 consumers = pingpong ? 1 : groups;                 // groups that read one stage

constexpr u32 span_k = tile_k < 64 ? tile_k : 64;                                         // elements of a row of k
constexpr u32 span_n = tile_n % 64 == 0 ? 64 : tile_n % 32 == 0 ? 32 : 16;                // and of a row of n
constexpr u32 a_bytes = tile_m * tile_k * 2, b_bytes = tile_n * tile_k * 2;
constexpr u32 c_rows = 64 * consumers, c_bytes = c_rows * tile_n * 2;  // of a buffer
constexpr u32 bias_bytes = bias_shared ? 512 : 0;  // of a tile's columns, where the next starts
constexpr u32 partial_bytes = split > 1 ? tile_m * tile_n * 4 : 0;

#if defined(HONE_LAYOUT_NN)
constexpr bool b_rows_of_n = true;
#else
constexpr bool b_rows_of_n = false;
#endif

/// Where things lie in shared memory.
struct Shared {
  u32 a, b, c, bias, partial, full, empty, order, c_order, c_full, c_ready, partial_full, partial_empty;
};

HONE_DEVICE Shared lay_out(const void* dynamic) {
  Shared at;
  at.a = (shared_address(dynamic) + 1023) & ~1023U;
  at.b = at.a + stages * a_bytes;
  at.c = (at.b + stages * b_bytes + 1023) & ~1023U;
  at.bias = at.c + c_buffers * c_bytes;
  at.partial = at.bias + c_buffers * bias_bytes;
  at.full = at.partial + partial_bytes;
  at.empty = at.full + 8 * stages;
  at.order = at.empty + 8 * stages;
  at.c_order = at.order + 16;
  at.c_full = at.c_order + 16;
  at.c_ready = at.c_full + 8 * c_buffers;
  at.partial_full = at.c_ready + 8 * c_buffers;
  at.partial_empty = at.partial_full + 8;
  return at;
}

/// A place in a ring of buffers, and the parity of its barriers there.
template <u32 Count>
struct Turn {
  u32 index = 0, parity = 0;
  HONE_DEVICE void next() {
    if (++index == Count) {
      index = 0;
      parity ^= 1;
    }
  }
  HONE_DEVICE void skip(u32 count) {
    index += count;
    const u32 rounds = index / Count;
    index -= rounds * Count;
    parity ^= rounds & 1;
  }
};

/// What a block has to do: its tiles in turn, of each the steps [first_k, last_k) of tile_k.
struct Work {
  u32 tiles_m, tiles_n;  // of clusters
  u32 tile, step;
  u32 first_k, last_k;
  u32 rank_m, rank_n;
  u32 a_rows;  // of a tile, that a block loads: no more than there are

  HONE_DEVICE bool more() const { return tile < tiles_m * tiles_n; }
  HONE_DEVICE void next() { tile += step; }
  HONE_DEVICE void place(i32& m, i32& n) const {
    const TilePlace at = grouped_tile(tile, tiles_m, tiles_n, HONE_GROUP_M);
    m = static_cast<i32>((at.row * cluster_m + rank_m) * tile_m);
    n = static_cast<i32>((at.column * cluster_n + rank_n) * tile_n);
  }
};

HONE_DEVICE u64 policy_of_operands() {
  return HONE_HINT == HONE_HINT_KEEP ? policy_evict_last() : policy_evict_normal();
}
HONE_DEVICE u64 policy_of_streams() {
  return HONE_HINT == HONE_HINT_DEFAULT ? policy_evict_normal() : policy_evict_first();
}

template <u32 Blocks>
HONE_DEVICE void load(u32 to, const hone_tensor_map* map, i32 x, i32 y, u32 barrier, u64 policy, u32 blocks) {
  if constexpr (Blocks == 1) {
    tensor_load(to, map, x, y, barrier, policy);
  } else {
    tensor_load_multicast(to, map, x, y, barrier, policy, static_cast<u16>(blocks));
  }
}

/// One thread: tiles of a and b into the ring. Blocks that share a tile load a part of it each, for all.
HONE_DEVICE void produce(const Shared& at, Work work, const hone_tensor_map* a, const hone_tensor_map* b) {
  const u64 policy = policy_of_operands();
  constexpr u32 b_rows = (b_rows_of_n ? tile_k : tile_n) / cluster_m;
  // Ranks run along M first.
  u32 blocks_of_a = 0;
  for (u32 i = 0; i < cluster_n; ++i) blocks_of_a |= 1U << (i * cluster_m + work.rank_m);
  const u32 blocks_of_b = ((1U << cluster_m) - 1) << (work.rank_n * cluster_m);
  Turn<stages> turn;
  for (; work.more(); work.next()) {
    i32 m, n;
    work.place(m, n);
    for (u32 step = work.first_k; step < work.last_k; ++step, turn.next()) {
      const i32 k = static_cast<i32>(step * tile_k);
      const u32 full = at.full + 8 * turn.index;
      barrier_wait(at.empty + 8 * turn.index, turn.parity ^ 1);
      barrier_expect(full, work.a_rows * cluster_n * tile_k * 2 + b_bytes);
      const u32 to_a = at.a + turn.index * a_bytes + work.rank_n * work.a_rows * span_k * 2;
#pragma unroll
      for (u32 panel = 0; panel < tile_k / span_k; ++panel)
        load<cluster_n>(to_a + panel * tile_m * span_k * 2, a, k + static_cast<i32>(panel * span_k),
                        m + static_cast<i32>(work.rank_n * work.a_rows), full, policy, blocks_of_a);
      const u32 to_b = at.b + turn.index * b_bytes;
      if constexpr (b_rows_of_n) {
#pragma unroll
        for (u32 panel = 0; panel < tile_n / span_n; ++panel)
          load<cluster_m>(to_b + (panel * tile_k + work.rank_m * b_rows) * span_n * 2, b,
                          n + static_cast<i32>(panel * span_n), k + static_cast<i32>(work.rank_m * b_rows), full,
                          policy, blocks_of_b);
      } else {
#pragma unroll
        for (u32 panel = 0; panel < tile_k / span_k; ++panel)
          load<cluster_m>(to_b + (panel * tile_n + work.rank_m * b_rows) * span_k * 2, b,
                          k + static_cast<i32>(panel * span_k), n + static_cast<i32>(work.rank_m * b_rows), full,
                          policy, blocks_of_b);
      }
    }
  }
}

/// What a buffer of y and out holds: a block of a tile, of each group that shares it.
struct Part {
  Work tile;
  u32 block = 0;
  HONE_DEVICE void next() {
    if (++block == blocks_m) {
      block = 0;
      tile.next();
    }
  }
};

/// One thread: y and the bias into the buffers, results out of them.
HONE_DEVICE void carry(const Shared& at, const Work& work, const hone_tensor_map* y, const hone_tensor_map* out,
                       const hone_tensor_map* bias) {
  const u64 policy = policy_of_streams();
  const auto each = [&](const Part& part, u32 buffer, const auto& move) {
    i32 m, n;
    part.tile.place(m, n);
#pragma unroll 1
    for (u32 panel = 0; panel < tile_n / span_n; ++panel) {
#pragma unroll 1
      for (u32 group = 0; group < consumers; ++group)
        move(at.c + buffer * c_bytes + (panel * c_rows + group * 64) * span_n * 2,
             n + static_cast<i32>(panel * span_n), m + static_cast<i32>(group * group_rows + part.block * 64));
    }
  };
  const auto fetch = [&](const Part& part, u32 buffer) {
    const u32 full = at.c_full + 8 * buffer;
    constexpr u32 bytes = (y_by_tma ? c_bytes : 0) + (bias_shared ? tile_n * 2 : 0);
    if constexpr (bytes == 0) {
      barrier_arrive(full);
      return;
    }
    barrier_expect(full, bytes);
    if constexpr (bias_shared) {
      i32 m, n;
      part.tile.place(m, n);
      vector_load(at.bias + buffer * bias_bytes, bias, n, full, policy_of_operands());
    }
    if constexpr (y_by_tma)
      each(part, buffer, [&](u32 to, i32 x, i32 row) { tensor_load(to, y, x, row, full, policy); });
  };
  Part ahead{work};
  for (u32 buffer = 0; buffer < c_buffers && ahead.tile.more(); ++buffer, ahead.next()) fetch(ahead, buffer);
  Turn<c_buffers == 0 ? 1 : c_buffers> turn;
  for (Part part{work}; part.tile.more(); part.next(), turn.next()) {
    barrier_wait(at.c_ready + 8 * turn.index, turn.parity);
    each(part, turn.index, [&](u32 from, i32 x, i32 row) { tensor_store(from, out, x, row, policy); });
    tensor_store_commit();
    tensor_store_wait_read();
    if (ahead.tile.more()) {
      fetch(ahead, turn.index);
      ahead.next();
    }
  }
  tensor_store_wait();
}

/// The consumers' part of the problem.
struct Consumer {
  const u16* bias;
  const u16* y;
  u16* out;
  i64 M, N, ldy, ldo;
  u32 group, warp, lane;

  /// Of the lane's rows in a tile, the first of an instruction's.
  HONE_DEVICE u32 row(u32 block) const {
    return (pingpong ? 0 : group * group_rows) + block * 64 + warp * 16 + lane / 4;
  }
  HONE_DEVICE u32 column() const { return lane % 4 * 2; }
};

HONE_DEVICE u32 load_shared(u32 from) {
  u32 word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(from));
  return word;
}
HONE_DEVICE u32 load_stream(const u16* from) {
  u32 word;
#if HONE_HINT == HONE_HINT_DEFAULT
  asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(word) : "l"(from));
#else
  asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(word) : "l"(from));
#endif
  return word;
}
HONE_DEVICE void store_stream(u16* to, u32 word) {
#if HONE_HINT == HONE_HINT_DEFAULT
  asm volatile("st.global.b32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
#else
  asm volatile("st.global.cs.b32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
#endif
}

/// Two neighbours of a row of which `left` columns are left. Most tiles are whole, and run through a copy of the code
/// that asks nothing: it is fetched for every launch, and straight through.
template <bool Whole>
HONE_DEVICE u32 load_pair(const u16* from, i64 left) {
  if (Whole || left > 1) return load_stream(from);
  return left == 1 ? *from : 0;
}
template <bool Whole>
HONE_DEVICE void store_pair(u16* to, i64 left, u32 word) {
  if (Whole || left > 1) {
    store_stream(to, word);
  } else if (left == 1) {
    *to = static_cast<u16>(word);
  }
}

HONE_DEVICE f32 low_of(u32 pair) {
  return f32_of_half(static_cast<u16>(pair));
}
HONE_DEVICE f32 high_of(u32 pair) {
  return f32_of_half(static_cast<u16>(pair >> 16));
}

/// x + x * y, both of a pair.
HONE_DEVICE u32 gate(f32 low, f32 high, u32 y) {
  return word_of_f32(__fmaf_rn(low, low_of(y), low), __fmaf_rn(high, high_of(y), high));
}

constexpr u32 eights = tile_n / 8;  // of a tile's columns

struct Sums {
  f32 of[blocks_m][tile_n / 2];
  u32 bias[eights];

  HONE_DEVICE void hold() {
#pragma unroll
    for (u32 block = 0; block < blocks_m; ++block) wgmma_hold(of[block]);
  }

  template <bool Whole>
  HONE_DEVICE void load_bias(const Consumer& me, i32 n) {
    const u16* from = me.bias + n + me.column();
#pragma unroll
    for (u32 j = 0; j < eights; ++j) bias[j] = load_pair<Whole>(from + j * 8, me.N - n - me.column() - j * 8);
  }

  HONE_DEVICE void begin_with_bias() {
#pragma unroll
    for (u32 j = 0; j < eights; ++j) {
#pragma unroll
      for (u32 block = 0; block < blocks_m; ++block) {
        of[block][4 * j] = of[block][4 * j + 2] = low_of(bias[j]);
        of[block][4 * j + 1] = of[block][4 * j + 3] = high_of(bias[j]);
      }
    }
  }

  /// The result of two columns of the j-th eight, in the first or second half of an instruction's rows; `added` is
  /// their bias, where it was not there from the start.
  HONE_DEVICE u32 result(u32 block, u32 j, u32 half, u32 y, u32 added) const {
    f32 low = of[block][4 * j + 2 * half], high = of[block][4 * j + 2 * half + 1];
    if constexpr (!bias_first) {
      low += low_of(added);
      high += high_of(added);
    }
    return gate(low, high, y);
  }
};

/// y from memory to the places of the sums.
template <bool Whole>
HONE_DEVICE void load_y(const Consumer& me, i32 m, i32 n, u32 (&y)[blocks_m][tile_n / 4]) {
#pragma unroll
  for (u32 block = 0; block < blocks_m; ++block) {
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
      const i64 row = m + static_cast<i64>(me.row(block) + 8 * half);
      if (row < me.M) {
        const u16* from = me.y + row * me.ldy + n + me.column();
#pragma unroll
        for (u32 j = 0; j < eights; ++j)
          y[block][2 * j + half] = load_pair<Whole>(from + j * 8, me.N - n - me.column() - j * 8);
      }
    }
  }
}

template <bool Whole>
HONE_DEVICE void store_direct(const Consumer& me, i32 m, i32 n, const Sums& sums, const u32 (&y)[blocks_m][tile_n / 4]) {
#pragma unroll
  for (u32 block = 0; block < blocks_m; ++block) {
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
      const i64 row = m + static_cast<i64>(me.row(block) + 8 * half);
      if (row < me.M) {
        u16* to = me.out + row * me.ldo + n + me.column();
#pragma unroll
        for (u32 j = 0; j < eights; ++j)
          store_pair<Whole>(to + j * 8, me.N - n - me.column() - j * 8,
                            sums.result(block, j, half, y[block][2 * j + half], sums.bias[j]));
      }
    }
  }
}

/// A block's results into a buffer, from where they are stored; y is there already, or comes along.
HONE_DEVICE void store_shared(const Consumer& me, u32 block, u32 buffer, u32 bias, const Sums& sums,
                              const u32 (&ys)[tile_n / 4]) {
  const u32 row = (pingpong ? 0 : me.group * 64) + me.warp * 16 + me.lane % 16;
  const u32 swizzle = span_n == 64 ? row & 7 : span_n == 32 ? row >> 1 & 3 : row >> 2 & 1;
  const auto place = [&](u32 j) {
    const u32 column = j * 8, panel = column / span_n;
    return buffer + (panel * c_rows + row) * span_n * 2 + ((column % span_n / 8 + me.lane / 16) ^ swizzle) * 16;
  };
  // Some loads of y at a time, so that their latencies overlap.
  constexpr u32 batch = 8;
#pragma unroll
  for (u32 start = 0; start < eights; start += batch) {
    u32 y[batch / 2][4];
#pragma unroll
    for (u32 j = start; j < start + batch && j < eights; j += 2) {
      if constexpr (y_by_tma) {
        matrix_load(y[(j - start) / 2], place(j));
      } else {
#pragma unroll
        for (u32 i = 0; i < 4; ++i) y[(j - start) / 2][i] = ys[2 * j + i];
      }
    }
#pragma unroll
    for (u32 j = start; j < start + batch && j < eights; j += 2) {
      u32 added[2] = {sums.bias[j], sums.bias[j + 1]};
      if constexpr (bias_shared) {
        added[0] = load_shared(bias + (j * 8 + me.column()) * 2);
        added[1] = load_shared(bias + (j * 8 + 8 + me.column()) * 2);
      }
      u32 result[4];
#pragma unroll
      for (u32 i = 0; i < 4; ++i)
        result[i] = sums.result(block, j + i / 2, i % 2, y[(j - start) / 2][i], added[i / 2]);
      matrix_store(place(j), result);
    }
  }
}

/// Each block of the cluster adds up a share of the tile over all of them.
struct Partials {
  u32 parity = 0;

  template <bool Whole>
  HONE_DEVICE void reduce(const Shared& at, const Consumer& me, i32 m, i32 n, const Sums& sums) {
    constexpr u32 row_bytes = groups * 128 * 16;
    const u32 mine = at.partial + (me.group * 128 + me.warp * 32 + me.lane) * 16;
    barrier_wait_cluster(at.partial_empty, parity ^ 1);
#pragma unroll
    for (u32 block = 0; block < blocks_m; ++block) {
#pragma unroll
      for (u32 j = 0; j < eights; ++j)
        asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(mine + (block * eights + j) * row_bytes),
                     "f"(sums.of[block][4 * j]), "f"(sums.of[block][4 * j + 1]), "f"(sums.of[block][4 * j + 2]),
                     "f"(sums.of[block][4 * j + 3])
                     : "memory");
    }
    meet(at.partial_full, me);
    barrier_wait_cluster(at.partial_full, parity);
    parity ^= 1;
#pragma unroll 1
    for (u32 each = cluster_rank(); each < blocks_m * eights; each += split) {
      const u32 block = each / eights, j = each % eights;
      f32 sum[4] = {0, 0, 0, 0};
#pragma unroll
      for (u32 from = 0; from < split; ++from) {
        f32 part[4];
        asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(part[0]), "=f"(part[1]), "=f"(part[2]), "=f"(part[3])
                     : "r"(cluster_address(mine + each * row_bytes, from))
                     : "memory");
#pragma unroll
        for (u32 i = 0; i < 4; ++i) sum[i] += part[i];
      }
      const i64 column = n + static_cast<i64>(j * 8 + me.column());
      const u32 bias = bias_first ? 0 : load_pair<Whole>(me.bias + column, me.N - column);
#pragma unroll
      for (u32 half = 0; half < 2; ++half) {
        const i64 row = m + static_cast<i64>(me.row(block) + 8 * half);
        if (row >= me.M) continue;
        const u32 y = load_pair<Whole>(me.y + row * me.ldy + column, me.N - column);
        store_pair<Whole>(me.out + row * me.ldo + column, me.N - column,
                          gate(sum[2 * half] + low_of(bias), sum[2 * half + 1] + high_of(bias), y));
      }
    }
    meet(at.partial_empty, me);
  }

 private:
  HONE_DEVICE static void meet(u32 barrier, const Consumer& me) {
    __syncwarp();
    if (me.lane < split) barrier_release_cluster(cluster_address(barrier, me.lane));
  }
};

/// One consumer group over its tiles.
HONE_DEVICE void consume(const Shared& at, Work work, const Consumer& me) {
  Sums sums;
  Turn<stages> turn;
  Turn<c_buffers == 0 ? 1 : c_buffers> c_turn;
  Partials partials;
  u32 order_parity = me.group ^ 1, c_order_parity = me.group ^ 1;
  const u32 steps = work.last_k - work.first_k;
  const auto skip_other = [&] {
    turn.skip(steps);
    c_turn.skip(blocks_m);
    work.next();
  };
  const auto release = [&](u32 index) {
    const u32 empty = at.empty + 8 * index;
    if constexpr (cluster == 1 || split > 1) {
      if (me.warp == 0 && me.lane == 0) barrier_arrive(empty);
    } else {
      if (me.warp == 0 && me.lane < cluster) barrier_arrive_cluster(cluster_address(empty, me.lane));
    }
  };
  const auto multiply = [&](bool accumulate) {
    barrier_wait(at.full + 8 * turn.index, turn.parity);
    const u32 a = at.a + turn.index * a_bytes + (pingpong ? 0 : me.group * group_rows * span_k * 2);
    const u32 b = at.b + turn.index * b_bytes;
    wgmma_fence();
#pragma unroll
    for (u32 kk = 0; kk < tile_k / 16; ++kk) {
      const u32 panel = kk * 16 / span_k, within = kk * 16 % span_k;
      const u64 b_tile =
          b_rows_of_n ? wgmma_descriptor(b + kk * 16 * span_n * 2, tile_k * span_n * 2, 8 * span_n * 2, span_n * 2)
                      : wgmma_descriptor(b + panel * tile_n * span_k * 2 + within * 2, 16, 8 * span_k * 2, span_k * 2);
#pragma unroll
      for (u32 block = 0; block < blocks_m; ++block)
        wgmma<tile_n, b_rows_of_n>(sums.of[block],
                                   wgmma_descriptor(a + (panel * tile_m + block * 64) * span_k * 2 + within * 2, 16,
                                                    8 * span_k * 2, span_k * 2),
                                   b_tile, accumulate || kk > 0);
    }
    wgmma_commit();
  };

  if (pingpong && me.group == 1) skip_other();
  while (work.more()) {
    i32 m, n;
    work.place(m, n);
    const bool whole = n + static_cast<i64>(tile_n) <= me.N;
    const bool begun = bias_first && (split == 1 || work.first_k == 0);
    if (!bias_shared && (split == 1 || begun)) {
      if (whole) {
        sums.load_bias<true>(me, n);
      } else {
        sums.load_bias<false>(me, n);
      }
    }
    if (begun) sums.begin_with_bias();
    sums.hold();
    // A barrier's parity tells one phase from the next alone: rings are waited for in the order of their tiles.
    if constexpr (pingpong) {
      barrier_wait(at.order + 8 * me.group, order_parity);
      order_parity ^= 1;
    }
    multiply(begun);
    u32 before = turn.index;
    turn.next();
#pragma unroll 1
    for (u32 step = 1; step < steps; ++step) {
      if constexpr (in_flight == 0) {
        wgmma_wait<0>();
        release(before);
      }
      multiply(true);
      if constexpr (in_flight == 1) {
        wgmma_wait<1>();
        release(before);
      }
      before = turn.index;
      turn.next();
    }
    if (pingpong && me.warp == 0 && me.lane == 0) barrier_arrive(at.order + 8 * (me.group ^ 1));
    u32 y[blocks_m][tile_n / 4];
    if constexpr (!y_by_tma && split == 1) {
      if (whole) {
        load_y<true>(me, m, n, y);
      } else {
        load_y<false>(me, m, n, y);
      }
    }
    wgmma_wait<0>();
    sums.hold();
    release(before);

    if constexpr (split > 1) {
      if (whole) {
        partials.reduce<true>(at, me, m, n, sums);
      } else {
        partials.reduce<false>(at, me, m, n, sums);
      }
    } else if constexpr (store_by_tma) {
      if constexpr (pingpong) {
        barrier_wait(at.c_order + 8 * me.group, c_order_parity);
        c_order_parity ^= 1;
      }
#pragma unroll
      for (u32 block = 0; block < blocks_m; ++block) {
        barrier_wait(at.c_full + 8 * c_turn.index, c_turn.parity);
        if (pingpong && block == blocks_m - 1 && me.warp == 0 && me.lane == 0)
          barrier_arrive(at.c_order + 8 * (me.group ^ 1));
        store_shared(me, block, at.c + c_turn.index * c_bytes, at.bias + c_turn.index * bias_bytes, sums, y[block]);
        async_proxy_fence();
        __syncwarp();
        if (me.lane == 0) barrier_arrive(at.c_ready + 8 * c_turn.index);
        c_turn.next();
      }
    } else if (whole) {
      store_direct<true>(me, m, n, sums, y);
    } else {
      store_direct<false>(me, m, n, sums, y);
    }
    work.next();
    if constexpr (pingpong) skip_other();
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(HONE_THREADS, 1)
    addmm_glu_wgmma(const __grid_constant__ hone_tensor_map a_map, const __grid_constant__ hone_tensor_map b_map,
                    const __grid_constant__ hone_tensor_map y_map, const __grid_constant__ hone_tensor_map out_map,
                    const __grid_constant__ hone_tensor_map bias_map,
                    const u16* bias, const u16* y, u16* out, i64 M, i64 N, i64 K, i64 ldy, i64 ldo) {
  extern __shared__ unsigned char dynamic[];
  const Shared at = lay_out(dynamic);
  const u32 thread = threadIdx.x;
  const u32 group = __shfl_sync(0xFFFFFFFFU, thread / 128, 0);  // the same for the compiler too
  const u32 warp = __shfl_sync(0xFFFFFFFFU, thread / 32 % 4, 0);

  if (thread == 0) {
    tensor_prefetch_map(&a_map);
    tensor_prefetch_map(&b_map);
    if (y_by_tma) tensor_prefetch_map(&y_map);
    if (store_by_tma) tensor_prefetch_map(&out_map);
    if (bias_shared) tensor_prefetch_map(&bias_map);
    for (u32 i = 0; i < stages; ++i) {
      barrier_init(at.full + 8 * i, 1);
      barrier_init(at.empty + 8 * i, split > 1 ? consumers : consumers * cluster);
    }
    for (u32 i = 0; i < groups && pingpong; ++i) {
      barrier_init(at.order + 8 * i, 1);
      barrier_init(at.c_order + 8 * i, 1);
    }
    for (u32 i = 0; i < c_buffers; ++i) {
      barrier_init(at.c_full + 8 * i, 1);
      barrier_init(at.c_ready + 8 * i, 4 * consumers);
    }
    if (split > 1) {
      barrier_init(at.partial_full, 4 * groups * split);
      barrier_init(at.partial_empty, 4 * groups * split);
    }
    barrier_init_fence();
  }
  if constexpr (cluster > 1) {
    cluster_barrier();
  } else {
    __syncthreads();
  }
  if (HONE_OVERLAP) {
    HONE_LET_NEXT_KERNEL_START();
    HONE_WAIT_FOR_EARLIER_KERNELS();
  }

  const u32 rank = cluster == 1 ? 0 : cluster_rank();
  Work work;
  work.tiles_m = (static_cast<u32>(M) + cluster_m * tile_m - 1) / (cluster_m * tile_m);
  work.tiles_n = (static_cast<u32>(N) + cluster_n * tile_n - 1) / (cluster_n * tile_n);
  work.tile = blockIdx.x / cluster;
  work.step = gridDim.x / cluster;
  const u32 steps = (static_cast<u32>(K) + tile_k - 1) / tile_k;
  const u32 part = split > 1 ? rank : 0;
  work.first_k = static_cast<u32>(static_cast<u64>(steps) * part / split);
  work.last_k = static_cast<u32>(static_cast<u64>(steps) * (part + 1) / split);
  work.rank_m = split > 1 ? 0 : rank % cluster_m;
  work.rank_n = split > 1 ? 0 : rank / cluster_m;
  work.a_rows = cluster_n == 1 && M < tile_m ? (static_cast<u32>(M) + 7) / 8 * 8 : tile_m / cluster_n;

  // The producer's group has registers to give; a lone consumer group has enough.
  if (group == 0) {
    if constexpr (groups == 2) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if constexpr (groups == 3) asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
    if (warp == 0 && thread % 32 == 0) produce(at, work, &a_map, &b_map);
    if (c_buffers > 0 && warp == 1 && thread % 32 == 0) carry(at, work, &y_map, &out_map, &bias_map);
  } else {
    if constexpr (groups == 2) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    if constexpr (groups == 3) asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
    consume(at, work, Consumer{bias, y, out, M, N, ldy, ldo, group - 1, warp, thread % 32});
  }
  // A block's shared memory stays until nobody of the cluster reads it or arrives there.
  if constexpr (cluster > 1) cluster_barrier();
}
