#include <catch2/catch.hpp>

#include "hone/hone.h"
#include "runtime/shared_library.hpp"

using hone::SharedLibrary;

TEST_CASE("libhone.so shows its interfaces and nothing else") {
  const SharedLibrary library = SharedLibrary::open({HONE_BINARY_DIR "/lib/libhone.so"});
  INFO(library.problem());
  REQUIRE(library);

  const auto abi_version = library.find<int (*)()>("hone_abi_version");
  REQUIRE(abi_version != nullptr);
  CHECK(abi_version() == HONE_ABI_VERSION);
  CHECK(library.find<void (*)()>("_ZN4hone7RuntimeD1Ev") != nullptr);

  CHECK(library.find<void (*)()>("sqlite3_libversion") == nullptr);
}
