// What a kernel's source may use on every backend: one `simt` source then serves CUDA, HIP and the host. Kept
// small, without standard headers, since the run-time compilers parse it for every configuration.
//
//   HONE_KERNEL(name, arguments...) { ... }
//       a kernel: an extern "C" entry of that name, launched with at most HONE_MAX_THREADS threads a block
//   HONE_KERNEL_WITH_BARRIERS(name, arguments...) { ... }
//       the same for a kernel that calls HONE_BARRIER(): the host runs its lanes as fibres and not as a loop
//   HONE_DEVICE
//       before a function that kernels call
//   HONE_MAX_THREADS
//       define it before including this file; by default HONE_BLOCK, without that 1024
//
// Inside a kernel's own braces (the host passes them in a hidden argument; give called functions their
// values):
//
//   HONE_THREAD_X, _Y, _Z         the thread within its block
//   HONE_BLOCK_SIZE_X, _Y, _Z     threads a block has
//   HONE_BLOCK_INDEX_X, _Y, _Z    the block within the grid
//   HONE_BLOCK_COUNT_X, _Y, _Z    blocks the grid has
//   HONE_SHARED float tile[32];   memory that a block's threads share; uninitialised, no constructors
//   HONE_DYNAMIC_SHARED(float, tile);
//       `float* tile`: the launch's dynamic shared bytes, aligned to 16; once a kernel
//   HONE_BARRIER();
//       waits for every thread of the block; shared memory written before it is seen after it
//   HONE_WAIT_FOR_EARLIER_KERNELS();
//       waits until the stream's earlier kernels are done and what they wrote is seen. A launch that may overlap
//       them (the manifest's `overlap`) calls it in every thread before it touches memory; elsewhere it costs
//       nothing
//   HONE_LET_NEXT_KERNEL_START();
//       once all blocks said so or ended, a next kernel that waits as above may start; a hint
//   HONE_FOR_EACH(i, count) { ... }
//       visits each i64 i in [0, count) once over all threads of a one-dimensional grid: neighbours side by
//       side on a GPU, a stretch a lane on the host
//
// Anywhere in device code:
//
//   HONE_ATOMIC_ADD(pointer, value), HONE_ATOMIC_MIN(pointer, value)
//       on u32 and u64 in global memory, relaxed
//   i8 i16 i32 i64 u8 u16 u32 u64 f32 f64
//       types by their size
//   hone_bits<To>(from)
//       the same bits as another type
#ifndef HONE_PRELUDE_H
#define HONE_PRELUDE_H

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;

#if !defined(HONE_MAX_THREADS)
#if defined(HONE_BLOCK)
#define HONE_MAX_THREADS HONE_BLOCK
#else
#define HONE_MAX_THREADS 1024
#endif
#endif

#if defined(HONE_BACKEND_HOST)
#include "host.h"
#elif defined(HONE_BACKEND_CUDA)
#include "cuda.h"
#elif defined(HONE_BACKEND_HIP)
#include "hip.h"
#else
#error "define HONE_BACKEND_HOST, HONE_BACKEND_CUDA or HONE_BACKEND_HIP"
#endif

template <typename To, typename From>
HONE_DEVICE To hone_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "hone_bits needs types of one size");
  union {
    From from;
    To to;
  } both;
  both.from = from;
  return both.to;
}

#endif
