// Help and versions.
#include <catch2/catch.hpp>

#include "tests/tools/command.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("help of every verb opens with an example") {
  const TemporaryFolder folder;
  const std::vector<std::vector<std::string>> verbs{{},
                                                    {"devices"},
                                                    {"tune"},
                                                    {"query"},
                                                    {"query", "winners"},
                                                    {"query", "bands"},
                                                    {"query", "portfolio"},
                                                    {"query", "ladder"},
                                                    {"query", "pivot"},
                                                    {"query", "gain"},
                                                    {"query", "runs"},
                                                    {"query", "failures"},
                                                    {"query", "misses"},
                                                    {"query", "importance"},
                                                    {"query", "stale"},
                                                    {"explain"},
                                                    {"report"},
                                                    {"compile"},
                                                    {"verify"},
                                                    {"db"},
                                                    {"db", "check"},
                                                    {"db", "pack"},
                                                    {"db", "backup"},
                                                    {"db", "diff"},
                                                    {"db", "peak"}};
  for (std::vector<std::string> words : verbs) {
    words.emplace_back("--help");
    const Ended ended = run_hone(words, folder.path);
    INFO(ended.out << ended.err);
    CHECK(ended.code == 0);
    CHECK_THAT(ended.out, StartsWith("Example: hone "));
    CHECK_THAT(ended.out, Contains("Usage: hone "));
    CHECK(ended.err.empty());
  }
}

TEST_CASE("help is a verb too") {
  const TemporaryFolder folder;
  CHECK_THAT(run_hone({"help", "tune"}, folder.path).out, StartsWith("Example: hone tune "));
  CHECK_THAT(run_hone({"help"}, folder.path).out, Contains("devices"));
}

TEST_CASE("the version names compilers, backends and the schema") {
  const TemporaryFolder folder;
  const Ended ended = run_hone({"--version"}, folder.path);
  CHECK(ended.code == 0);
  CHECK_THAT(ended.out, StartsWith("hone "));
  for (const char* word : {"built with", "cuda:", "hip:", "host:", "database schema:"})
    CHECK_THAT(ended.out, Contains(word));
}

}  // namespace
}  // namespace hone::test
