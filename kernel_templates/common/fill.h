// The values that buffers are filled with before a kernel is checked or timed: a pure function of seed and
// index, with the same bits on every backend. check.cpp fills devices with it; host code includes it from C++
// to make the same inputs for a reference:
//
//   hone_fill_bits(element, fill, seed, i)   the bits of element i, in the low bytes
//   hone_element_number(element, bits)       those bits as a double (exact, but for i64 beyond 2^53)
//
// `element` is a hone_element, whose values are those of hone::ElementType; `fill` is a hone_fill_kind:
//
//   hone_fill_uniform   floats in [-1, 1), integers in [-8, 8] (u8: [0, 16])
//   hone_fill_any       any bit pattern; one float in 16 is one of ±0, ±inf, quiet and signalling NaNs with
//                       payloads of either sign, the smallest and largest denormals and normals
//   hone_fill_constant  the number whose double's bits are the seed, rounded towards zero
#ifndef HONE_FILL_H
#define HONE_FILL_H

#if defined(HONE_BACKEND_CUDA) || defined(HONE_BACKEND_HIP)
#define HONE_FILL_FUNCTION __attribute__((device)) inline
#else
#define HONE_FILL_FUNCTION inline
#endif

enum hone_element {
  hone_f32 = 0,
  hone_f16 = 1,
  hone_bf16 = 2,
  hone_i8 = 3,
  hone_f64 = 4,
  hone_i32 = 5,
  hone_i64 = 6,
  hone_u8 = 7,
};

enum hone_fill_kind { hone_fill_uniform = 0, hone_fill_any = 1, hone_fill_constant = 2 };

HONE_FILL_FUNCTION int hone_element_size(int element) {
  switch (element) {
    case hone_i8:
    case hone_u8:
      return 1;
    case hone_f16:
    case hone_bf16:
      return 2;
    case hone_f64:
    case hone_i64:
      return 8;
    default:
      return 4;
  }
}

HONE_FILL_FUNCTION bool hone_is_float(int element) {
  return element == hone_f32 || element == hone_f16 || element == hone_bf16 || element == hone_f64;
}

HONE_FILL_FUNCTION double hone_as_double(unsigned long long bits) {
  union {
    unsigned long long bits;
    double number;
  } both;
  both.bits = bits;
  return both.number;
}

/// Bits of a float's mantissa.
HONE_FILL_FUNCTION int hone_mantissa_bits(int element) {
  return element == hone_f64 ? 52 : element == hone_f32 ? 23 : element == hone_f16 ? 10 : 7;
}

/// The i-th of the seed's 64-bit random numbers: a counter, hashed.
HONE_FILL_FUNCTION unsigned long long hone_random(unsigned long long seed, unsigned long long i) {
  unsigned long long h = seed + (i + 1) * 0x9E3779B97F4A7C15ULL;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ULL;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBULL;
  return h ^ (h >> 31);
}

/// A double's bits as those of `element`, rounded towards zero; beyond its range: infinity, or the integers'
/// nearest end.
HONE_FILL_FUNCTION unsigned long long hone_round_to_zero(int element, unsigned long long bits) {
  const bool negative = (bits >> 63) != 0;
  const int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1023;
  const unsigned long long fraction = bits & 0xFFFFFFFFFFFFFULL;
  if (element == hone_f64) return bits;
  if (hone_is_float(element)) {
    const int mantissa = hone_mantissa_bits(element);
    const int width = 8 * hone_element_size(element);
    const int bias = element == hone_f16 ? 15 : 127;
    const unsigned long long sign = negative ? 1ULL << (width - 1) : 0;
    const unsigned long long infinity = static_cast<unsigned long long>(2 * bias + 1) << mantissa;
    if (exponent == 1024 && fraction != 0) return sign | infinity | 1ULL << (mantissa - 1);
    if (exponent > bias) return sign | infinity;
    if (exponent > -bias) {
      return sign | static_cast<unsigned long long>(exponent + bias) << mantissa |
             fraction >> (52 - mantissa);
    }
    const int shift = 52 - mantissa + 1 - bias - exponent;
    return shift > 52 ? sign : sign | (fraction | 1ULL << 52) >> shift;
  }
  const int width = element == hone_u8 ? 8 : 8 * hone_element_size(element) - 1;
  const unsigned long long largest = ~0ULL >> (64 - width);
  unsigned long long magnitude = 0;
  if (exponent >= width) {
    magnitude = exponent == 1024 && fraction != 0 ? 0
                : negative && element != hone_u8  ? largest + 1
                                                  : largest;
  } else if (exponent >= 0) {
    magnitude = exponent > 52 ? (fraction | 1ULL << 52) << (exponent - 52)
                              : (fraction | 1ULL << 52) >> (52 - exponent);
  }
  if (negative && element == hone_u8) return 0;
  const unsigned long long value = negative ? 0 - magnitude : magnitude;
  return element == hone_i64 ? value : value & ((1ULL << (8 * hone_element_size(element))) - 1);
}

