// addmm_glu by CDNA's matrix instructions. A block computes a tile of TILE_M x TILE_N, its waves WARPS_M x
// WARPS_N parts of it, in steps of TILE_K through STAGES buffers of LDS. Accesses go through descriptors that
// end with their matrices, so that rows beyond the last are zero, or are not written. Slabs that the end of K
// cuts are copied with checks, after the others.
#define HONE_MAX_THREADS (64 * HONE_WARPS_M * HONE_WARPS_N)
#include "mfma_slab.h"
#include "through_f32.h"
#include "tile_order.h"

typedef slab_copy<slab_a> copy_a;
typedef slab_copy<slab_b> copy_b;
typedef matrix::accumulator accumulators[rows][columns];

enum : u32 {
  stage_bytes = static_cast<u32>(slab_a::bytes) + static_cast<u32>(slab_b::bytes),
  loads_of_step = static_cast<u32>(copy_a::accesses) + static_cast<u32>(copy_b::accesses),
  line = 2 * vector,  // bytes of out that a lane has side by side
};

constexpr hone_buffer_hint stream = HONE_HINT == HONE_HINT_NT ? hone_buffer_nt : hone_buffer_plain;

struct problem {
  const u8 *a, *b, *bias, *y;
  u8* out;
  i64 m, n, k, lda, ldb, ldy, ldo;

  /// Rows begin at multiples of 4 bytes, as the descriptors want it.
  HONE_DEVICE bool even() const { return ((lda | ldb | ldy | ldo) & 1) == 0; }
  HONE_DEVICE u32 tiles_m() const { return static_cast<u32>((m + HONE_TILE_M - 1) / HONE_TILE_M); }
  HONE_DEVICE u32 tiles_n() const { return static_cast<u32>((n + HONE_TILE_N - 1) / HONE_TILE_N); }
  HONE_DEVICE u32 tiles() const { return tiles_m() * tiles_n(); }
};

/// A value that is the same in all lanes, in a scalar register: where descriptors have to be, and quotients
/// are not.
HONE_DEVICE u32 scalar(u32 value) {
  return __builtin_amdgcn_readfirstlane(value);
}

/// The bytes from row to row, anew for each tile: what follows from them would else be kept from tile to
/// tile, in more registers than there are.
HONE_DEVICE u32 pitch_of(i64 elements) {
  u32 bytes = static_cast<u32>(elements) * 2;
  asm volatile("" : "+s"(bytes));
  return bytes;
}

/// What a thread is.
struct place {
  u32 thread, wave, lane, wave_m, wave_n;

  HONE_DEVICE explicit place(u32 index) {
    thread = index;
    wave = scalar(index / 64);
    lane = index % 64;
    wave_m = wave / HONE_WARPS_N;
    wave_n = wave % HONE_WARPS_N;
  }
  /// Where in a tile of out a lane's first accumulator is, and its first of a group.
  HONE_DEVICE u32 row() const { return wave_m * rows * size + matrix::first_row(lane); }
  HONE_DEVICE u32 column(u32 group) const {
    return ((wave_n * groups + group) * size + lane % size) * vector;
  }
};

/// Workgroups go to the XCDs in turn. Gives each XCD runs of CHUNK tiles that follow one another.
HONE_DEVICE u32 of_xcd(u32 tile, u32 tiles) {
  if constexpr (HONE_XCDS > 1) {
    const u32 round = HONE_XCDS * HONE_CHUNK;
    const u32 turn = tile / HONE_XCDS;
    if (tile < tiles / round * round)
      return turn / HONE_CHUNK * round + tile % HONE_XCDS * HONE_CHUNK + turn % HONE_CHUNK;
  }
  return tile;
}

struct tile_of_out {
  i64 row, column;
  u32 steps;  // over k
  u32 whole;  // of them, those before any that the matrices' ends cut
  panel a, b;

