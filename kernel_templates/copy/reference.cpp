// copy is its own reference.
#include <cstring>

extern "C" void hone_reference(const long long*, const char* element_type, const char*,
                               void* const* arguments, long long first, long long last) {
  const long long size = std::strcmp(element_type, "i8") == 0    ? 1
                         : std::strcmp(element_type, "f32") == 0 ? 4
                         : std::strcmp(element_type, "f64") == 0 ? 8
                                                                 : 2;
  std::memcpy(static_cast<char*>(arguments[1]) + first * size,
              static_cast<const char*>(arguments[0]) + first * size,
              static_cast<std::size_t>((last - first) * size));
}
