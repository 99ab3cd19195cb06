// Linked into sanitized programs. LeakSanitizer's tracer crashes now and then in a process that has a
// vendor's compiler or driver loaded, and what those libraries leak is not ours: no leak check there.
#include <link.h>

#include <cstring>
#include <initializer_list>

extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() {
  const auto of_vendor = [](dl_phdr_info* library, std::size_t, void*) {
    for (const char* name : {"libnvrtc", "libcuda", "libamdhip64", "libhiprtc"})
      if (std::strstr(library->dlpi_name, name) != nullptr) return 1;
    return 0;
  };
  return dl_iterate_phdr(of_vendor, nullptr);
}