  HONE_DEVICE tile_of_out(const problem& p, u32 index) {
    const TilePlace at = grouped_tile(of_xcd(index, p.tiles()), p.tiles_m(), p.tiles_n(), HONE_GROUP_M);
    row = static_cast<i64>(scalar(at.row)) * HONE_TILE_M;
    column = static_cast<i64>(scalar(at.column)) * HONE_TILE_N;
    a = {p.a + row * p.lda * 2, ((p.m - 1 - row) * p.lda + p.k) * 2, HONE_TILE_K * 2,
         static_cast<u32>(p.lda * 2)};
    steps = static_cast<u32>((p.k + HONE_TILE_K - 1) / HONE_TILE_K);
    whole = static_cast<u32>(p.k / HONE_TILE_K);
#if defined(HONE_LAYOUT_NT)
    b = {p.b + column * p.ldb * 2, ((p.n - 1 - column) * p.ldb + p.k) * 2, HONE_TILE_K * 2,
         static_cast<u32>(p.ldb * 2)};
#else
    b = {p.b + column * 2, ((p.k - 1) * p.ldb + p.n - column) * 2, HONE_TILE_K * p.ldb * 2,
         static_cast<u32>(p.ldb * 2)};
    // The last access of the last row that has elements to give must not reach over the matrix's end.
    const i64 left = p.n - column;
    const i64 wide = access / 2;
    const i64 needed = left < HONE_TILE_N ? (left + wide - 1) / wide * wide : HONE_TILE_N;
    const i64 end = ((static_cast<i64>(whole) * HONE_TILE_K - 1) * p.ldb + needed) * 2;
    if (whole > 0 && end > b.bytes) --whole;
#endif
    if (!p.even()) whole = 0;
  }
};

HONE_DEVICE void barrier() {
  asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
  __builtin_amdgcn_s_barrier();
  asm volatile("" ::: "memory");
}

template <int Level>
HONE_DEVICE void raise_priority() {
  if constexpr (HONE_PRIORITY != 0) __builtin_amdgcn_s_setprio(HONE_PRIORITY == Level ? 1 : 0);
}

/// Brings slabs to LDS, those of later steps while one is multiplied.
class pipeline {
 public:
  HONE_DEVICE pipeline(u8* shared, const place& self) : shared_(shared), self_(self) {}

  /// Starts the first loads of a tile. No wave may still read LDS.
  HONE_DEVICE void begin(const tile_of_out& tile) {
#if HONE_LOAD == HONE_LOAD_ASYNC
#pragma unroll
    for (u32 step = 0; step + 1 < HONE_STAGES; ++step) {
      if (step < tile.whole) load(tile, step);
    }
#else
    if (tile.whole > 0) load(tile, 0);
#endif
  }

  /// The step's slabs, A's and then B's, once they are there for the whole block; they stay until the next
  /// call.
  HONE_DEVICE const u8* slabs(const problem& p, const tile_of_out& tile, u32 step) {
    if (step >= tile.whole) {
      copy_checked(p, tile, step);
      return shared_;
    }
    u8* const slabs = buffer(step);
#if HONE_LOAD == HONE_LOAD_ASYNC
    if constexpr (HONE_STAGES == 1) {
      barrier();
      load(tile, step);
      hone_wait_for_loads<0>();
      barrier();
    } else {
      // Of the loads that are on their way, the step's are the oldest.
      if (step + HONE_STAGES - 2 < tile.whole) {
        hone_wait_for_loads<static_cast<int>(loads_of_step) * (HONE_STAGES - 2)>();
      } else {
        hone_wait_for_loads<0>();
      }
      barrier();
      if (step + HONE_STAGES - 1 < tile.whole) load(tile, step + HONE_STAGES - 1);
    }
#else
    if constexpr (HONE_STAGES == 1) barrier();
    copy_a::store(slabs, self_.thread, packs_a_);
    copy_b::store(slabs + slab_a::bytes, self_.thread, packs_b_);
    barrier();
    if (step + 1 < tile.whole) load(tile, step + 1);
#endif
    return slabs;
  }

