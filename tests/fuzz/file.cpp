// Fuzzes the file: any bytes as a database or a pack.
#include <cstddef>
#include <cstdint>

#include "scratch_file.hpp"
#include "serve.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const hone::fuzz::ScratchFolder folder;
  hone::fuzz::serve(folder.write("hone.db", {reinterpret_cast<const char*>(data), size}));
  return 0;
}
