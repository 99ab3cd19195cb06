// Counts in words.
#include "runtime/plural.hpp"

#include <catch2/catch.hpp>

using hone::plural;

TEST_CASE("one is singular, and everything else is not") {
  CHECK(plural(1, "problem") == "1 problem");
  CHECK(plural(0, "problem") == "0 problems");
  CHECK(plural(std::size_t{2}, "database") == "2 databases");
  CHECK(plural(3, "launch") == "3 launches");
  CHECK(plural(2, "family") == "2 families");
}