 private:
  HONE_DEVICE u8* buffer(u32 step) const {
    return shared_ + step % HONE_STAGES * stage_bytes;
  }

  HONE_DEVICE void load(const tile_of_out& tile, u32 step) {
#if HONE_LOAD == HONE_LOAD_ASYNC
    // Made scalar here, so that the addresses below are one addition each, and none is kept from call to
    // call.
    const u32 slabs = scalar(hone_shared_address(buffer(step)) + self_.wave * 64 * access);
    copy_a::load_to_shared(tile.a, step, self_.thread, slabs);
    copy_b::load_to_shared(tile.b, step, self_.thread, slabs + slab_a::bytes);
#else
    copy_a::load(tile.a, step, self_.thread, packs_a_);
    copy_b::load(tile.b, step, self_.thread, packs_b_);
#endif
  }

  HONE_DEVICE void copy_checked(const problem& p, const tile_of_out& tile, u32 step) {
    const i64 k = p.k - static_cast<i64>(step) * HONE_TILE_K;
    barrier();
    copy_a::copy_checked(tile.a, step, p.even(), p.m - tile.row, k, self_.thread, shared_);
#if defined(HONE_LAYOUT_NT)
    copy_b::copy_checked(tile.b, step, p.even(), p.n - tile.column, k, self_.thread, shared_ + slab_a::bytes);
#else
    copy_b::copy_checked(tile.b, step, p.even(), k, p.n - tile.column, self_.thread, shared_ + slab_a::bytes);
#endif
    barrier();
  }

  u8* const shared_;
  const place& self_;
#if HONE_LOAD == HONE_LOAD_REGISTERS
  hone_pack<16> packs_a_[copy_a::accesses];
  hone_pack<16> packs_b_[copy_b::accesses];
#endif
};

HONE_DEVICE void multiply(const u8* slabs, const place& self, accumulators& sum) {
  raise_priority<2>();
#pragma unroll
  for (u32 step = 0; step < HONE_TILE_K / matrix::depth; ++step) {
    hone_pack<16> a[rows];
    hone_pack<16> b[columns];
    slab_a::fragments(slabs, self.wave_m, self.lane, step, a);
    slab_b::fragments(slabs + slab_a::bytes, self.wave_n, self.lane, step, b);
#pragma unroll
    for (u32 i = 0; i < rows; ++i) {
#pragma unroll
      for (u32 j = 0; j < columns; ++j) sum[i][j] = matrix::multiply(a[i], b[j], sum[i][j]);
    }
  }
  raise_priority<1>();
}

HONE_DEVICE f32 element_of(const hone_pack<line>& pack, u32 j) {
  return f32_of_half(static_cast<u16>(pack.word[j / 2] >> j % 2 * 16));
}

/// A tile's biases, y and out. Where `lines`, a lane's columns of a group are all in the matrix or all
/// outside, and move at once.
class epilogue {
 public:
  HONE_DEVICE epilogue(const problem& p, const tile_of_out& tile, const place& self)
      : p_(p), tile_(tile), self_(self) {
    lines_ = p.even() && (p.n % vector == 0 || tile.column + HONE_TILE_N <= p.n);
  }

  HONE_DEVICE void load_bias(hone_pack<line> (&bias)[groups]) const {
    const i64 left = p_.n - tile_.column;
    const hone_buffer buffer = hone_buffer_of(p_.bias + tile_.column * 2,
                                              static_cast<u32>(left < HONE_TILE_N ? left : HONE_TILE_N) * 2);
#pragma unroll
    for (u32 group = 0; group < groups; ++group) {
      const u32 offset = self_.column(group) * 2;
      bias[group] = lines_ ? hone_buffer_load<line, hone_buffer_plain>(buffer, offset)
                           : load_elements<hone_buffer_plain>(buffer, offset);
    }
  }

