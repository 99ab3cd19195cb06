// Loads and stores of 1 to 16 bytes of global memory under a cache hint; an address is a multiple of the
// size.
//
//   hone_pack<Bytes>                   the bytes in 32-bit words; one zero-extended word below 4 bytes
//   hone_load<Bytes, Hint>(address)
//   hone_store<Bytes, Hint>(address, pack)
//
// Hints, and the backends that have them:
//
//   hone_plain           all
//   hone_nt              non-temporal. CUDA: .cs; HIP: nontemporal; host: stores of 16 bytes (x86-64)
//   hone_evict_first     CUDA from sm_80: L2 policy evict_first
//   hone_evict_last      CUDA from sm_80: L2 policy evict_last
#ifndef HONE_ACCESS_H
#define HONE_ACCESS_H

#include "prelude.h"

enum hone_hint {
  hone_plain,
  hone_nt,
  hone_evict_first,
  hone_evict_last,
};

template <int Bytes>
struct hone_pack {
  enum { words = Bytes < 4 ? 1 : Bytes / 4 };
  u32 word[words];
};

#if defined(HONE_BACKEND_CUDA)

template <hone_hint Hint>
HONE_DEVICE u64 hone_cache_policy() {
  u64 policy;
  if constexpr (Hint == hone_evict_first) {
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  } else {
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  }
  return policy;
}

// `suffix` follows ld.global; `operand` and what comes after it carry a cache policy.
#define HONE_PTX_LOAD(suffix, operand, ...)                                                                 \
  if constexpr (Bytes == 1) {                                                                               \
    asm volatile("ld.global" suffix ".u8 %0, [%1]" operand(2) ";" : "=r"(w[0]) : "l"(address)__VA_ARGS__);  \
  } else if constexpr (Bytes == 2) {                                                                        \
    asm volatile("ld.global" suffix ".u16 %0, [%1]" operand(2) ";" : "=r"(w[0]) : "l"(address)__VA_ARGS__); \
  } else if constexpr (Bytes == 4) {                                                                        \
    asm volatile("ld.global" suffix ".u32 %0, [%1]" operand(2) ";" : "=r"(w[0]) : "l"(address)__VA_ARGS__); \
  } else if constexpr (Bytes == 8) {                                                                        \
    asm volatile("ld.global" suffix ".v2.u32 {%0, %1}, [%2]" operand(3) ";"                                 \
                 : "=r"(w[0]), "=r"(w[1])                                                                   \
                 : "l"(address)__VA_ARGS__);                                                                \
  } else {                                                                                                  \
    asm volatile("ld.global" suffix ".v4.u32 {%0, %1, %2, %3}, [%4]" operand(5) ";"                         \
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])                                           \
                 : "l"(address)__VA_ARGS__);                                                                \
  }
