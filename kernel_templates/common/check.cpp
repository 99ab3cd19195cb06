// The kernels that check a kernel: they fill, poison and compare buffers on the device, of any size and at
// any address. Each takes a one-dimensional grid of any number of blocks of HONE_BLOCK threads (about eight a
// compute unit is fast), is asynchronous like any launch, and adds what it finds to a result in device
// memory.
//
//   hone_fill(void* to, i64 elements, i32 element, i32 fill, u64 seed)
//       to[i] = hone_fill_bits(element, fill, seed, i); see fill.h
//   hone_poison(void* to, const void* reference, i64 bytes)
//       to = ~reference: every byte differs from the right one
//   hone_compare_bits(const void* out, const void* reference, i64 elements, i32 element_size, u64* result)
//       result[0] += the number of elements of 1, 2, 4 or 8 bytes that differ,
//       result[1] = min(result[1], the first one's index)
//   hone_poison_numbers(void* to, const f64* reference, i64 elements, i32 element)
//       to[i] = NaN where reference[i] is a number or marked hone_unsampled (marks.h), bytes of 0xA5 where it
//       is marked hone_untouched, else 0
//   hone_compare_numbers(const void* out, const f64* reference, i64 elements, i32 element, f64 absolute,
//                        f64 relative, u64* result, u64* gaps)
//       the same as hone_compare_bits for elements with |out - reference| > absolute + relative *
//       |reference|. An infinity agrees with its like alone, and a NaN with a NaN; where the reference is
//       marked hone_unsampled, every number is right and NaN is not. `reference` is aligned. `gaps` is a
//       result of its own: elements marked hone_untouched that are no longer what hone_poison_numbers made
//       them
//   hone_check_bytes(const void* region, i64 bytes, i32 sentinel, u64* result)
//       the same for bytes that are not the sentinel
//   hone_check_fill(const void* buffer, i64 elements, i32 element, i32 fill, u64 seed, u64* result)
//       the same for elements that are not what hone_fill writes
//
// The caller sets result[0] to 0 and result[1] to ~0 before.
//
// Those that write let the next kernel start at once and take their time: one that may overlap them and does
// not wait for them is then found to be wrong.
#include "fill.h"
#include "marks.h"
#include "prelude.h"

namespace {

enum { chunk = 16 };  // bytes a thread handles at once
constexpr f64 largest = 1.7976931348623157e308;

// The host's compiler takes seconds when it inlines and vectorises these.
#if defined(HONE_BACKEND_HOST)
#define RARE __attribute__((noinline, cold))
#define OFTEN __attribute__((noinline))
#else
#define RARE HONE_DEVICE
#define OFTEN HONE_DEVICE
#endif

/// Up to 16 bytes of memory, the lowest address in the lowest byte; the bytes that do not exist are zero.
struct Words {
  u64 low = 0;
  u64 high = 0;

