// A slab is the part of A or B that one step over k multiplies: TILE_K of k and a tile's rows of A or columns
// of B, in LDS. Its rows are stretches of global memory, along k (A, and B of layout nt) or along n (B of
// layout nn), in slots of 16 bytes that may be permuted against bank conflicts:
//
//   rows, slots, pitch     rows, slots of a row, bytes from row to row
//   source(row)            which of the matrix's rows it is, from the slab's first
//   key(row)               slot s of the matrix's row lies in slot s ^ key
//   period                 rows after which sources and keys go on as before
//   fragments(slab, ...)   a lane's operands of the multiplications of one depth
#ifndef HONE_MFMA_SLAB_H
#define HONE_MFMA_SLAB_H

#include "amd_buffer.h"
#include "amd_matrix.h"

typedef hone_matrix<HONE_MFMA> matrix;

enum : u32 {
// Bytes that a thread brings to LDS at a time.
#if HONE_LOAD == HONE_LOAD_ASYNC && !defined(__gfx950__)
  access = 4,
#else
  access = 16,
#endif
  threads = 64 * HONE_WARPS_M * HONE_WARPS_N,
  size = HONE_MFMA,
  // A wave's accumulators are `rows` by `columns` matrices. Its columns of out are dealt out so that a lane
  // has `vector` of them side by side, one from each of as many matrices.
  rows = HONE_TILE_M / HONE_WARPS_M / size,
  columns = HONE_TILE_N / HONE_WARPS_N / size,
  vector = columns % 8 == 0   ? 8
           : columns % 4 == 0 ? 4
                              : 2,
  groups = columns / vector,
  padding = HONE_LDS == HONE_LDS_PAD ? 16 : 0,
  swizzled = HONE_LDS == HONE_LDS_SWIZZLE,
};
static_assert(HONE_TILE_M % (HONE_WARPS_M * size) == 0 && HONE_TILE_N % (HONE_WARPS_N * size * 2) == 0,
              "a wave's tile is of whole matrices, and an even number along n");
static_assert(HONE_TILE_K % matrix::depth == 0, "a step is of whole multiplications");

/// Rows along k. Those of a wave's matrix are neighbours, `Vector` apart in the source.
template <u32 Rows, u32 Vector>
struct slab_along_k {
  enum : u32 {
    rows = Rows,
    slots = HONE_TILE_K / 8,
    pitch = HONE_TILE_K * 2 + padding,
    bytes = rows * pitch,
    rows_of_all_banks = slots < 8 ? 8 / slots : 1,
    keys = !swizzled   ? 1
           : slots < 8 ? slots
                       : 8,
    period = Vector > 1 ? size* Vector : 8,
  };

  HONE_DEVICE static u32 source(u32 row) {
    const u32 within = row % (size * Vector);
    return row - within + within % size * Vector + within / size;
  }
  HONE_DEVICE static u32 key(u32 row) { return row / rows_of_all_banks % keys; }

  template <u32 Count>
  HONE_DEVICE static void fragments(const u8* slab, u32 wave, u32 lane, u32 step,
                                    hone_pack<16> (&fragment)[Count]) {
    const u32 first = wave * Count * size + lane % size;
    // Matrices begin at multiples of the key's period.
    const u32 slot = (step * (matrix::depth / 8) + lane / size) ^ key(lane % size);
#pragma unroll
    for (u32 i = 0; i < Count; ++i)
      fragment[i] = hone_load<16, hone_plain>(slab + (first + i * size) * pitch + slot * 16);
  }
};

/// Rows along n: fragments are transposed on the way to registers.
template <u32 Columns>
struct slab_along_n {
  enum : u32 {
    rows = HONE_TILE_K,
    slots = Columns / 8,
    pitch = Columns * 2 + padding,
    bytes = rows * pitch,
    period = 16,
  };

  HONE_DEVICE static u32 source(u32 row) { return row; }
  // Lanes that read at the same time are 8 rows apart.
  HONE_DEVICE static u32 key(u32 row) { return swizzled && slots % 8 == 0 ? row / 8 % 2 * 4 : 0; }

  template <u32 Count>
  HONE_DEVICE static void fragments(const u8* slab, u32 wave, u32 lane, u32 step,
                                    hone_pack<16> (&fragment)[Count]) {
    const u32 row = step * matrix::depth + lane / size * 8;
#pragma unroll
    for (u32 group = 0; group < groups; ++group) {
      const u32 byte = ((wave * groups + group) * size + lane % size) * vector * 2;
      const u8* const from = slab + row * pitch + (byte ^ key(row) * 16);
      hone_pack<2 * vector> line[8];
#pragma unroll
      for (u32 k = 0; k < 8; ++k) line[k] = hone_load<2 * vector, hone_plain>(from + k * pitch);
#pragma unroll
      for (u32 k = 0; k < 8; k += 2) {
#pragma unroll
        for (u32 pair = 0; pair < vector / 2; ++pair) {
          const u32 even = line[k].word[pair];
          const u32 odd = line[k + 1].word[pair];
          hone_pack<16>* const to = fragment + group * vector + 2 * pair;
          to[0].word[k / 2] = __builtin_amdgcn_perm(odd, even, 0x05040100);
          to[1].word[k / 2] = __builtin_amdgcn_perm(odd, even, 0x07060302);
        }
      }
    }
  }
};

