// References of families that include elementwise.toml and are compared as numbers:
//
//   elementwise_reference(function, element_type, arguments, first, last)
//       y[i] = function(x[i]) in double precision; 0 where x is -infinity, the limit of gates like gelu,
//       whose formulas may give NaN for it
#ifndef HONE_ELEMENTWISE_REFERENCE_H
#define HONE_ELEMENTWISE_REFERENCE_H

#include <cmath>
#include <cstring>

#include "fill.h"

inline int hone_element_named(const char* name) {
  return std::strcmp(name, "f16") == 0 ? hone_f16 : std::strcmp(name, "bf16") == 0 ? hone_bf16 : hone_f32;
}

template <typename Function>
void elementwise_reference(Function function, const char* element_type, void* const* arguments,
                           long long first, long long last) {
  const int element = hone_element_named(element_type);
  const int size = hone_element_size(element);
  const char* x = static_cast<const char*>(arguments[0]);
  double* y = static_cast<double*>(arguments[1]);
  for (long long i = first; i < last; ++i) {
    unsigned long long bits = 0;
    std::memcpy(&bits, x + i * size, static_cast<std::size_t>(size));
    const double value = hone_element_number(element, bits);
    y[i] = std::isinf(value) && value < 0 ? 0 : function(value);
  }
}

#endif