  HONE_DEVICE u32 byte(u32 i) const { return static_cast<u32>((i < 8 ? low : high) >> (i % 8 * 8)) & 0xFF; }
  HONE_DEVICE void add(u32 byte, u64 value) {
    value <<= byte % 8 * 8;
    low |= byte < 8 ? value : 0;
    high |= byte < 8 ? 0 : value;
  }
};

struct alignas(16) AlignedWords {
  u64 low, high;
};

HONE_DEVICE bool aligned(const void* address, u64 to) {
  return reinterpret_cast<u64>(address) % to == 0;
}

RARE Words load_bytes(const u8* from, u32 bytes) {
  Words words;
#pragma unroll 1
  for (u32 i = 0; i < bytes; ++i) words.add(i, from[i]);
  return words;
}

RARE void store_bytes(u8* to, Words words, u32 bytes) {
#pragma unroll 1
  for (u32 i = 0; i < bytes; ++i) to[i] = static_cast<u8>(words.byte(i));
}

/// From any address, by one access where it allows that.
HONE_DEVICE Words load(const u8* from, u32 bytes) {
  if (bytes < chunk || !aligned(from, 16)) return load_bytes(from, bytes);
  const AlignedWords value = *reinterpret_cast<const AlignedWords*>(from);
  Words words;
  words.low = value.low;
  words.high = value.high;
  return words;
}

HONE_DEVICE void store(u8* to, const Words& words, u32 bytes) {
  if (bytes < chunk || !aligned(to, 16)) return store_bytes(to, words, bytes);
  *reinterpret_cast<AlignedWords*>(to) = AlignedWords{words.low, words.high};
}

/// One element of `size` bytes at any address.
HONE_DEVICE u64 load_element(const u8* from, u32 size) {
  if (size == 4 && aligned(from, 4)) return *reinterpret_cast<const u32*>(from);
  if (size == 2 && aligned(from, 2)) return *reinterpret_cast<const u16*>(from);
  return load_bytes(from, size).low;
}

HONE_DEVICE void store_element(u8* to, u64 bits, u32 size) {
  if (size == 4 && aligned(to, 4)) {
    *reinterpret_cast<u32*>(to) = static_cast<u32>(bits);
  } else if (size == 2 && aligned(to, 2)) {
    *reinterpret_cast<u16*>(to) = static_cast<u16>(bits);
  } else {
    Words words;
    words.low = bits;
    store_bytes(to, words, size);
  }
}

/// What an element of `size` bytes that the reference leaves untouched holds.
HONE_DEVICE u64 gap_bits(u32 size) {
  return 0xA5A5A5A5A5A5A5A5ULL >> (64 - 8 * size);
}

HONE_DEVICE i64 chunks(i64 bytes) {
  return bytes / chunk + (bytes % chunk != 0 ? 1 : 0);
}

HONE_DEVICE u32 bytes_in(i64 c, i64 bytes) {
  const i64 left = bytes - c * chunk;
  return static_cast<u32>(left < chunk ? left : chunk);
}

/// What a thread found.
struct Found {
  u64 count = 0;
  u64 first = ~0ULL;
  HONE_DEVICE void add(u64 index) {
    if (count++ == 0) first = index;
  }
  HONE_DEVICE void give(u64* result) const {
    if (count == 0) return;
    HONE_ATOMIC_ADD(result, count);
    HONE_ATOMIC_MIN(result + 1, first);
  }
};

RARE void find(Words differs, i64 start, u32 bytes, u32 size, Found& found) {
#pragma unroll 1
  for (u32 i = 0; i < bytes; i += size) {
    u32 any = 0;
#pragma unroll 1
    for (u32 j = 0; j < size; ++j) any |= differs.byte(i + j);
    if (any != 0) found.add(static_cast<u64>((start + i) / size));
  }
}

/// Adds the elements of `size` bytes that differ between two chunks that start at byte `start`.
HONE_DEVICE void compare(const Words& a, const Words& b, i64 start, u32 bytes, u32 size, Found& found) {
  Words differs;
  differs.low = a.low ^ b.low;
  differs.high = a.high ^ b.high;
  if ((differs.low | differs.high) != 0) find(differs, start, bytes, size, found);
}

/// The fill's bytes from byte `start`, a multiple of 16, on.
OFTEN Words filled(int element, int fill, u64 seed, i64 start, u32 bytes) {
  const u32 size = static_cast<u32>(hone_element_size(element));
  Words words;
  if (fill == hone_fill_any && size == 1) {
    words.low = hone_random(seed, static_cast<u64>(start) / 8);
    words.high = hone_random(seed, static_cast<u64>(start) / 8 + 1);
    if (bytes < 16) words.high &= bytes > 8 ? (1ULL << (8 * (bytes - 8))) - 1 : 0;
    if (bytes < 8) words.low &= (1ULL << (8 * bytes)) - 1;
    return words;
  }
#pragma unroll 1
  for (u32 i = 0; i < bytes; i += size) words.add(i, hone_fill_bits(element, fill, seed, (start + i) / size));
  return words;
}

HONE_DEVICE void be_overtaken() {
  HONE_LET_NEXT_KERNEL_START();
#if __CUDA_ARCH__ >= 900
  __nanosleep(20000);  // a host takes some 4 us to launch the next, and more when it is busy
#endif
}

}  // namespace

HONE_KERNEL(hone_fill, void* to, i64 elements, i32 element, i32 fill, u64 seed) {
  be_overtaken();
  const i64 bytes = elements * hone_element_size(element);
  HONE_FOR_EACH(c, chunks(bytes)) {
    const u32 count = bytes_in(c, bytes);
    store(static_cast<u8*>(to) + c * chunk, filled(element, fill, seed, c * chunk, count), count);
  }
}

