#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <regex>

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

  std::ifstream header(HONE_SOURCE_DIR "/runtime/include/hone/hone.h");
  const std::string text{std::istreambuf_iterator<char>(header), {}};
  const std::regex function("HONE_C_EXPORT [^;]*?(hone_[a-z_]+)\\(");
  std::size_t functions = 0;
  for (auto found = std::sregex_iterator(text.begin(), text.end(), function); found != std::sregex_iterator();
       ++found, ++functions) {
    INFO((*found)[1].str());
    CHECK(library.find<void (*)()>((*found)[1].str().c_str()) != nullptr);
  }
  CHECK(functions == 21);
}
