// What shells and manual pages get from the verbs' own declarations.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>

#include "tests/tools/command.hpp"
#include "tools/describe.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Words = std::vector<std::string>;

std::string candidates(Words words) {
  const TemporaryFolder folder;
  words.insert(words.begin(), {"complete", "--"});
  const Ended ended = run_hone(words, folder.path);
  CHECK(ended.err.empty());
  return "\n" + ended.out;
}

/// What a shell's command writes.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  ::pclose(pipe);
  return text;
}

TEST_CASE("verbs, options, families and values are completed where they may stand") {
  CHECK_THAT(candidates({""}), Contains("\ntune\n") && Contains("\nquery\n") && !Contains("worker"));
  CHECK_THAT(candidates({"query", ""}),
             Contains("\nwinners\n") && Contains("\nstale\n") && !Contains("\ntune\n"));
  CHECK_THAT(candidates({"db", "d"}), Contains("\ndiff\n"));
  CHECK_THAT(candidates({"tune", ""}), Contains("\nrelu\n") && Contains("\ncopy\n"));
  CHECK_THAT(candidates({"tune", "relu", "--"}),
             Contains("\n--sweep\n") && Contains("\n--dtype\n") && Contains("\n--help\n"));
  CHECK_THAT(candidates({"tune", "relu", "--dtype", ""}), Contains("\nbf16\n") && !Contains("relu"));
  CHECK_THAT(candidates({"tune", "relu", "--device", ""}), Contains("\nall\n") && Contains("\nhost\n"));
  CHECK_THAT(candidates({"query", "winners", "relu", "--format", "j"}), Contains("\njson\n"));
  CHECK(candidates({"tune", "relu", "--shape", ""}) == "\n");
  CHECK(candidates({"nonsense", ""}) == "\n");
}

TEST_CASE("bash completes with the script") {
  const std::string hone = std::string(HONE_BINARY_DIR) + "/bin/hone";
  const auto completed = [&](const std::string& words, int at) {
    return output_of("bash -c 'source <(" + hone + " completion bash); COMP_WORDS=(" + hone + " " + words +
                     "); COMP_CWORD=" + std::to_string(at) + "; _hone; echo \"${COMPREPLY[*]}\"'");
  };
  CHECK(completed("query wi", 2) == "winners\n");
  CHECK(completed("tune rel", 2) == "relu\n");
  CHECK(completed("tune relu --dtype bf", 4) == "bf16\n");
  CHECK(completed("tune relu --swe", 3) == "--sweep\n");
}

TEST_CASE("every verb describes itself and does nothing else, and has its manual page") {
  const TemporaryFolder folder;
  const auto all = tools::describe_all();
  CHECK(all.size() >= 20);
  const auto pages = folder.path / "man1";
  const Ended ended = run_hone({"man", pages.string()}, folder.path);
  INFO(ended.err);
  CHECK(ended.code == 0);
  const std::string overview = read_file(pages / "hone.1");
  for (const auto& each : all) {
    INFO(each.verb);
    CHECK_FALSE(each.about.empty());
    CHECK_FALSE(each.example.empty());
    std::string name = "hone-" + each.verb;
    std::replace(name.begin(), name.end(), ' ', '-');
    const std::string page = read_file(pages / (name + ".1"));
    CHECK_THAT(page, StartsWith(".TH ") && Contains(".SH OPTIONS\n"));
    for (const auto& option : each.options) {
      std::string written = option.name;
      for (std::size_t at = 0; (at = written.find('-', at)) != std::string::npos; at += 2)
        written.replace(at, 1, "\\-");
      CHECK_THAT(page, Contains(".B \\-\\-" + written));
    }
    for (std::size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2)
      name.replace(at, 1, "\\-");
    CHECK_THAT(overview, Contains(name));
  }
  CHECK(run_hone({"man", "/dev/null/man1"}, folder.path).code == 3);
}

}  // namespace
}  // namespace hone::test
