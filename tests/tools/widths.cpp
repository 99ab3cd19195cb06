// Every table for people fits its terminal, whatever was tuned.
#include <algorithm>
#include <sstream>

#include "runtime/host_device.hpp"
#include "runtime/misses.hpp"
#include "tests/runtime/tuned_database.hpp"
#include "tests/tools/study.hpp"
#include "tools/describe.hpp"
#include "tools/text.hpp"

namespace hone::test {
namespace {

constexpr std::int64_t mebi = 1 << 20;

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, tools::width_of_text(line));
  return widest;
}

/// Two devices of long names, several problems, bands, a portfolio, failures, what is stale, and a tuning of
/// this host.
void fill(Study& study) {
  const db::Values wide{{"mode", "grid_stride"}, {"load", "evict_last"}, {"store", "evict_first"}};
  for (const char* device : {"NVIDIA GeForce RTX 4090 Laptop GPU", "AMD Instinct MI350X of another name"}) {
    study.next_run(db::testing::device(device));
    for (const std::int64_t numel : {mebi, 256 * mebi}) {
      study.add("relu", numel, {}, 20'000'000, db::Stage::first_look);
      study.add("relu", numel, {{"vector", std::int64_t{2}}}, 45'678.9);
      study.add("relu", numel, wide, 34'567.8, db::Stage::race, db::Outcome::wrong_result);
      study.add("copy", numel, {}, 23'456.7);
      study.win(study.add("relu", numel, {}, 12'345.6));
      study.win(study.add("relu", 2 * numel, wide, 23'456.7));
    }
    const db::Template simt = study.store().templates("relu").front();
    db::testing::sweep(study.store(), study.run(), db::testing::configuration(64),
                       db::testing::configuration(128), simt.source_hash, simt.source_hash, 500);
    study.store().put_peak({study.run().device, "memory", 4'800'000'000'000});
  }
  study.win(study.add("copy", mebi, {}, 34'567.8));
  study.change_source("copy");
  TunedDatabase strided(study.database(),
                        parse_family(HONE_SOURCE_DIR "/tests/templates/strided/strided.toml"));
  strided.sweep(TunedDatabase::Across{"f32",
                                      {{}},
                                      {{{{"rows", 128}, {"columns", 64}, {"ldy", 67}}, {123'456.7}},
                                       {{{"rows", 256}, {"columns", 64}, {"ldy", 67}}, {234'567.8}}}});
  MissWriter writer(study.folder() / "hone" / "misses");
  Miss miss;
  miss.problem = {"relu", "f16", "", {{"numel", 123'456'789'012}}};
  miss.device = host_device_info().record().id();
  miss.count = 1'000'000;
  miss.newest_s = 1'700'000'000;
  writer.note(miss);
  REQUIRE(writer.flush());
}

TEST_CASE("no verb's table and no note of it is wider than the terminal", "[processes]") {
  Study study("NVIDIA GeForce RTX 4090 Laptop GPU");
  fill(study);
  Study before("NVIDIA GeForce RTX 4090 Laptop GPU");
  fill(before);
  before.win(before.add("relu", mebi, {{"vector", std::int64_t{8}}, {"store", "evict_first"}}, 9'999.9));
  const Ended tuned = study.hone({"tune", "relu", "--device", "host", "--dtype", "f32", "--shape",
                                  "numel=65536", "--budget", "8", "--quiet"});
  INFO(tuned.err);
  REQUIRE(tuned.code == 0);
  const Words pivot{"relu", "--rows", "mode", "--cols", "waves"};
  const Words gain{"relu", "--parameter", "store", "--from", "default", "--to", "evict_first"};
  const std::map<std::string, Words> arguments{
      {"devices", {}},
      {"tune", {"relu", "--device", "host", "--dtype", "f32", "--shape", "numel=777", "--budget", "2"}},
      {"query winners", {"--show", "spread"}},
      {"query bands", {}},
      {"query portfolio", {}},
      {"query ladder", {"relu"}},
      {"query pivot", pivot},
      {"query gain", gain},
      {"query importance", {"relu"}},
      {"query runs", {}},
      {"query failures", {}},
      {"query misses", {}},
      {"query stale", {}},
      {"explain", {"relu", "--device", "host", "--dtype", "f32", "--shape", "numel=65536"}},
      {"compile", {"relu", "--arch", "x86-64-v3", "--limit", "2", "--dtype", "f32"}},
      {"verify", {"relu", "--device", "host", "--dtype", "f32", "--limit", "2"}},
      {"report", {"-o", "NEW"}},
      {"db check", {}},
      {"db merge", {before.database(), study.database(), "-o", "NEW"}},
      {"db export", {"NEW", "--as", "jsonl"}},
      {"db import", {(study.folder() / "db export80").string()}},
      {"db pack", {"--device", "host", "-o", "NEW"}},
      {"db backup", {"NEW"}},
      {"db diff", {before.database(), study.database(), "--all"}},
      {"db peak", {"MI350X", "1GB/s"}},
      {"completion", {"bash"}},
      {"man", {"NEW"}}};
  const auto has = [](const auto& description, const char* name) {
    return std::any_of(description.options.begin(), description.options.end(),
                       [&](const auto& option) { return option.name == name; });
  };
  for (const auto& description : tools::describe_all()) {
    INFO(description.verb);
    const auto found = arguments.find(description.verb);
    REQUIRE(found != arguments.end());  // every verb is shown here
    Words verb;
    std::istringstream parts(description.verb);
    for (std::string word; parts >> word;) verb.push_back(word);
    for (const std::string columns : {"80", "50"}) {
      Words words = verb;
      for (const std::string& word : found->second)
        words.push_back(word == "NEW" ? (study.folder() / (description.verb + columns)).string() : word);
      const std::map<std::string, std::string> terminal{{"COLUMNS", columns}};
      const Ended ended =
          has(description, "db") ? study.hone(words, terminal) : run_hone(words, study.folder(), terminal);
      INFO(columns << ": " << ended.out << ended.err);
      CHECK(ended.code <= 1);
      CHECK(widest_line(ended.err) <= std::stoul(columns));
      if (has(description, "format")) {
        CHECK_FALSE(ended.out.empty());
        CHECK(widest_line(ended.out) <= std::stoul(columns));
      }
      verb.insert(verb.begin(), "help");
      CHECK(widest_line(run_hone(verb, study.folder(), terminal).out) <= std::stoul(columns));
      verb.erase(verb.begin());
    }
  }
  for (const Words& words : {Words{"--help"}, {"query", "--help"}, {"db", "--help"}})
    CHECK(widest_line(run_hone(words, study.folder(), {{"COLUMNS", "50"}}).out) <= 50);
}

TEST_CASE("tables are as wide as they come where that is asked for, and for programs") {
  Study study("NVIDIA GeForce RTX 4090 Laptop GPU");
  fill(study);
  const Ended wide = study.hone({"query", "ladder", "relu", "--wide"});
  CHECK(widest_line(wide.out) > 100);
  CHECK_THAT(study.csv({"ladder", "relu"}, "device,run"),
             Catch::Contains("NVIDIA GeForce RTX 4090 Laptop GPU,") && Catch::Contains(study.run().id.hex()));
  CHECK_THAT(study.hone({"query", "ladder", "relu"}).out, !Catch::Contains(study.run().id.hex()));
}

}  // namespace
}  // namespace hone::test
