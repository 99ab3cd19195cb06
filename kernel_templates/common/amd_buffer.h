// Buffer accesses of gfx9 through a descriptor with a range check: a load beyond its bytes gives zero and a
// store there vanishes. Let none straddle the end: it is dropped whole.
//
//   hone_buffer_of(address, bytes)                   a descriptor of so many bytes from an address; both have
//                                                    to be the same in all lanes
//   hone_buffer_load<Bytes, Hint>(buffer, offset)    2, 4, 8 or 16 bytes at an offset in bytes; the address
//   hone_buffer_store<Bytes, Hint>(buffer, offset,   is a multiple of 4, for 2 bytes of 2
//                                  pack)
//   hone_buffer_to_shared<Bytes>(settled, offset,    past the registers to shared memory, from the address
//                                shared)             `shared` (the same in all lanes) on, lane after lane: 4
//                                                    bytes, on gfx950 also 16
//   hone_buffer_settled(buffer)                      the descriptor that this wants
//   hone_wait_for_loads<Left>()                      waits until at most the wave's latest Left loads and
//                                                    stores are on their way; nothing else waits for these
//   hone_shared_address(pointer)                     of shared memory, as instructions count it
//
// Hints are named after gfx942's bits. Architectures before it have glc for sc0 and slc for sc1; both
// together are non-temporal there.
#ifndef HONE_AMD_BUFFER_H
#define HONE_AMD_BUFFER_H

#include "access.h"

typedef u32 hone_buffer __attribute__((ext_vector_type(4)));

enum hone_buffer_hint {
  hone_buffer_plain = 0,
  hone_buffer_sc0 = 1,
#if defined(__gfx942__) || defined(__gfx950__)
  hone_buffer_nt = 2,
  hone_buffer_sc1 = 16,
#else
  hone_buffer_nt = 3,
  hone_buffer_sc1 = 2,
#endif
};

/// The intrinsics, by their names: the clang of hipRTC 5 has no builtins for them. `lane` and `block` are
/// offsets, the latter the same in all lanes.
template <int Bytes>
struct hone_raw_buffer;
#define HONE_RAW_BUFFER(bytes, suffix)                                                                 \
  template <>                                                                                          \
  struct hone_raw_buffer<bytes> {                                                                      \
    typedef hone_unit<bytes>::type unit;                                                               \
    __attribute__((device)) static unit load(hone_buffer buffer, u32 lane, u32 block,                  \
                                             u32 hint) __asm("llvm.amdgcn.raw.buffer.load." suffix);   \
    __attribute__((device)) static void store(unit value, hone_buffer buffer, u32 lane, u32 block,     \
                                              u32 hint) __asm("llvm.amdgcn.raw.buffer.store." suffix); \
  };
HONE_RAW_BUFFER(2, "i16")
HONE_RAW_BUFFER(4, "i32")
HONE_RAW_BUFFER(8, "v2i32")
HONE_RAW_BUFFER(16, "v4i32")
#undef HONE_RAW_BUFFER

HONE_DEVICE hone_buffer hone_buffer_of(const void* address, u32 bytes) {
  const u64 base = reinterpret_cast<u64>(address);
  const u32 flags = 0x00027000;  // 32-bit data; no stride, so that the record count is in bytes
  return hone_buffer{static_cast<u32>(base), static_cast<u32>(base >> 32), bytes, flags};
}

template <int Bytes, hone_buffer_hint Hint>
HONE_DEVICE hone_pack<Bytes> hone_buffer_load(hone_buffer buffer, u32 offset) {
  return hone_pack_of<Bytes>(hone_raw_buffer<Bytes>::load(buffer, offset, 0, Hint));
}

template <int Bytes, hone_buffer_hint Hint>
HONE_DEVICE void hone_buffer_store(hone_buffer buffer, u32 offset, const hone_pack<Bytes>& pack) {
  hone_raw_buffer<Bytes>::store(hone_unit_of(pack), buffer, offset, 0, Hint);
}

HONE_DEVICE u32 hone_shared_address(const void* pointer) {
  return (u32)(__attribute__((address_space(3))) const u8*)pointer;
}

/// A descriptor as assembly has to find it: in scalar registers, and the five states since the vector unit
/// wrote them over that a load wants.
HONE_DEVICE hone_buffer hone_buffer_settled(hone_buffer buffer) {
#pragma unroll
  for (int i = 0; i < 4; ++i) buffer[i] = __builtin_amdgcn_readfirstlane(buffer[i]);
  asm volatile("s_nop 4" : "+s"(buffer));
  return buffer;
}

// Assembly, since the compiler lets every later read of shared memory wait for its builtin's loads, all of
// them. M0 wants one state of waiting after it was written.
template <int Bytes>
HONE_DEVICE void hone_buffer_to_shared(hone_buffer buffer, u32 offset, u32 shared) {
  static_assert(Bytes == 4 || Bytes == 16, "no width of loads to shared memory");
#define HONE_BUFFER_TO_SHARED(load)                                                                      \
  asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\t" load " %1, %2, 0 offen lds" ::"s"(shared), "v"(offset), \
               "s"(buffer)                                                                               \
               : "memory")
  if constexpr (Bytes == 4) {
    HONE_BUFFER_TO_SHARED("buffer_load_dword");
  } else {
    HONE_BUFFER_TO_SHARED("buffer_load_dwordx4");
  }
#undef HONE_BUFFER_TO_SHARED
}

template <int Left>
HONE_DEVICE void hone_wait_for_loads() {
  asm volatile("s_waitcnt vmcnt(%0)" ::"n"(Left < 63 ? Left : 63) : "memory");
}

#endif
