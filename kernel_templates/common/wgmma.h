// Hopper's warpgroup matrix instructions: a warpgroup multiplies two tiles of shared memory, asynchronously.
//
//   wgmma<N, TransposedB>(d, a, b, accumulate)   d (64 x N, f32) = or += a (64 x 16) * b (16 x N), of the problem's
//                                                element type; descriptors a and b from wgmma_descriptor()
//
// A thread holds d[4 j + 2 h + e] = row 16 (warp % 4) + lane / 4 + 8 h, column 8 j + 2 (lane % 4) + e.
// `a` has rows of k; `b` has rows of k (one a column), or rows of n (one a k) where it is transposed. N: 16 to 256 by
// 16. Between wgmma_fence() and wgmma_wait() nothing else may touch d.
#ifndef HONE_WGMMA_H
#define HONE_WGMMA_H

#include "prelude.h"

/// Of a tile whose rows are `swizzle` bytes (128, 64 or 32) wide and swizzled so. `stride`: bytes from 8 rows to the
/// next 8; `leading`: bytes from one such column of rows to the next, for a transposed operand.
HONE_DEVICE u64 wgmma_descriptor(u32 address, u32 leading, u32 stride, u32 swizzle) {
  const u64 mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
  return static_cast<u64>((address & 0x3FFFFU) >> 4) | static_cast<u64>(leading >> 4) << 16 |
         static_cast<u64>(stride >> 4) << 32 | mode << 62;
}