  /// All of y: before the last multiplications, which hide how long it takes.
  HONE_DEVICE void load_y() {
    if (lines_) {
      load_all_y<true>();
    } else {
      load_all_y<false>();
    }
  }

  HONE_DEVICE void finish(const accumulators& x) {
    if (lines_) {
      finish_by<true>(x);
    } else {
      finish_by<false>(x);
    }
  }

 private:
  /// What is left of a matrix from the tile's first element on. Rows after the last lie beyond it, columns do
  /// not.
  HONE_DEVICE hone_buffer rest_of(const u8* matrix, i64 pitch) const {
    return buffer_of(matrix + (tile_.row * pitch + tile_.column) * 2,
                     ((p_.m - 1 - tile_.row) * pitch + p_.n - tile_.column) * 2);
  }

  HONE_DEVICE bool has(u32 column) const {
    return column < p_.n - tile_.column;
  }

  template <hone_buffer_hint Hint>
  HONE_DEVICE static hone_pack<line> load_elements(hone_buffer buffer, u32 offset) {
    hone_pack<line> pack{};
#pragma unroll
    for (u32 j = 0; j < vector; ++j)
      pack.word[j / 2] |= hone_buffer_load<2, Hint>(buffer, offset + j * 2).word[0] << j % 2 * 16;
    return pack;
  }

  /// Of the i-th matrices. y of columns outside is some other element's, and is not used.
  template <bool Lines>
  HONE_DEVICE void load_y_by(u32 i) {
    const u32 pitch = pitch_of(p_.ldy);
    const hone_buffer buffer = rest_of(p_.y, p_.ldy);
#pragma unroll
    for (u32 group = 0; group < groups; ++group) {
      const u32 column = self_.column(group);
      const u32 first = self_.row() * pitch + column * 2;
#pragma unroll
      for (u32 r = 0; r < matrix::registers; ++r) {
        const u32 offset = first + (i * size + matrix::rows_down(r)) * pitch;
        hone_pack<line>& y = y_[i % y_ahead][r][group];
        if constexpr (Lines) {
          y = hone_buffer_load<line, stream>(buffer, has(column) ? offset : nowhere);
        } else {
          y = load_elements<stream>(buffer, offset);
        }
      }
    }
  }

  template <bool Lines>
  HONE_DEVICE void load_all_y() {
#pragma unroll
    for (u32 i = 0; i < rows; ++i) load_y_by<Lines>(i);
  }

  template <bool Lines>
  HONE_DEVICE void finish_by(const accumulators& x) {
    if constexpr (!y_is_early) load_y_by<Lines>(0);
#pragma unroll
    for (u32 i = 0; i < rows; ++i) {
      if (!y_is_early && i + 1 < rows) load_y_by<Lines>(i + 1);
      store_by<Lines>(x[i], i);
    }
  }

