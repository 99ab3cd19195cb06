// What shells and manual pages get from the verbs' own declarations.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/tools/study.hpp"
#include "tools/describe.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

std::string candidates(Words words) {
  const TemporaryFolder folder;
  words.insert(words.begin(), {"complete", "--"});
  const Ended ended = run_hone(words, folder.path);
  CHECK(ended.err.empty());
  return "\n" + ended.out;
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

TEST_CASE("values are those of the family, the database and the parameter that the line names") {
  CHECK(candidates({"tune", "addmm_glu", "--dtype", ""}) == "\nf16\nbf16\n");
  CHECK(candidates({"explain", "addmm_glu", "--layout", ""}) == "\nnn\nnt\n");
  CHECK(candidates({"tune", "relu", "--layout", ""}) == "\n");
  CHECK_THAT(candidates({"tune", "--search", ""}), Contains("\nauto\n") && Contains("\nguided\n"));
  CHECK(candidates({"query", "winners", "--show", ""}) == "\nspread\n");
  CHECK(candidates({"completion", ""}) == "\nbash\nzsh\n");
  CHECK(candidates({"completion", "bash", ""}) == "\n");
  Study study("Some GPU");
  study.add("relu", 1024, {}, 1000);
  const auto of_relu = [&](Words words) {
    words.insert(words.begin() + 2, {"relu", "--db", study.database()});
    return candidates(words);
  };
  CHECK(of_relu({"query", "winners", "--run", ""}) == "\n" + study.run().id.hex() + "\n");
  CHECK(of_relu({"query", "winners", "--dtype", ""}) == "\nf32\nf16\nbf16\ni8\n");
  CHECK_THAT(of_relu({"query", "pivot", "--at", ""}), Contains("\nstore=\n") && Contains("\nvariant=\n"));
  CHECK_THAT(of_relu({"query", "pivot", "--at", "store=n"}), Contains("\nstore=nt\n"));    // zsh
  CHECK_THAT(of_relu({"query", "pivot", "--at", "store", "=", "n"}), Contains("\nnt\n"));  // bash
  CHECK_THAT(of_relu({"query", "gain", "--where", "store", "="}), Contains("\nnt\n"));
  CHECK_THAT(of_relu({"query", "pivot", "--at=store=n"}), Contains("\n--at=store=nt\n"));
  for (const char* flag : {"--from", "--to"})
    CHECK_THAT(of_relu({"query", "gain", "--parameter", "store", flag, ""}),
               Contains("\ndefault\n") && Contains("\nnt\n") && !Contains("256"));
  CHECK(of_relu({"query", "gain", "--from", ""}) == "\n");
}

TEST_CASE("columns are completed behind their commas, and values behind their equals signs") {
  CHECK_THAT(candidates({"query", "runs", "--sort", ""}), Contains("\nstarted_us\n") && Contains("\nrun\n"));
  CHECK_THAT(candidates({"query", "runs", "--columns", "seed,st"}),
             Contains("\nseed,started_us\n") && !Contains("\nrun\n"));
  CHECK_THAT(candidates({"query", "stale", "--sort=al"}), Contains("\n--sort=alignment\n"));  // as zsh has it
  CHECK_THAT(candidates({"query", "stale", "--sort", "=", "al"}),
             Contains("\nalignment\n"));  // as bash has it
  for (const auto& each : tools::describe_all())
    for (const auto& option : each.options) {
      if (option.name != "sort") continue;
      INFO(each.verb);
      CHECK(option.values.size() > 5);
    }
}

TEST_CASE("verbs that ask a database are completed from it, those that work here from this machine") {
  Study study("Some GPU");
  study.add("relu", 1024, {}, 1000);
  const auto from = [&](Words words) {
    words.insert(words.end() - 1, {"--db", study.database()});
    return candidates(words);
  };
  for (const Words& verb : {Words{"query", "winners", "relu"}, {"report"}, {"db", "export"}}) {
    const auto with = [&](const char* flag) {
      Words words = verb;
      words.insert(words.end(), {"--db", study.database(), flag, ""});
      return candidates(words);
    };
    CHECK_THAT(with("--device"), Contains("\nSome GPU\n") && !Contains("\nall\n"));
  }
  CHECK_THAT(candidates({"db", "diff", study.database(), study.database(), "--device", ""}),
             Contains("\nSome GPU\n"));
  CHECK_THAT(candidates({"explain", "relu", "--db", study.database(), "--device", ""}),
             Contains("\nhost\n") && !Contains("Some GPU"));
  CHECK(from({"query", "winners", ""}) == "\nrelu\n");
  for (const char* flag : {"--rows", "--cols"})
    CHECK_THAT(candidates({"query", "pivot", "relu", "--db", study.database(), flag, ""}),
               Contains("\nvariant\n") && Contains("\nunroll\n"));
  CHECK_THAT(candidates({"query", "gain", "--db", study.database(), "relu", "--parameter", ""}),
             Contains("\nstore\n"));
  CHECK(candidates({"query", "pivot", "relu", "--db", "/nonexistent", "--rows", ""}) == "\n");
}

TEST_CASE("zsh completes with the script") {
  if (std::system("zsh -c true 2>/dev/null") != 0) {
    WARN("skipped: no zsh here, which `apt-get install zsh` brings");
    return;
  }
  Study study("Some GPU");
  study.add("relu", 1024, {}, 1000);
  const std::string hone = std::string(HONE_BINARY_DIR) + "/bin/hone";
  // compadd is told by its script what it would show.
  const auto completed = [&](const std::string& words) {
    return output_of(
        "zsh -fc 'compdef() { :; }; compadd() { print -rl -- ${(P)2}; }; _files() { print files; }; "
        "source <(" +
        hone + " completion zsh); words=(" + hone + " " + words + "); CURRENT=$#words; _hone'");
  };
  CHECK_THAT("\n" + completed("query wi"), Contains("\nwinners\n"));
  CHECK_THAT("\n" + completed("query runs --sort \"\""), Contains("\nstarted_us\n"));
  CHECK(completed("query winners --db " + study.database() + " --device \"\"") ==
        "Some GPU\nhost\nx86-64-v3\n");
  CHECK(completed("tune relu --shape \"\"") == "files\n");
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
  CHECK(completed("query runs --sort star", 4) == "started_us\n");
  CHECK(completed("query stale --columns shape,no", 4) == "shape,now\n");
  Study study("Some GPU");
  study.add("relu", 1024, {}, 1000);
  CHECK(completed("query winners --db " + study.database() + " --device So", 6) == "Some\\ GPU\n");
  CHECK(completed("query winners --db " + study.database() + " --device Some\\\\\\ G", 6) == "Some\\ GPU\n");
  CHECK(completed("query pivot relu --db " + study.database() + " --rows unr", 7) == "unroll\n");
  CHECK(completed("query pivot relu --db " + study.database() + " --at sto", 7) == "store=\n");
  CHECK(completed("query pivot relu --db " + study.database() + " --at store = nt", 9) == "nt\n");
}

/// What roff reads alike in every locale.
bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
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
  CHECK(is_ascii(overview));
  for (const auto& each : all) {
    INFO(each.verb);
    CHECK_FALSE(each.about.empty());
    CHECK_FALSE(each.example.empty());
    std::string name = "hone-" + each.verb;
    std::replace(name.begin(), name.end(), ' ', '-');
    const std::string page = read_file(pages / (name + ".1"));
    CHECK(is_ascii(page));
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
  for (const std::string word : {"query", "db"}) {
    const std::string page = read_file(pages / ("hone-" + word + ".1"));
    CHECK_THAT(page, StartsWith(".TH ") && Contains(".SH VERBS\n"));
    CHECK_THAT(overview, Contains(".BR hone\\-" + word + " (1)\n"));
    for (const auto& each : all)
      if (each.verb.starts_with(word + " "))
        CHECK_THAT(page,
                   Contains(".BR hone\\-" + word + "\\-" + each.verb.substr(word.size() + 1) + " (1)\n"));
  }
  CHECK(run_hone({"man", "/dev/null/man1"}, folder.path).code == 3);
}

}  // namespace
}  // namespace hone::test
