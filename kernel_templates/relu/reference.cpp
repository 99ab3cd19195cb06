// What relu must write, on bit patterns of each element type.
#include <cstdint>
#include <cstring>

namespace {

/// `infinity`: the magnitude bits of infinity; above them are the NaNs.
template <typename Bits>
void relu_float(const void* x, void* y, long long first, long long last, Bits infinity) {
  const Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  for (long long i = first; i < last; ++i) {
    Bits bits;
    std::memcpy(&bits, static_cast<const char*>(x) + i * static_cast<long long>(sizeof bits), sizeof bits);
    const Bits magnitude = static_cast<Bits>(bits & ~sign);
    const bool below_zero = (bits & sign) != 0 && magnitude != 0 && magnitude <= infinity;
    if (below_zero) bits = 0;
    std::memcpy(static_cast<char*>(y) + i * static_cast<long long>(sizeof bits), &bits, sizeof bits);
  }
}

}  // namespace

extern "C" void hone_reference(const long long*, const char* element_type, const char*,
                               void* const* arguments, long long first, long long last) {
  const void* x = arguments[0];
  void* y = arguments[1];
  if (std::strcmp(element_type, "f32") == 0) {
    relu_float<std::uint32_t>(x, y, first, last, 0x7F800000U);
  } else if (std::strcmp(element_type, "f16") == 0) {
    relu_float<std::uint16_t>(x, y, first, last, 0x7C00U);
  } else if (std::strcmp(element_type, "bf16") == 0) {
    relu_float<std::uint16_t>(x, y, first, last, 0x7F80U);
  } else {
    for (long long i = first; i < last; ++i) {
      const auto value = static_cast<const signed char*>(x)[i];
      static_cast<signed char*>(y)[i] = value < 0 ? static_cast<signed char>(0) : value;
    }
  }
}