  template <bool Lines>
  HONE_DEVICE void store_by(const matrix::accumulator (&x)[columns], u32 i) const {
    const u32 pitch = pitch_of(p_.ldo);
    const hone_buffer buffer = rest_of(p_.out, p_.ldo);
#pragma unroll
    for (u32 group = 0; group < groups; ++group) {
      const u32 column = self_.column(group);
      const u32 first = self_.row() * pitch + column * 2;
#pragma unroll
      for (u32 r = 0; r < matrix::registers; r += 2) {
        // Two rows at a time, whose sums are neighbours.
        const hone_pack<line> y[2] = {y_[i % y_ahead][r][group], y_[i % y_ahead][r + 1][group]};
        hone_f32x2 out[vector];
#pragma unroll
        for (u32 j = 0; j < vector; ++j) {
          const matrix::accumulator& sums = x[group * vector + j];
          const hone_f32x2 sum{sums[r], sums[r + 1]};
          out[j] = hone_fma(sum, hone_f32x2{element_of(y[0], j), element_of(y[1], j)}, sum);
        }
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
          const u32 offset = first + (i * size + matrix::rows_down(r + half)) * pitch;
          hone_pack<line> pack;
#pragma unroll
          for (u32 j = 0; j < vector; j += 2) pack.word[j / 2] = word_of_f32(out[j][half], out[j + 1][half]);
          if constexpr (Lines) {
            hone_buffer_store<line, stream>(buffer, has(column) ? offset : nowhere, pack);
          } else {
#pragma unroll
            for (u32 j = 0; j < vector; ++j) {
              hone_buffer_store<2, stream>(buffer, has(column + j) ? offset + j * 2 : nowhere,
                                           hone_pack<2>{{pack.word[j / 2] >> j % 2 * 16}});
            }
          }
        }
      }
    }
  }

  enum : u32 {
    y_is_early = HONE_Y_PATH == HONE_Y_PATH_EARLY,
    y_ahead = y_is_early || rows == 1 ? static_cast<u32>(rows) : 2,  // matrices whose y is in registers
  };

  const problem& p_;
  const tile_of_out& tile_;
  const place& self_;
  bool lines_;
  hone_pack<line> y_[y_ahead][matrix::registers][groups];
};

HONE_DEVICE void add(accumulators& x, const hone_pack<line> (&bias)[groups]) {
#pragma unroll
  for (u32 j = 0; j < columns; ++j) {
    const f32 value = element_of(bias[j / vector], j % vector);
#pragma unroll
    for (u32 i = 0; i < rows; ++i) x[i][j] += value;
  }
}

#if HONE_WAVES_PER_EU > 0
extern "C" __attribute__((global)) __attribute__((amdgpu_waves_per_eu(HONE_WAVES_PER_EU))) void
addmm_glu_mfma(const u8* a, const u8* b, const u8* bias, const u8* y, u8* out, i64 m, i64 n, i64 k, i64 lda,
               i64 ldb, i64 ldy, i64 ldo);
#endif

HONE_KERNEL(addmm_glu_mfma, const u8* a, const u8* b, const u8* bias, const u8* y, u8* out, i64 m, i64 n,
            i64 k, i64 lda, i64 ldb, i64 ldy, i64 ldo) {
  HONE_SHARED __attribute__((aligned(16))) u8 shared[HONE_STAGES * stage_bytes];
  const problem p{a, b, bias, y, out, m, n, k, lda, ldb, ldy, ldo};
  const place self(HONE_THREAD_X);
  pipeline loads(shared, self);
  const u32 blocks = scalar(HONE_BLOCK_COUNT_X);
  u32 index = HONE_BLOCK_INDEX_X;
  tile_of_out tile(p, index);
  loads.begin(tile);
  bool more;
  do {
    accumulators x;
    hone_pack<line> biases[groups];
    const tile_of_out current = tile;
    epilogue gate(p, current, self);
#pragma unroll
    for (u32 i = 0; i < rows; ++i) {
#pragma unroll
      for (u32 j = 0; j < columns; ++j) x[i][j] = matrix::accumulator(0);
    }
    if constexpr (HONE_BIAS == HONE_BIAS_FIRST) {
      gate.load_bias(biases);
      add(x, biases);
    }
#pragma nounroll
    for (u32 step = 0; step + 1 < current.steps; ++step) multiply(loads.slabs(p, current, step), self, x);
    const u8* const last = loads.slabs(p, current, current.steps - 1);
    if constexpr (HONE_Y_PATH == HONE_Y_PATH_EARLY) gate.load_y();
    multiply(last, self, x);

    more = false;
    if constexpr (HONE_PERSISTENT > 0) {
      index += blocks;
      more = index < p.tiles();
      if (more) {
        tile = tile_of_out(p, index);
        barrier();
        loads.begin(tile);
      }
    }
    if constexpr (HONE_BIAS == HONE_BIAS_LAST) {
      gate.load_bias(biases);
      add(x, biases);
    }
    gate.finish(x);
  } while (more);
}