/// Keeps the compiler from moving what computes d across this: before the wgmma that accumulate into it, and after
/// they were waited for.
template <int Count>
HONE_DEVICE void wgmma_hold(f32 (&d)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

/// Before the first wgmma after this thread wrote the registers of d.
HONE_DEVICE void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
HONE_DEVICE void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Until at most `Pending` committed groups are not done.
template <int Pending>
HONE_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

template <int N, bool TransposedB>
struct hone_wgmma;

#if defined(HONE_ELEMENT_F16)
#define HONE_WGMMA_TYPES "k16.f32.f16.f16 {"
#else
#define HONE_WGMMA_TYPES "k16.f32.bf16.bf16 {"
#endif

// The accumulators' operand numbers and registers for each width; the first three operands are the others.
#define HONE_WGMMA_D16 "%3, %4, %5, %6, %7, %8, %9, %10"
#define HONE_WGMMA_D32 HONE_WGMMA_D16 ", %11, %12, %13, %14, %15, %16, %17, %18"
#define HONE_WGMMA_D48 HONE_WGMMA_D32 ", %19, %20, %21, %22, %23, %24, %25, %26"
#define HONE_WGMMA_D64 HONE_WGMMA_D48 ", %27, %28, %29, %30, %31, %32, %33, %34"
#define HONE_WGMMA_D80 HONE_WGMMA_D64 ", %35, %36, %37, %38, %39, %40, %41, %42"
#define HONE_WGMMA_D96 HONE_WGMMA_D80 ", %43, %44, %45, %46, %47, %48, %49, %50"
#define HONE_WGMMA_D112 HONE_WGMMA_D96 ", %51, %52, %53, %54, %55, %56, %57, %58"
#define HONE_WGMMA_D128 HONE_WGMMA_D112 ", %59, %60, %61, %62, %63, %64, %65, %66"
#define HONE_WGMMA_D144 HONE_WGMMA_D128 ", %67, %68, %69, %70, %71, %72, %73, %74"
#define HONE_WGMMA_D160 HONE_WGMMA_D144 ", %75, %76, %77, %78, %79, %80, %81, %82"
#define HONE_WGMMA_D176 HONE_WGMMA_D160 ", %83, %84, %85, %86, %87, %88, %89, %90"
#define HONE_WGMMA_D192 HONE_WGMMA_D176 ", %91, %92, %93, %94, %95, %96, %97, %98"
#define HONE_WGMMA_D208 HONE_WGMMA_D192 ", %99, %100, %101, %102, %103, %104, %105, %106"
#define HONE_WGMMA_D224 HONE_WGMMA_D208 ", %107, %108, %109, %110, %111, %112, %113, %114"
#define HONE_WGMMA_D240 HONE_WGMMA_D224 ", %115, %116, %117, %118, %119, %120, %121, %122"
#define HONE_WGMMA_D256 HONE_WGMMA_D240 ", %123, %124, %125, %126, %127, %128, %129, %130"
#define HONE_WGMMA_R(j) "+f"(d[8 * j]), "+f"(d[8 * j + 1]), "+f"(d[8 * j + 2]), "+f"(d[8 * j + 3]), "+f"(d[8 * j + 4]), \
    "+f"(d[8 * j + 5]), "+f"(d[8 * j + 6]), "+f"(d[8 * j + 7])
#define HONE_WGMMA_R16 HONE_WGMMA_R(0)
#define HONE_WGMMA_R32 HONE_WGMMA_R16, HONE_WGMMA_R(1)
#define HONE_WGMMA_R48 HONE_WGMMA_R32, HONE_WGMMA_R(2)
#define HONE_WGMMA_R64 HONE_WGMMA_R48, HONE_WGMMA_R(3)
#define HONE_WGMMA_R80 HONE_WGMMA_R64, HONE_WGMMA_R(4)
#define HONE_WGMMA_R96 HONE_WGMMA_R80, HONE_WGMMA_R(5)
#define HONE_WGMMA_R112 HONE_WGMMA_R96, HONE_WGMMA_R(6)
#define HONE_WGMMA_R128 HONE_WGMMA_R112, HONE_WGMMA_R(7)
#define HONE_WGMMA_R144 HONE_WGMMA_R128, HONE_WGMMA_R(8)
#define HONE_WGMMA_R160 HONE_WGMMA_R144, HONE_WGMMA_R(9)
#define HONE_WGMMA_R176 HONE_WGMMA_R160, HONE_WGMMA_R(10)
#define HONE_WGMMA_R192 HONE_WGMMA_R176, HONE_WGMMA_R(11)
#define HONE_WGMMA_R208 HONE_WGMMA_R192, HONE_WGMMA_R(12)
#define HONE_WGMMA_R224 HONE_WGMMA_R208, HONE_WGMMA_R(13)
#define HONE_WGMMA_R240 HONE_WGMMA_R224, HONE_WGMMA_R(14)
#define HONE_WGMMA_R256 HONE_WGMMA_R240, HONE_WGMMA_R(15)

#define HONE_WGMMA_AS(N, transposed, immediate)                                                        \
  template <>                                                                                          \
  struct hone_wgmma<N, transposed> {                                                                   \
    static HONE_DEVICE void run(f32 (&d)[N / 2], u64 a, u64 b, i32 accumulate) {                       \
      asm volatile(                                                                                    \
          "{\n.reg .pred accumulate;\nsetp.ne.b32 accumulate, %2, 0;\n"                                \
          "wgmma.mma_async.sync.aligned.m64n" #N HONE_WGMMA_TYPES HONE_WGMMA_D##N                      \
          "}, %0, %1, accumulate, 1, 1, 0, " immediate ";\n}"                                          \
          : "+l"(a), "+l"(b), "+r"(accumulate), HONE_WGMMA_R##N);                                      \
    }                                                                                                  \
  };
#define HONE_WGMMA(N) HONE_WGMMA_AS(N, false, "0") HONE_WGMMA_AS(N, true, "1")

HONE_WGMMA(16) HONE_WGMMA(32) HONE_WGMMA(48) HONE_WGMMA(64)
HONE_WGMMA(80) HONE_WGMMA(96) HONE_WGMMA(112) HONE_WGMMA(128)
HONE_WGMMA(144) HONE_WGMMA(160) HONE_WGMMA(176) HONE_WGMMA(192)
HONE_WGMMA(208) HONE_WGMMA(224) HONE_WGMMA(240) HONE_WGMMA(256)

template <int N, bool TransposedB>
HONE_DEVICE void wgmma(f32 (&d)[N / 2], u64 a, u64 b, bool accumulate) {
  hone_wgmma<N, TransposedB>::run(d, a, b, accumulate ? 1 : 0);
}

#endif
