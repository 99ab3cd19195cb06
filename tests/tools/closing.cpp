// What `hone tune` ends with.
#include <catch2/catch.hpp>

#include "tests/db/sample_database.hpp"
#include "tools/tune_closing.hpp"

namespace hone::tools {
namespace {

/// What a card did for a problem: a winner for each alignment.
tuner::ProblemSummary summary(const std::string& device, std::int64_t decided_us,
                              const std::vector<std::int64_t>& alignments) {
  tuner::ProblemSummary summary;
  summary.problem = db::testing::problem();
  summary.device = db::testing::device(device);
  summary.tried = 3;
  summary.outcomes[db::Outcome::raced_out] = 2;
  for (const std::int64_t alignment : alignments) {
    db::Winner winner;
    winner.alignment = alignment;
    winner.decided_us = decided_us;
    summary.winners.push_back(winner);
  }
  return summary;
}

TEST_CASE("problems of cards of one identity are told once, with the winners decided last") {
  tuner::ProblemSummary failed = summary("A", 3, {});
  failed.failure = "it was lost";
  const auto together =
      by_identity({summary("A", 1, {8, 16}), summary("B", 5, {16}), summary("A", 2, {4, 16}), failed});
  REQUIRE(together.size() == 2);
  const tuner::ProblemSummary& a = together[0];
  CHECK(a.tried == 9);
  CHECK(a.outcomes.at(db::Outcome::raced_out) == 6);
  CHECK(a.failure == "it was lost");
  std::map<std::int64_t, std::int64_t> decided;
  for (const db::Winner& winner : a.winners) decided[winner.alignment] = winner.decided_us;
  CHECK(decided == std::map<std::int64_t, std::int64_t>{{4, 2}, {8, 1}, {16, 2}});
  CHECK(together[1].winners.size() == 1);
}

TEST_CASE("a run that overran its time says by how much, and one within it does not") {
  tuner::TuneSummary run;
  tuner::TuneSettings settings;
  settings.budget.seconds = 10;
  run.timing.total = 10.4;
  CHECK(closing_text(run, settings).find("overrun") == std::string::npos);
  run.timing.total = 12.5;
  CHECK(closing_text(run, settings).find("the budget is spent, overrun by 2.5 s: ") != std::string::npos);
}

}  // namespace
}  // namespace hone::tools
