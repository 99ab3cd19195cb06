// tools/FORMATS.md says what programs get.
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/tools/study.hpp"

namespace hone::test {
namespace {

/// The keys that the document gives a format, with commas between.
std::string documented(const std::string& format) {
  std::istringstream lines(read_file(HONE_SOURCE_DIR "/tools/FORMATS.md"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `hone/" + format + "` |")) continue;
    std::istringstream words(line.substr(line.rfind("` |") + 3));
    std::string keys;
    for (std::string word; words >> word && word != "|";) keys += (keys.empty() ? "" : ",") + word;
    return keys;
  }
  return "no line of hone/" + format;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

TEST_CASE("each format has the keys that the document gives it, in its order") {
  constexpr std::int64_t mebi = 1 << 20;
  Study study;
  study.add("relu", mebi, {}, 2000);
  study.add("relu", mebi, {{"store", "nt"}}, 1000);
  const std::vector<std::pair<std::string, Words>> verbs{
      {"winners", {"query", "winners"}},
      {"bands", {"query", "bands"}},
      {"portfolio", {"query", "portfolio"}},
      {"ladder", {"query", "ladder", "relu"}},
      {"pivot", {"query", "pivot", "relu", "--rows", "block", "--cols", "unroll"}},
      {"gain", {"query", "gain", "relu", "--parameter", "store", "--from", "default", "--to", "nt"}},
      {"importance", {"query", "importance", "relu"}},
      {"runs", {"query", "runs"}},
      {"failures", {"query", "failures"}},
      {"stale", {"query", "stale"}},
      {"misses", {"query", "misses"}},
      {"explain", {"explain", "relu", "--device", "host", "--dtype", "f32", "--shape", "numel=64"}}};
  for (const auto& [format, words] : verbs) {
    INFO(format);
    if (format == "misses") {  // of the user's folder, not of a database
      const TemporaryFolder folder;
      CHECK(first_line(run_hone({"query", "misses", "--format", "csv"}, folder.path).out) ==
            documented(format));
      continue;
    }
    Words csv = words;
    csv.insert(csv.end(), {"--format", "csv"});
    CHECK(first_line(study.hone(csv).out) == documented(format));
    Words json = words;
    json.insert(json.end(), {"--format", "json"});
    const bool second = format == "pivot" || format == "gain" || format == "importance";
    CHECK_THAT(study.hone(json).out, Catch::StartsWith("{\"format\": \"hone/" + format +
                                                       "\", \"version\": " + (second ? "2," : "1,")));
  }
  const TemporaryFolder folder;
  CHECK(first_line(run_hone({"devices", "--format", "csv"}, folder.path).out) == documented("devices"));
  CHECK(first_line(run_hone({"tune", "relu", "--device", "host", "--shape", "numel=64", "--dry-run",
                             "--format", "csv", "--db", (folder.path / "a.db").string()},
                            folder.path)
                       .out) == documented("plan"));
}

TEST_CASE("the document shows the first line that an export writes") {
  const Study study;
  const std::string file = (study.folder() / "all.jsonl").string();
  const Ended ended = study.hone({"db", "export", file});
  INFO(ended.err);
  REQUIRE(ended.code == 0);
  CHECK_THAT(read_file(HONE_SOURCE_DIR "/tools/FORMATS.md"),
             Catch::Contains('`' + first_line(read_file(file)) + '`'));
}

}  // namespace
}  // namespace hone::test
