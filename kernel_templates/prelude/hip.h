// The prelude for hipRTC, and for clang without HIP's headers; prelude.h says what each name means.
#ifndef HONE_PRELUDE_HIP_H
#define HONE_PRELUDE_HIP_H

#define HONE_DEVICE __attribute__((device)) __attribute__((always_inline)) inline
#define HONE_KERNEL(name, ...)                                                                              \
  extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, HONE_MAX_THREADS))) void \
  name(__VA_ARGS__)
#define HONE_KERNEL_WITH_BARRIERS(name, ...) HONE_KERNEL(name, __VA_ARGS__)

#define HONE_THREAD_X __builtin_amdgcn_workitem_id_x()
#define HONE_THREAD_Y __builtin_amdgcn_workitem_id_y()
#define HONE_THREAD_Z __builtin_amdgcn_workitem_id_z()
#define HONE_BLOCK_SIZE_X static_cast<u32>(__builtin_amdgcn_workgroup_size_x())
#define HONE_BLOCK_SIZE_Y static_cast<u32>(__builtin_amdgcn_workgroup_size_y())
#define HONE_BLOCK_SIZE_Z static_cast<u32>(__builtin_amdgcn_workgroup_size_z())
#define HONE_BLOCK_INDEX_X __builtin_amdgcn_workgroup_id_x()
#define HONE_BLOCK_INDEX_Y __builtin_amdgcn_workgroup_id_y()
#define HONE_BLOCK_INDEX_Z __builtin_amdgcn_workgroup_id_z()
// The dispatch packet counts threads; HIP launches whole blocks.
#define HONE_BLOCK_COUNT_X (__builtin_amdgcn_grid_size_x() / HONE_BLOCK_SIZE_X)
#define HONE_BLOCK_COUNT_Y (__builtin_amdgcn_grid_size_y() / HONE_BLOCK_SIZE_Y)
#define HONE_BLOCK_COUNT_Z (__builtin_amdgcn_grid_size_z() / HONE_BLOCK_SIZE_Z)

#define HONE_SHARED static __attribute__((shared))
#define HONE_DYNAMIC_SHARED(type, name)                                                             \
  extern __attribute__((shared)) __attribute__((aligned(16))) unsigned char hone_dynamic_shared_[]; \
  type* const name = reinterpret_cast<type*>(hone_dynamic_shared_)
#define HONE_BARRIER()                                     \
  do {                                                     \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier();                          \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
  } while (0)

#define HONE_WAIT_FOR_EARLIER_KERNELS() static_cast<void>(0)
#define HONE_LET_NEXT_KERNEL_START() static_cast<void>(0)

#define HONE_FOR_EACH(i, count)                                                                  \
  for (i64 i = static_cast<i64>(HONE_BLOCK_INDEX_X) * HONE_BLOCK_SIZE_X + HONE_THREAD_X,         \
           hone_step_ = static_cast<i64>(__builtin_amdgcn_grid_size_x()), hone_count_ = (count); \
       i < hone_count_; i += hone_step_)

#define HONE_ATOMIC_ADD(pointer, value) \
  __hip_atomic_fetch_add(pointer, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define HONE_ATOMIC_MIN(pointer, value) \
  __hip_atomic_fetch_min(pointer, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)

#endif
