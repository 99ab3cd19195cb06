// addmm_glu without matrix instructions, on every backend, at any alignment: a block stages tiles of A and B
// in shared memory, as f32, and each of its threads has HONE_MICRO_M x HONE_MICRO_N elements of out. On the
// host a block is one lane that does the work of all threads, so that no fibres wait for each other.
#define HONE_MAX_THREADS (HONE_TILE_M / HONE_MICRO_M * (HONE_TILE_N / HONE_MICRO_N))
#include "prelude.h"
#include "through_f32.h"
#include "tile_order.h"

enum : u32 {
  tile_m = HONE_TILE_M,
  tile_n = HONE_TILE_N,
  tile_k = HONE_TILE_K,
  micro_m = HONE_MICRO_M,
  micro_n = HONE_MICRO_N,
  threads_n = tile_n / micro_n,
  threads = tile_m / micro_m * threads_n,
#if defined(HONE_BACKEND_HOST)
  lanes = 1,
  row_step = 1,
  column_step = 1,
#else
  lanes = threads,
  // Neighbouring threads have neighbouring columns.
  row_step = tile_m / micro_m,
  column_step = threads_n,
#endif
};

struct Matrix {
  const u16* first;
  i64 stride;  // elements from row to row
};

/// Tiles by k; a column more than they have keeps the threads that fill one of them in banks of their own.
struct Stage {
  f32 a[tile_k][tile_m + 1];
  f32 b[tile_k][tile_n + 1];
};

/// The first row and column of a thread's micro-tile within the tile.
HONE_DEVICE u32 row_of(u32 thread) {
  return thread / threads_n * (row_step == 1 ? static_cast<u32>(micro_m) : 1);
}
HONE_DEVICE u32 column_of(u32 thread) {
  return thread % threads_n * (column_step == 1 ? static_cast<u32>(micro_n) : 1);
}

/// Fills `to` from a matrix whose rows lie along k; zeros beyond its `rows` and `depth`.
template <u32 Width>
HONE_DEVICE void stage_rows(const Matrix& from, i64 row, i64 rows, i64 k, i64 depth, u32 lane,
                            f32 (&to)[tile_k][Width + 1]) {
  for (u32 i = lane; i < Width * tile_k; i += lanes) {
    const u32 at = i / tile_k;
    const u32 step = i % tile_k;
    const bool inside = row + at < rows && k + step < depth;
    to[step][at] = inside ? f32_of_half(from.first[(row + at) * from.stride + k + step]) : 0;
  }
}

/// The same of a matrix whose columns lie along k.
template <u32 Width>
HONE_DEVICE void stage_columns(const Matrix& from, i64 column, i64 columns, i64 k, i64 depth, u32 lane,
                               f32 (&to)[tile_k][Width + 1]) {
  for (u32 i = lane; i < Width * tile_k; i += lanes) {
    const u32 at = i % Width;
    const u32 step = i / Width;
    const bool inside = column + at < columns && k + step < depth;
    to[step][at] = inside ? f32_of_half(from.first[(k + step) * from.stride + column + at]) : 0;
  }
}

HONE_DEVICE void multiply(const Stage& stage, u32 row, u32 column, f32 (&sums)[micro_m][micro_n]) {
  constexpr int unroll = HONE_UNROLL;
#pragma unroll unroll
  for (u32 k = 0; k < tile_k; ++k) {
#pragma unroll
    for (u32 i = 0; i < micro_m; ++i) {
      const f32 left = stage.a[k][row + i * row_step];
#pragma unroll
      for (u32 j = 0; j < micro_n; ++j) sums[i][j] += left * stage.b[k][column + j * column_step];
    }
  }
}

HONE_KERNEL_WITH_BARRIERS(addmm_glu_simt, const u16* a, const u16* b, const u16* bias, const u16* y, u16* out,
                          i64 m, i64 n, i64 depth, i64 lda, i64 ldb, i64 ldy, i64 ldo) {
  HONE_SHARED Stage stage;
  const auto tiles_m = static_cast<u32>((m + tile_m - 1) / tile_m);
  const auto tiles_n = static_cast<u32>((n + tile_n - 1) / tile_n);
  const TilePlace tile = grouped_tile(HONE_BLOCK_INDEX_X, tiles_m, tiles_n, HONE_GROUP_M);
  const i64 row = static_cast<i64>(tile.row) * tile_m;
  const i64 column = static_cast<i64>(tile.column) * tile_n;
  const u32 lane = HONE_THREAD_X;

  f32 sums[threads / lanes][micro_m][micro_n] = {};
  for (i64 k = 0; k < depth; k += tile_k) {
    stage_rows<tile_m>({a, lda}, row, m, k, depth, lane, stage.a);
#if defined(HONE_LAYOUT_NT)
    stage_rows<tile_n>({b, ldb}, column, n, k, depth, lane, stage.b);
#else
    stage_columns<tile_n>({b, ldb}, column, n, k, depth, lane, stage.b);
#endif
    HONE_BARRIER();
    for (u32 turn = 0; turn < threads / lanes; ++turn) {
      const u32 thread = lane + turn * lanes;
      multiply(stage, row_of(thread), column_of(thread), sums[turn]);
    }
    HONE_BARRIER();
  }

  for (u32 turn = 0; turn < threads / lanes; ++turn) {
    const u32 thread = lane + turn * lanes;
#pragma unroll
    for (u32 i = 0; i < micro_m; ++i) {
#pragma unroll
      for (u32 j = 0; j < micro_n; ++j) {
        const i64 r = row + row_of(thread) + i * row_step;
        const i64 c = column + column_of(thread) + j * column_step;
        if (r >= m || c >= n) continue;
        const f32 x = sums[turn][i][j] + f32_of_half(bias[c]);
        out[r * ldo + c] = half_of_f32(x * f32_of_half(y[r * ldy + c]) + x);
      }
    }
  }
}
