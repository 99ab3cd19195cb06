// The prelude for NVRTC; prelude.h says what each name means.
#ifndef HONE_PRELUDE_CUDA_H
#define HONE_PRELUDE_CUDA_H

#define HONE_DEVICE __device__ __forceinline__
#define HONE_KERNEL(name, ...) \
  extern "C" __global__ void __launch_bounds__(HONE_MAX_THREADS) name(__VA_ARGS__)
#define HONE_KERNEL_WITH_BARRIERS(name, ...) HONE_KERNEL(name, __VA_ARGS__)

#define HONE_THREAD_X threadIdx.x
#define HONE_THREAD_Y threadIdx.y
#define HONE_THREAD_Z threadIdx.z
#define HONE_BLOCK_SIZE_X blockDim.x
#define HONE_BLOCK_SIZE_Y blockDim.y
#define HONE_BLOCK_SIZE_Z blockDim.z
#define HONE_BLOCK_INDEX_X blockIdx.x
#define HONE_BLOCK_INDEX_Y blockIdx.y
#define HONE_BLOCK_INDEX_Z blockIdx.z
#define HONE_BLOCK_COUNT_X gridDim.x
#define HONE_BLOCK_COUNT_Y gridDim.y
#define HONE_BLOCK_COUNT_Z gridDim.z

#define HONE_SHARED __shared__
#define HONE_DYNAMIC_SHARED(type, name)                                 \
  extern __shared__ __align__(16) unsigned char hone_dynamic_shared_[]; \
  type* const name = reinterpret_cast<type*>(hone_dynamic_shared_)
#define HONE_BARRIER() __syncthreads()

#if __CUDA_ARCH__ >= 900
#define HONE_WAIT_FOR_EARLIER_KERNELS() asm volatile("griddepcontrol.wait;" ::: "memory")
#define HONE_LET_NEXT_KERNEL_START() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#else
#define HONE_WAIT_FOR_EARLIER_KERNELS() static_cast<void>(0)
#define HONE_LET_NEXT_KERNEL_START() static_cast<void>(0)
#endif

#define HONE_FOR_EACH(i, count)                                                          \
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x,                  \
           hone_step_ = static_cast<i64>(gridDim.x) * blockDim.x, hone_count_ = (count); \
       i < hone_count_; i += hone_step_)

#define HONE_ATOMIC_ADD(pointer, value) atomicAdd(pointer, value)
#define HONE_ATOMIC_MIN(pointer, value) atomicMin(pointer, value)

#endif
