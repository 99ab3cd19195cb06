// What a configuration is expected to take on a problem never measured: times of a device that obeys a law,
// which the predictor is not told.
#include "runtime/predictor.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "runtime/host_device.hpp"
#include "runtime/plan.hpp"

using namespace hone;

namespace {

constexpr std::int64_t kUnits = 132;

/// addmm_glu's mma on a device of 132 compute units: blocks of tiles, wave after wave, after 3 us.
class Rig {
 public:
  Rig() { device.compute_units = kUnits; }

  db::Problem problem(std::int64_t m, std::int64_t n, std::int64_t k) {
    return make_problem(evaluator, family, "f16", "nn", {{"M", m}, {"N", n}, {"K", k}});
  }
  db::Values tiles(std::int64_t tile_m, std::int64_t tile_n) const {
    db::Values values = variant->defaults;
    values["tile_m"] = tile_m;
    values["tile_n"] = tile_n;
    return values;
  }
  /// Nanoseconds: a unit does 4 operations a nanosecond and element of 16 columns of its tile, at most 128.
  static double law(const db::Problem& problem, const db::Values& tiles) {
    const auto [m, n, k] = std::tuple(extent(problem, 0), extent(problem, 1), extent(problem, 2));
    const auto tile = [&](const char* name) {
      return static_cast<double>(std::get<std::int64_t>(tiles.at(name)));
    };
    const double blocks = std::ceil(m / tile("tile_m")) * std::ceil(n / tile("tile_n"));
    const double rate = 4 * std::min(128.0, tile("tile_n"));
    return 3000 + std::ceil(blocks / kUnits) * (500 + 2 * tile("tile_m") * tile("tile_n") * k / rate / 16);
  }
  static double extent(const db::Problem& problem, std::size_t i) {
    return static_cast<double>(problem.dimensions[i].second);
  }

  db::Evaluator evaluator;
  Family family = parse_family(HONE_SOURCE_DIR "/kernel_templates/addmm_glu/addmm_glu.toml");
  const Variant* variant = family.variant("mma");
  DeviceInfo device = host_device_info();
};

}  // namespace

TEST_CASE("the predictor learns waves of blocks, and finds the fastest between the problems measured") {
  Rig rig;
  const std::vector<db::Values> tiles{rig.tiles(64, 64), rig.tiles(128, 64), rig.tiles(128, 128),
                                      rig.tiles(64, 128)};
  std::vector<db::Problem> measured;
  for (const std::int64_t m : {60, 200, 700, 2500})
    for (const std::int64_t n : {1000, 3300, 9000})
      for (const std::int64_t k : {512, 4096}) measured.push_back(rig.problem(m, n, k));
  std::vector<Predictor::Member> members;
  for (const db::Values& each : tiles) {
    Predictor::Member member{rig.variant, &each, {}};
    for (std::size_t i = 0; i < measured.size(); ++i)
      member.measured.emplace_back(i, Rig::law(measured[i], each));
    members.push_back(std::move(member));
  }
  // One that was measured at a few problems is expected to do elsewhere as the others do.
  members[3].measured.resize(6);
  const Predictor predictor(rig.evaluator, rig.family, rig.device, measured, members);

  std::mt19937 random(7);
  const auto draw = [&](double low, double high) {
    return static_cast<std::int64_t>(
        std::exp2(std::uniform_real_distribution<double>(std::log2(low), std::log2(high))(random)));
  };
  double regret = 0;
  constexpr int draws = 200;
  for (int i = 0; i < draws; ++i) {
    const db::Problem problem = rig.problem(draw(60, 2500), draw(1000, 9000), draw(512, 4096));
    INFO(problem.text());
    const std::vector<double> expected = predictor.nanoseconds(rig.evaluator, rig.family, problem);
    REQUIRE(expected.size() == tiles.size());
    for (std::size_t m = 0; m < 3; ++m)
      CHECK(expected[m] == Approx(Rig::law(problem, tiles[m])).epsilon(0.25));
    const auto chosen =
        static_cast<std::size_t>(std::min_element(expected.begin(), expected.end()) - expected.begin());
    double best = Rig::law(problem, tiles[0]);
    for (const db::Values& each : tiles) best = std::min(best, Rig::law(problem, each));
    regret += std::log(Rig::law(problem, tiles[chosen]) / best) / draws;
  }
  CHECK(std::exp(regret) < 1.02);
}

TEST_CASE("the predictor learns waves of as many blocks as the units have at once") {
  Rig rig;
  rig.device.backend = Backend::cuda;
  rig.device.architecture = "sm_90a";
  rig.device.max_threads = 1024;
  rig.device.shared_memory_bytes = 227 << 10;
  // A block of 64 x 64 has 256 threads and 32 KiB a unit's 227: seven at once.
  db::Values tiles = rig.tiles(64, 64);
  tiles["warps_m"] = tiles["warps_n"] = std::int64_t{2};
  tiles["tile_k"] = std::int64_t{64};
  tiles["stages"] = std::int64_t{2};
  tiles["vector"] = std::int64_t{16};
  tiles["group_m"] = std::int64_t{8};
  tiles["load"] = std::string("async");
  tiles["persistent"] = std::int64_t{0};
  const auto law = [](const db::Problem& problem) {
    const double blocks = std::ceil(Rig::extent(problem, 0) / 64) * std::ceil(Rig::extent(problem, 1) / 64);
    return 2000 + 40 * std::ceil(blocks / (7 * kUnits)) * Rig::extent(problem, 2);
  };
  std::vector<db::Problem> measured;
  for (const std::int64_t m : {64, 250, 1000, 4000})
    for (const std::int64_t n : {1024, 3000, 9000})
      for (const std::int64_t k : {512, 4096}) measured.push_back(rig.problem(m, n, k));
  Predictor::Member member{rig.variant, &tiles, {}};
  for (std::size_t i = 0; i < measured.size(); ++i) member.measured.emplace_back(i, law(measured[i]));
  const Predictor predictor(rig.evaluator, rig.family, rig.device, measured, std::span(&member, 1));
  // Just a wave of all, and a block more.
  for (const std::int64_t m : {64 * 12 * 7, 64 * 12 * 7 + 1}) {
    const db::Problem problem = rig.problem(m, 64 * 11, 2048);
    INFO(problem.text());
    CHECK(predictor.nanoseconds(rig.evaluator, rig.family, problem).front() ==
          Approx(law(problem)).epsilon(0.05));
  }
}

TEST_CASE(
    "at a problem that was measured the predictor says about what was measured, whatever the others say") {
  Rig rig;
  const db::Values tiles = rig.tiles(128, 128);
  const std::vector<db::Problem> measured{rig.problem(64, 4096, 4096), rig.problem(512, 4096, 4096),
                                          rig.problem(4096, 4096, 4096)};
  const std::vector<Predictor::Member> members{
      {rig.variant, &tiles, {{0, 10'000.0}, {1, 90'000.0}, {2, 200'000.0}}}};
  const Predictor predictor(rig.evaluator, rig.family, rig.device, measured, members);
  for (const auto& [at, time] : members[0].measured)
    CHECK(predictor.nanoseconds(rig.evaluator, rig.family, measured[at]).front() ==
          Approx(time).epsilon(0.02));
}

TEST_CASE("a predictor of nothing predicts nothing") {
  Rig rig;
  const Predictor predictor(rig.evaluator, rig.family, rig.device, {}, {});
  CHECK(predictor.nanoseconds(rig.evaluator, rig.family, rig.problem(1, 1, 1)).empty());
}