typedef slab_along_k<HONE_TILE_M, 1> slab_a;
#if defined(HONE_LAYOUT_NT)
typedef slab_along_k<HONE_TILE_N, vector> slab_b;
#else
typedef slab_along_n<HONE_TILE_N> slab_b;
#endif

enum : u32 { nowhere = 0xFFFFFFF0 };  // an offset beyond any descriptor's bytes

/// A descriptor of a matrix from some address on, with so many bytes left, or as many as offsets reach.
HONE_DEVICE hone_buffer buffer_of(const u8* address, i64 left) {
  const u32 low = static_cast<u32>(left);
  // In halves, since the scalar unit compares no 64 bits by size.
  return hone_buffer_of(address, left >> 32 != 0 || low > nowhere ? nowhere : low);
}

/// A tile's rows of A or columns of B, from its first element to the matrix's last.
struct panel {
  const u8* first;
  i64 bytes;
  i64 step;   ///< bytes from slab to slab
  u32 pitch;  ///< bytes from row to row

  HONE_DEVICE hone_buffer slab(i64 index) const {
    return buffer_of(first + index * step, bytes - index * step);
  }
};

/// Where a thread's accesses go. Those of a wave are neighbours in LDS, as loads past the
/// registers want them, so the source is what the permutations permute.
template <typename Slab>
struct slab_copy {
  enum : u32 {
    accesses = Slab::rows * Slab::slots * 16 / access / threads,
    rows_apart = threads * access / 16 / Slab::slots,  // from access to access
    regular = threads * access % (16 * Slab::slots) == 0 && rows_apart % Slab::period == 0,
  };
  static_assert(Slab::rows * Slab::slots * 16 % (access * threads) == 0, "threads share a slab evenly");

  HONE_DEVICE static u32 in_matrix(u32 i, u32 thread, u32 pitch) {
    if (regular && i > 0) return in_matrix(0, thread, pitch) + i * rows_apart * pitch;
    const u32 byte = (i * threads + thread) * access;
    const u32 row = byte / 16 / Slab::slots;
    const u32 slot = byte / 16 % Slab::slots ^ Slab::key(row);
    return Slab::source(row) * pitch + slot * 16 + byte % 16;
  }
  HONE_DEVICE static u32 in_shared(u32 i, u32 thread) {
    const u32 slot = i * threads + thread;
    return slot / Slab::slots * Slab::pitch + slot % Slab::slots * 16;
  }

  HONE_DEVICE static void load(const panel& from, i64 index, u32 thread, hone_pack<16> (&packs)[accesses]) {
    const hone_buffer buffer = from.slab(index);
#pragma unroll
    for (u32 i = 0; i < accesses; ++i)
      packs[i] = hone_buffer_load<16, hone_buffer_plain>(buffer, in_matrix(i, thread, from.pitch));
  }
  HONE_DEVICE static void store(u8* slab, u32 thread, const hone_pack<16> (&packs)[accesses]) {
#pragma unroll
    for (u32 i = 0; i < accesses; ++i) hone_store<16, hone_plain>(slab + in_shared(i, thread), packs[i]);
  }
  HONE_DEVICE static void load_to_shared(const panel& from, i64 index, u32 thread, u32 wave_in_slab) {
    const hone_buffer buffer = hone_buffer_settled(from.slab(index));
#pragma unroll
    for (u32 i = 0; i < accesses; ++i) {
      hone_buffer_to_shared<access>(buffer, in_matrix(i, thread, from.pitch),
                                    wave_in_slab + i * threads * access);
    }
  }

  /// A slab that the matrix's end cuts, or whose rows allow no wider accesses: it has `valid_rows` rows of
  /// `valid_columns` elements, and the rest is zero.
  HONE_DEVICE static void copy_checked(const panel& from, i64 index, bool even, i64 valid_rows,
                                       i64 valid_columns, u32 thread, u8* slab) {
    const u8* const first = from.first + index * from.step;
#pragma nounroll
    for (u32 i = thread; i < Slab::rows * Slab::slots; i += threads) {
      const u32 row = i / Slab::slots;
      const u32 column = (i % Slab::slots ^ Slab::key(row)) * 8;
      const u32 source = Slab::source(row);
      const u8* const at = first + static_cast<i64>(source) * from.pitch + column * 2;
      hone_pack<16> pack{};
      if (source < valid_rows && column < valid_columns) {
        if (even && column + 8 <= valid_columns) {
#pragma unroll
          for (u32 word = 0; word < 4; ++word)
            pack.word[word] = hone_load<4, hone_plain>(at + word * 4).word[0];
        } else {
#pragma unroll
          for (u32 element = 0; element < 8; ++element) {
            if (column + element < valid_columns)
              pack.word[element / 2] |= hone_load<2, hone_plain>(at + element * 2).word[0]
                                        << element % 2 * 16;
          }
        }
      }
      hone_store<16, hone_plain>(slab + row * Slab::pitch + i % Slab::slots * 16, pack);
    }
  }
};

#endif
