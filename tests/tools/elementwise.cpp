// The element-wise families from end to end on the host: checked on their awkward extents, and one tuned.
#include <catch2/catch.hpp>

#include "tests/tools/command.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("families of one source verify on the host, as numbers and bit by bit") {
  const auto [family, type] = GENERATE(table<const char*, const char*>({{"gelu", "f32"}, {"copy", "f64"}}));
  const TemporaryFolder folder;
  const Ended ended =
      run_hone({"verify", family, "--device", "host", "--dtype", type, "--limit", "2", "--format", "csv"},
               folder.path);
  INFO(ended.out << ended.err);
  CHECK(ended.code == 0);
  CHECK_THAT(ended.out, Contains(",2,2,0,"));
}

TEST_CASE("a family compared as numbers is tuned on the host") {
  const TemporaryFolder folder;
  const Ended tuned = run_hone({"tune", "silu", "--device", "host", "--dtype", "bf16", "--shape",
                                "numel=4096", "--budget", "2", "--db", (folder.path / "a.db").string()},
                               folder.path);
  INFO(tuned.out << tuned.err);
  CHECK(tuned.code == 0);
  CHECK_THAT(tuned.out, Contains("numel=4096") && Contains("GB/s"));
}

}  // namespace
}  // namespace hone::test
