#include <catch2/catch.hpp>

#include "tests/runtime/tuned_database.hpp"

extern "C" int use_c_interface(const char* database, char* text, size_t room);
extern "C" int lend_a_workspace(const char* database, size_t expected, char* text, size_t room);

using namespace hone::test;
using Catch::Matchers::Contains;

TEST_CASE("the C interface works from C11") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 64}}});
  std::array<char, 1000> text{};
  // What went wrong is the line of c_interface.c.
  CHECK(use_c_interface(database.file().c_str(), text.data(), text.size()) == 0);
  CHECK_THAT(text.data(), Contains("/nowhere/at/all.db"));
}

TEST_CASE("a workspace is lent through the C interface") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db",
                         hone::parse_family(HONE_SOURCE_DIR "/tests/templates/lent/lent.toml"));
  database.winner({.element_type = "i32", .dimensions = {{"n", 1000}}, .alignment = 4});
  std::array<char, 1000> text{};
  CHECK(lend_a_workspace(database.file().c_str(), 16384 + 4000, text.data(), text.size()) == 0);
  CHECK_THAT(text.data(), Contains("simt block=128 fault=none needs a workspace of 20384 bytes"));
}