HONE_KERNEL(hone_poison, void* to, const void* reference, i64 bytes) {
  be_overtaken();
  HONE_FOR_EACH(c, chunks(bytes)) {
    const u32 count = bytes_in(c, bytes);
    Words words = load(static_cast<const u8*>(reference) + c * chunk, count);
    words.low = ~words.low;
    words.high = ~words.high;
    store(static_cast<u8*>(to) + c * chunk, words, count);
  }
}

HONE_KERNEL(hone_compare_bits, const void* out, const void* reference, i64 elements, i32 element_size,
            u64* result) {
  const i64 bytes = elements * element_size;
  Found found;
  HONE_FOR_EACH(c, chunks(bytes)) {
    const u32 count = bytes_in(c, bytes);
    compare(load(static_cast<const u8*>(out) + c * chunk, count),
            load(static_cast<const u8*>(reference) + c * chunk, count), c * chunk, count, element_size,
            found);
  }
  found.give(result);
}

HONE_KERNEL(hone_poison_numbers, void* to, const f64* reference, i64 elements, i32 element) {
  be_overtaken();
  const u32 size = static_cast<u32>(hone_element_size(element));
  HONE_FOR_EACH(i, elements) {
    const u64 mark = hone_bits<u64>(reference[i]);
    const bool number = reference[i] == reference[i] || mark == hone_unsampled;
    const u64 bits = mark == hone_untouched ? gap_bits(size) : number ? ~0ULL : 0;
    store_element(static_cast<u8*>(to) + i * size, bits, size);
  }
}

HONE_KERNEL(hone_compare_numbers, const void* out, const f64* reference, i64 elements, i32 element,
            f64 absolute, f64 relative, u64* result, u64* gaps) {
  const u32 size = static_cast<u32>(hone_element_size(element));
  Found found;
  HONE_FOR_EACH(i, elements) {
    const u64 bits = load_element(static_cast<const u8*>(out) + i * size, size);
    const f64 value = hone_element_number(element, bits);
    const f64 wanted = reference[i];
    const u64 mark = hone_bits<u64>(wanted);
    if (mark == hone_untouched) {
      // At once, for the registers' sake: hardly ever done.
      Found changed;
      if (bits != gap_bits(size)) changed.add(static_cast<u64>(i));
      changed.give(gaps);
      continue;
    }
    if (mark == hone_unsampled) {
      if (value != value) found.add(static_cast<u64>(i));
      continue;
    }
    const f64 difference = value - wanted;
    const f64 bound = absolute + relative * (wanted < 0 ? -wanted : wanted);
    const bool near = difference <= bound && -difference <= bound && bound <= largest;
    const bool equal = value == wanted || (value != value && wanted != wanted);
    if (!near && !equal) found.add(static_cast<u64>(i));
  }
  found.give(result);
}

HONE_KERNEL(hone_check_bytes, const void* region, i64 bytes, i32 sentinel, u64* result) {
  const u64 word = 0x0101010101010101ULL * static_cast<u64>(sentinel & 0xFF);
  Found found;
  HONE_FOR_EACH(c, chunks(bytes)) {
    const u32 count = bytes_in(c, bytes);
    Words right;
    right.low = count >= 8 ? word : word & ((1ULL << (8 * count)) - 1);
    right.high = count == 16 ? word : count > 8 ? word & ((1ULL << (8 * (count - 8))) - 1) : 0;
    compare(load(static_cast<const u8*>(region) + c * chunk, count), right, c * chunk, count, 1, found);
  }
  found.give(result);
}

HONE_KERNEL(hone_check_fill, const void* buffer, i64 elements, i32 element, i32 fill, u64 seed, u64* result) {
  const i64 bytes = elements * hone_element_size(element);
  Found found;
  HONE_FOR_EACH(c, chunks(bytes)) {
    const u32 count = bytes_in(c, bytes);
    compare(load(static_cast<const u8*>(buffer) + c * chunk, count),
            filled(element, fill, seed, c * chunk, count), c * chunk, count, hone_element_size(element),
            found);
  }
  found.give(result);
}
