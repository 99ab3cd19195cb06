// CDNA's matrix instructions on square tiles of f32 accumulators, for f16 and bf16.
//
//   hone_matrix<Size>                Size 16 or 32
//       ::depth                      what a multiplication covers of k: 8 * 64 / Size
//       ::registers                  accumulators of a tile in a lane
//       ::accumulator                their vector
//       ::multiply(a, b, c)          c + a*b
//       ::first_row(lane)            row of a lane's first accumulator; the column of all is lane % Size
//       ::rows_down(r)               how far below is its r-th
//
// A fragment, hone_pack<16>, is a lane's part of an operand: of row (of b: column) lane % Size the 8 elements
// from k = 8 * (lane / Size) on. That is what gfx950's instructions take; those before it have half the depth
// and take its halves one after the other, in another order of k than theirs, which a sum over k does not
// see.
#ifndef HONE_AMD_MATRIX_H
#define HONE_AMD_MATRIX_H

#include "access.h"

typedef f32 hone_f32x2 __attribute__((ext_vector_type(2)));
typedef f32 hone_f32x4 __attribute__((ext_vector_type(4)));
typedef f32 hone_f32x16 __attribute__((ext_vector_type(16)));

#if defined(__gfx950__)
#if defined(HONE_ELEMENT_F16)
typedef _Float16 hone_matrix_operand __attribute__((ext_vector_type(8)));
#define HONE_MFMA_16 __builtin_amdgcn_mfma_f32_16x16x32_f16
#define HONE_MFMA_32 __builtin_amdgcn_mfma_f32_32x32x16_f16
#else
typedef __bf16 hone_matrix_operand __attribute__((ext_vector_type(8)));
#define HONE_MFMA_16 __builtin_amdgcn_mfma_f32_16x16x32_bf16
#define HONE_MFMA_32 __builtin_amdgcn_mfma_f32_32x32x16_bf16
#endif
#else
#if defined(HONE_ELEMENT_F16)
typedef _Float16 hone_matrix_operand __attribute__((ext_vector_type(4)));
#define HONE_MFMA_16 __builtin_amdgcn_mfma_f32_16x16x16f16
#define HONE_MFMA_32 __builtin_amdgcn_mfma_f32_32x32x8f16
#else
typedef short hone_matrix_operand __attribute__((ext_vector_type(4)));
#define HONE_MFMA_16 __builtin_amdgcn_mfma_f32_16x16x16bf16_1k
#define HONE_MFMA_32 __builtin_amdgcn_mfma_f32_32x32x8bf16_1k
#endif
#endif

template <int Size>
struct hone_accumulator;
template <>
struct hone_accumulator<16> {
  typedef hone_f32x4 type;
};
template <>
struct hone_accumulator<32> {
  typedef hone_f32x16 type;
};

template <int Size>
struct hone_matrix {
  enum : u32 { depth = 8 * 64 / Size, registers = Size * Size / 64 };
  typedef typename hone_accumulator<Size>::type accumulator;

  HONE_DEVICE static accumulator multiply(const hone_pack<16>& a, const hone_pack<16>& b, accumulator c) {
    enum : u32 { operands = sizeof(hone_pack<16>) / sizeof(hone_matrix_operand) };
    struct operand {
      hone_matrix_operand part[operands];
    };
    const operand from_a = hone_bits<operand>(a);
    const operand from_b = hone_bits<operand>(b);
#pragma unroll
    for (u32 i = 0; i < operands; ++i) {
      if constexpr (Size == 16) {
        c = HONE_MFMA_16(from_a.part[i], from_b.part[i], c, 0, 0, 0);
      } else {
        c = HONE_MFMA_32(from_a.part[i], from_b.part[i], c, 0, 0, 0);
      }
    }
    return c;
  }

  HONE_DEVICE static u32 first_row(u32 lane) {
    return lane / Size * 4;
  }
  HONE_DEVICE static u32 rows_down(u32 r) {
    return r / 4 * (4 * 64 / Size) + r % 4;
  }
};

/// a * b + c of two numbers by one instruction; by its name, since hipRTC 5's clang has no builtin for it.
__attribute__((device)) hone_f32x2 hone_fma(hone_f32x2 a, hone_f32x2 b, hone_f32x2 c) __asm("llvm.fma.v2f32");

#endif
