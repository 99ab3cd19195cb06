// gelu_tanh in double precision.
#include <cmath>

#include "elementwise_reference.h"

extern "C" void hone_reference(const long long*, const char* element_type, const char*,
                               void* const* arguments, long long first, long long last) {
  const auto gelu_tanh = [](double x) {
    const double z = std::sqrt(8 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
    return x / (1 + std::exp(-z));
  };
  elementwise_reference(gelu_tanh, element_type, arguments, first, last);
}
