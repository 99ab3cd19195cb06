// Portfolios with races that are simulated: every winner meets every tuned problem, once.
#include "tuner/portfolio.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "runtime/family.hpp"
#include "runtime/host_device.hpp"
#include "tests/tuner/simulated_race.hpp"

using namespace hone;
using namespace hone::tuner;

namespace {

/// tests/templates/strided on the host: `few` won the problems of few rows, `many` those of many.
class Rig {
 public:
  Rig() : store(db::Store::open(folder.file(), db::Access::create)) {
    store.put(db::Template{family.name, simt.name, simt.source_hash, family.manifest, simt.source});
    begin();
    for (const std::int64_t rows : {100, 200, 4000, 8000}) decide(rows, 64);
  }

  void begin() {
    run = db::testing::run(device.record(), ++clock);
    db::testing::prepare(store, run, device.record());
  }
  void decide(std::int64_t rows, std::int64_t columns) {
    const db::Problem problem{
        family.name, "f32", "", {{"rows", rows}, {"columns", columns}, {"ldy", columns + 3}}};
    db::testing::decide(store, run, problem, rows < 1000 ? few : many, simt.source_hash, ++clock);
  }

  PortfolioSummary race(int most = 1000, bool again = false) {
    const FinalistTask task{family, device, run, db::Regime::steady, "f32", "", again, {}};
    return portfolio(store, evaluator, task,
                     [&](const db::Problem& problem, std::vector<Candidate>& candidates) {
                       std::optional<std::vector<RaceRow>> rows;
                       if (most-- <= 0) return rows;
                       rows.emplace();
                       raced.insert(problem);
                       const bool is_few = problem.dimensions.front().second < 1000;
                       for (Candidate& c : candidates) {
                         const bool best = (c.configuration == few) == is_few;
                         rows->push_back(simulated_row(run, problem, c, best ? 100 : 120));
                         db::Measurement& m = rows->back().measurement;
                         if (!best) m.outcome = db::Outcome::raced_out;
                         m.alignment = 4;
                       }
                       return rows;
                     });
  }

  db::testing::Folder folder;
  db::Evaluator evaluator;
  Family family = parse_family(HONE_SOURCE_DIR "/tests/templates/strided/strided.toml");
  const Variant& simt = family.variants.front();
  DeviceInfo device = host_device_info();
  db::Store store;
  db::Run run;
  db::Configuration few{family.name, simt.name, simt.defaults},
      many{family.name, simt.name, {{"fault", std::string("into_gap")}}};
  std::set<db::Problem> raced;
  std::int64_t clock = 1'700'000'000'000'000;
};

}  // namespace

TEST_CASE("a portfolio races the winners at every problem that has one, those that are dropped counted too") {
  Rig rig;
  const PortfolioSummary done = rig.race();
  CHECK(done.unfinished.empty());
  CHECK(done.problems == 4);
  CHECK(done.races == 4);
  CHECK(done.members == 2);
  const auto members = rig.store.portfolio({});
  CHECK(db::portfolios_of(members) == 1);
  CHECK(db::portfolios_of({}) == 0);
  REQUIRE(members.size() == 2);
  for (const db::PortfolioMember& member : members) {
    CHECK(member.points == 2);
    CHECK(member.costs.size() == 4);
    CHECK(rig.store.code_object(member.build_key));
  }
  CHECK(rig.store.check().faults == std::vector<std::string>{});
}

TEST_CASE("a portfolio that was stopped goes on where it was, and takes in what was tuned since") {
  Rig rig;
  const PortfolioSummary stopped = rig.race(3);
  CHECK_FALSE(stopped.unfinished.empty());
  CHECK(stopped.races == 3);
  CHECK(rig.store.portfolio({}).empty());
  rig.begin();
  CHECK(rig.race().races == 1);
  CHECK(rig.store.portfolio({}).size() == 2);
  rig.begin();
  CHECK(rig.race().races == 0);
  CHECK(rig.store.sweeps({}).size() == 1);
  rig.decide(300, 512);  // with a winner that has raced
  rig.begin();
  const PortfolioSummary grown = rig.race();
  CHECK(grown.races == 1);
  CHECK(grown.problems == 5);
  CHECK(rig.store.portfolio({}).front().costs.size() == 5);
  rig.begin();
  CHECK(rig.race(1000, true).races == 5);
  CHECK(rig.store.check().faults == std::vector<std::string>{});
}

TEST_CASE("a portfolio without winners has nothing to race") {
  db::testing::Folder folder;
  Rig rig;
  db::Store empty = db::Store::open(folder.file(), db::Access::create);
  db::Evaluator evaluator;
  const FinalistTask task{rig.family, rig.device, rig.run, db::Regime::steady, "f32", "", false, {}};
  const PortfolioSummary summary = portfolio(
      empty, evaluator, task, [](const auto&, auto&) { return std::optional<std::vector<RaceRow>>(); });
  CHECK(summary.unfinished == "no problem has a winner");
}

TEST_CASE("points are spread: the farthest from those before comes next, each once") {
  CHECK(spread({{0, 0}, {0, 1}, {10, 0}, {5, 5}}, 3) == std::vector<std::size_t>{0, 2, 3});
  CHECK(spread({{1}, {1}, {1}}, 5) == std::vector<std::size_t>{0, 1, 2});
  CHECK(spread({}, 5).empty());
}