/// A uniform float in [-1, 1): k / 2^n for a random k of n + 1 bits, so that it has one value in every format
/// used.
HONE_FILL_FUNCTION unsigned long long hone_uniform_float(int element, unsigned long long random) {
  const int n = element == hone_f64 ? 52 : element == hone_f32 ? 23 : 14;
  const long long k = static_cast<long long>(random >> (63 - n)) - (1LL << n);
  if (k == 0) return 0;
  const bool negative = k < 0;
  const unsigned long long magnitude = static_cast<unsigned long long>(negative ? -k : k);
  int top = 0;
  for (int step = 32; step > 0; step /= 2) {
    if (magnitude >> (top + step) != 0) top += step;
  }
  const unsigned long long bits = (negative ? 1ULL << 63 : 0) |
                                  static_cast<unsigned long long>(1023 + top - n) << 52 |
                                  (magnitude << (52 - top) & 0xFFFFFFFFFFFFFULL);
  return hone_round_to_zero(element, bits);
}

/// One of sixteen values that floats treat specially.
HONE_FILL_FUNCTION unsigned long long hone_special_float(int element, int which, unsigned long long random) {
  const int mantissa = hone_mantissa_bits(element);
  const int width = 8 * hone_element_size(element);
  const unsigned long long one = 1;
  const unsigned long long fraction = (one << mantissa) - 1;
  const unsigned long long infinity = ((one << (width - 1)) - 1) & ~fraction;
  const unsigned long long quiet = one << (mantissa - 1);
  unsigned long long magnitude = 0;
  switch (which & 7) {
    case 0:
      magnitude = 0;
      break;
    case 1:
      magnitude = infinity;
      break;
    case 2:
      magnitude = infinity | quiet | (random & (quiet - 1));
      break;
    case 3:
      magnitude = infinity | (random & (quiet - 1)) | 1;
      break;
    case 4:
      magnitude = 1;
      break;
    case 5:
      magnitude = fraction;
      break;
    case 6:
      magnitude = fraction + 1;
      break;
    default:
      magnitude = infinity - 1;
      break;
  }
  return (which & 8) != 0 ? magnitude | one << (width - 1) : magnitude;
}

HONE_FILL_FUNCTION unsigned long long hone_fill_bits(int element, int fill, unsigned long long seed,
                                                     long long i) {
  const unsigned long long index = static_cast<unsigned long long>(i);
  const int size = hone_element_size(element);
  if (fill == hone_fill_constant) return hone_round_to_zero(element, seed);
  // Eight bytes' elements share a random number.
  if (fill == hone_fill_any && size == 1) return hone_random(seed, index / 8) >> (8 * (index % 8)) & 0xFF;
  const unsigned long long random = hone_random(seed, index);
  if (fill == hone_fill_any) {
    if (hone_is_float(element) && (random & 15) == 0) {
      return hone_special_float(element, static_cast<int>(random >> 4 & 15), random >> 8);
    }
    return random >> (64 - 8 * size);
  }
  if (hone_is_float(element)) return hone_uniform_float(element, random);
  const long long value = static_cast<long long>((random >> 32) * 17 >> 32) - (element == hone_u8 ? 0 : 8);
  return size == 8 ? static_cast<unsigned long long>(value)
                   : static_cast<unsigned long long>(value) & ((1ULL << (8 * size)) - 1);
}

HONE_FILL_FUNCTION double hone_element_number(int element, unsigned long long bits) {
  switch (element) {
    case hone_i8:
      return static_cast<signed char>(bits);
    case hone_u8:
      return static_cast<unsigned char>(bits);
    case hone_i32:
      return static_cast<int>(bits);
    case hone_i64:
      return static_cast<double>(static_cast<long long>(bits));
    case hone_f64:
      return hone_as_double(bits);
    default:
      break;
  }
  // f32, f16, bf16: every one of them is a double.
  const int mantissa = hone_mantissa_bits(element);
  const int width = 8 * hone_element_size(element);
  const int bias = element == hone_f16 ? 15 : 127;
  const unsigned long long sign = (bits >> (width - 1) & 1) << 63;
  const unsigned long long fraction = bits & ((1ULL << mantissa) - 1);
  const int exponent = static_cast<int>(bits >> mantissa & ((1ULL << (width - 1 - mantissa)) - 1));
  unsigned long long as_double = sign;
  if (exponent == 2 * bias + 1) {
    as_double |= 0x7FFULL << 52 | fraction << (52 - mantissa);
  } else if (exponent > 0) {
    as_double |= static_cast<unsigned long long>(exponent - bias + 1023) << 52 | fraction << (52 - mantissa);
  } else if (fraction != 0) {
    int top = 0;
    for (int step = 16; step > 0; step /= 2) {
      if (fraction >> (top + step) != 0) top += step;
    }
    as_double |= static_cast<unsigned long long>(1 - bias - mantissa + top + 1023) << 52 |
                 (fraction << (52 - top) & 0xFFFFFFFFFFFFFULL);
  }
  return hone_as_double(as_double);
}

#endif
