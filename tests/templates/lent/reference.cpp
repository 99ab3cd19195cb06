#include <cstring>

extern "C" void hone_reference(const long long*, const char*, const char*, void* const* arguments, long long first,
                               long long last) {
  std::memcpy(static_cast<char*>(arguments[1]) + 4 * first, static_cast<const char*>(arguments[0]) + 4 * first,
              static_cast<std::size_t>(4 * (last - first)));
}
