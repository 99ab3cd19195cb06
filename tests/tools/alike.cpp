// Which figures of configurations are compared: those taken alike.
#include "tools/alike.hpp"

#include <catch2/catch.hpp>

#include "tests/tools/study.hpp"

namespace hone::test {
namespace {

constexpr std::int64_t mebi = 1 << 20;
constexpr db::Stage look = db::Stage::first_look;

/// The default with another block.
db::Values block(std::int64_t size) {
  return {{"block", size}};
}

/// What is compared of groups of blocks at the study's only problem: `race 90 80`; `-` for no figure.
std::string compared(Study& study, const std::vector<std::vector<std::int64_t>>& blocks) {
  const Family family = tools::tuned_family(study.store(), "relu");
  const tools::Filters filters(study.store(), "relu", {});
  const auto problems = tools::measured_problems(study.store(), filters, family);
  REQUIRE(problems.size() == 1);
  tools::AlikeFigures::Groups groups;
  for (const auto& group : blocks) {
    groups.emplace_back();
    for (const std::int64_t size : group) {
      db::Configuration configuration{"relu", "simt", family.variant("simt")->defaults};
      configuration.parameters["block"] = size;
      groups.back().push_back(configuration.id());
    }
  }
  const tools::Alike alike = tools::AlikeFigures(study.store(), problems[0]).fastest(groups);
  std::string text = alike.text();
  for (const db::MeasuredRow* row : alike.fastest)
    text +=
        row == nullptr ? " -" : ' ' + std::to_string(static_cast<int>(row->measurement.statistics.median));
  return text;
}

TEST_CASE("a race is compared with itself, where the fastest at first look came through it") {
  Study study;
  study.add("relu", mebi, block(64), 100, look);
  study.add("relu", mebi, block(128), 110, look);
  study.add("relu", mebi, block(256), 95, look);
  study.add("relu", mebi, block(64), 90);
  study.add("relu", mebi, block(128), 80);
  study.add("relu", mebi, block(256), 10, db::Stage::race, db::Outcome::raced_out);  // of its heats
  CHECK(compared(study, {{64}, {128}}) == "race 90 80");
  CHECK(compared(study, {{64, 128}}) == "race 80");
  CHECK(compared(study, {{64, 256}, {128}}) == "looks 95 110");
  CHECK(compared(study, {{64}, {512}}) == "race 90 -");
  CHECK(compared(study, {{512}}) == "none -");
}

TEST_CASE("a sweep's race is another one than its run's own") {
  Study study;
  study.add("relu", mebi, block(64), 90);
  study.add_sweep_point(mebi, study.add("relu", mebi, block(128), 80));
  CHECK(compared(study, {{64}, {128}}) == "race - 80");
  study.add("relu", mebi, block(128), 85);
  CHECK(compared(study, {{64}, {128}}) == "race 90 85");
}

TEST_CASE("first looks are of one run where it took them all, else of several, which is told") {
  Study study;
  study.add("relu", mebi, block(64), 100, look);
  study.add("relu", mebi, block(128), 110, look);
  study.next_run();
  study.add("relu", mebi, block(64), 50, look);
  CHECK(compared(study, {{64}, {128}}) == "looks 100 110");
  study.add("relu", mebi, block(256), 60, look);
  CHECK(compared(study, {{64}, {256}}) == "looks 50 60");
  CHECK(compared(study, {{64}, {128}, {256}}) == "looks of 2 runs 50 110 60");
  CHECK(compared(study, {{128}, {256}}) == "looks of 2 runs 110 60");
}

}  // namespace
}  // namespace hone::test