#define HONE_PTX_STORE(suffix, operand, ...)                                                            \
  if constexpr (Bytes == 1) {                                                                           \
    asm volatile("st.global" suffix ".u8 [%0], %1" operand(2) ";" ::"l"(address), "r"(w[0])__VA_ARGS__  \
                 : "memory");                                                                           \
  } else if constexpr (Bytes == 2) {                                                                    \
    asm volatile("st.global" suffix ".u16 [%0], %1" operand(2) ";" ::"l"(address), "r"(w[0])__VA_ARGS__ \
                 : "memory");                                                                           \
  } else if constexpr (Bytes == 4) {                                                                    \
    asm volatile("st.global" suffix ".u32 [%0], %1" operand(2) ";" ::"l"(address), "r"(w[0])__VA_ARGS__ \
                 : "memory");                                                                           \
  } else if constexpr (Bytes == 8) {                                                                    \
    asm volatile("st.global" suffix ".v2.u32 [%0], {%1, %2}" operand(3) ";" ::"l"(address), "r"(w[0]),  \
                 "r"(w[1])__VA_ARGS__                                                                   \
                 : "memory");                                                                           \
  } else {                                                                                              \
    asm volatile("st.global" suffix ".v4.u32 [%0], {%1, %2, %3, %4}" operand(5) ";" ::"l"(address),     \
                 "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])__VA_ARGS__                                  \
                 : "memory");                                                                           \
  }
#define HONE_PTX_NO_POLICY(position)
#define HONE_PTX_POLICY(position) ", %" #position

template <int Bytes, hone_hint Hint>
HONE_DEVICE hone_pack<Bytes> hone_load(const void* address) {
  hone_pack<Bytes> pack;
  u32* w = pack.word;
  if constexpr (Hint == hone_plain) {
    if constexpr (Bytes == 1) w[0] = *static_cast<const u8*>(address);
    if constexpr (Bytes == 2) w[0] = *static_cast<const u16*>(address);
    if constexpr (Bytes == 4) w[0] = *static_cast<const u32*>(address);
    if constexpr (Bytes == 8) {
      const uint2 v = *static_cast<const uint2*>(address);
      w[0] = v.x, w[1] = v.y;
    }
    if constexpr (Bytes == 16) {
      const uint4 v = *static_cast<const uint4*>(address);
      w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
    }
  } else if constexpr (Hint == hone_nt) {
    HONE_PTX_LOAD(".cs", HONE_PTX_NO_POLICY)
  } else {
    static_assert(Hint == hone_evict_first || Hint == hone_evict_last, "no hint of loads");
    HONE_PTX_LOAD(".L2::cache_hint", HONE_PTX_POLICY, , "l"(hone_cache_policy<Hint>()))
  }
  return pack;
}

template <int Bytes, hone_hint Hint>
HONE_DEVICE void hone_store(void* address, const hone_pack<Bytes>& pack) {
  const u32* w = pack.word;
  if constexpr (Hint == hone_plain) {
    if constexpr (Bytes == 1) *static_cast<u8*>(address) = static_cast<u8>(w[0]);
    if constexpr (Bytes == 2) *static_cast<u16*>(address) = static_cast<u16>(w[0]);
    if constexpr (Bytes == 4) *static_cast<u32*>(address) = w[0];
    if constexpr (Bytes == 8) *static_cast<uint2*>(address) = make_uint2(w[0], w[1]);
    if constexpr (Bytes == 16) *static_cast<uint4*>(address) = make_uint4(w[0], w[1], w[2], w[3]);
  } else if constexpr (Hint == hone_nt) {
    HONE_PTX_STORE(".cs", HONE_PTX_NO_POLICY)
  } else {
    static_assert(Hint == hone_evict_first || Hint == hone_evict_last, "no hint of stores");
    HONE_PTX_STORE(".L2::cache_hint", HONE_PTX_POLICY, , "l"(hone_cache_policy<Hint>()))
  }
}

#elif defined(HONE_BACKEND_HIP)

template <int Bytes>
struct hone_unit;
template <>
struct hone_unit<1> {
  typedef u8 type;
};
template <>
struct hone_unit<2> {
  typedef u16 type;
};
template <>
struct hone_unit<4> {
  typedef u32 type;
};
template <>
struct hone_unit<8> {
  typedef u32 type __attribute__((ext_vector_type(2)));
};
template <>
struct hone_unit<16> {
  typedef u32 type __attribute__((ext_vector_type(4)));
};

template <int Bytes>
HONE_DEVICE hone_pack<Bytes> hone_pack_of(typename hone_unit<Bytes>::type unit) {
  hone_pack<Bytes> pack;
  if constexpr (Bytes <= 4) {
    pack.word[0] = unit;
  } else {
    for (int i = 0; i < Bytes / 4; ++i) pack.word[i] = unit[i];
  }
  return pack;
}

template <int Bytes>
HONE_DEVICE typename hone_unit<Bytes>::type hone_unit_of(const hone_pack<Bytes>& pack) {
  typename hone_unit<Bytes>::type unit;
  if constexpr (Bytes <= 4) {
    unit = static_cast<typename hone_unit<Bytes>::type>(pack.word[0]);
  } else {
    for (int i = 0; i < Bytes / 4; ++i) unit[i] = pack.word[i];
  }
  return unit;
}

template <int Bytes, hone_hint Hint>
HONE_DEVICE hone_pack<Bytes> hone_load(const void* address) {
  static_assert(Hint == hone_plain || Hint == hone_nt, "no hint of loads");
  const auto* from = static_cast<const typename hone_unit<Bytes>::type*>(address);
  if constexpr (Hint == hone_nt) {
    return hone_pack_of<Bytes>(__builtin_nontemporal_load(from));
  } else {
    return hone_pack_of<Bytes>(*from);
  }
}

template <int Bytes, hone_hint Hint>
HONE_DEVICE void hone_store(void* address, const hone_pack<Bytes>& pack) {
  static_assert(Hint == hone_plain || Hint == hone_nt, "no hint of stores");
  auto* to = static_cast<typename hone_unit<Bytes>::type*>(address);
  if constexpr (Hint == hone_nt) {
    __builtin_nontemporal_store(hone_unit_of(pack), to);
  } else {
    *to = hone_unit_of(pack);
  }
}

#else

template <int Bytes, hone_hint Hint>
HONE_DEVICE hone_pack<Bytes> hone_load(const void* address) {
  static_assert(Hint == hone_plain, "no hint of loads");
  hone_pack<Bytes> pack{};
  __builtin_memcpy(pack.word, address, Bytes);
  return pack;
}

template <int Bytes, hone_hint Hint>
HONE_DEVICE void hone_store(void* address, const hone_pack<Bytes>& pack) {
  static_assert(Hint == hone_plain || (Hint == hone_nt && Bytes == 16), "no hint of stores");
#if defined(__SSE2__)
  if constexpr (Hint == hone_nt) {
    typedef long long quads __attribute__((vector_size(16)));
    quads value;
    __builtin_memcpy(&value, pack.word, 16);
#if defined(__clang__)
    __builtin_nontemporal_store(value, static_cast<quads*>(address));
#else
    __builtin_ia32_movntdq(static_cast<quads*>(address), value);
#endif
    return;
  }
#endif
  __builtin_memcpy(address, pack.word, Bytes);
}

#endif
#endif
