// Fuzzes the manifest: whatever its text, it is a family or one line says what is wrong.
#include "runtime/manifest.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  hone::included_file(text);
  try {
    hone::ManifestLines lines("fuzzed.toml");
    const hone::Family family = hone::read_manifest(text, lines);
    hone::prove_manifest(family, lines);
    for (const hone::Variant& variant : family.variants) hone::source_hash(family, variant);
  } catch (const hone::Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
  }
  return 0;
}
