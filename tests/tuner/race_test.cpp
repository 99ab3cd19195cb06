#include "tuner/race.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "db/ties.hpp"
#include "tuner/decide.hpp"
#include "tuner/statistics.hpp"

using namespace hone;
using namespace hone::tuner;

namespace {

/// Candidates with true times, measured with noise and a clock that drifts.
class SimulatedDevice {
 public:
  SimulatedDevice(std::vector<double> times, double noise, double drift, unsigned seed)
      : times_(std::move(times)), noise_(noise), drift_(drift), random_(seed) {}

  double sample(std::uint32_t slot) {
    ++taken_;
    const double clock = 1 + drift_ * std::sin(static_cast<double>(taken_) / 50);
    return times_[slot] * clock * (1 + noise_ * std::abs(std::normal_distribution<double>()(random_)));
  }
  Take take() {
    return [this](std::span<const std::uint32_t> slots, std::span<const std::uint32_t>, std::uint32_t) {
      std::vector<double> result;
      for (const std::uint32_t slot : slots) result.push_back(sample(slot));
      return result;
    };
  }
  std::vector<Entrant> looked_at() {
    std::vector<Entrant> entrants(times_.size());
    for (std::uint32_t i = 0; i < times_.size(); ++i) {
      entrants[i].slot = i;
      entrants[i].look = std::min({sample(i), sample(i), sample(i)});
    }
    return entrants;
  }

 private:
  std::vector<double> times_;
  double noise_, drift_;
  std::mt19937 random_;
  std::int64_t taken_ = 0;
};

std::vector<Finalist> finalists_of(const std::vector<Entrant>& entrants) {
  std::vector<Finalist> result;
  for (const Entrant& e : entrants) {
    if (e.final.empty()) continue;
    Finalist f;
    f.measurement.bytes[0] = static_cast<std::uint8_t>(e.slot);
    f.measurement.bytes[1] = static_cast<std::uint8_t>(e.slot >> 8);
    f.alignment = e.alignment;
    f.statistics = summarise(e.final);
    f.samples = e.final;
    f.distance = e.slot;
    f.by_default = e.kept;
    result.push_back(f);
  }
  return result;
}

std::uint32_t slot_of(const Finalist& f) {
  return f.measurement.bytes[0] + 256U * f.measurement.bytes[1];
}

}  // namespace

TEST_CASE("a race on simulated noise") {
  rc::prop("chooses one near the true best, and never one slower than the default beyond the tie bound", [] {
    const auto seed = *rc::gen::arbitrary<unsigned>();
    std::mt19937 random(seed);
    const std::size_t n = std::uniform_int_distribution<std::size_t>(2, 120)(random);
    std::vector<double> times(n);
    for (double& t : times) t = std::uniform_real_distribution<double>(5e3, 15e3)(random);
    const double best = *std::min_element(times.begin(), times.end());

    SimulatedDevice device(times, 0.004, 0.01, seed);
    std::vector<Entrant> entrants = device.looked_at();
    entrants[0].kept = true;  // the default
    std::int64_t launches = 0;
    RC_ASSERT(race(
        entrants, {}, device.take(), [] { return false; }, launches));

    const std::vector<Finalist> finalists = finalists_of(entrants);
    const std::vector<Choice> choices = decide(finalists, {1});
    RC_ASSERT(choices.size() == 1U);
    const Finalist& chosen = finalists[choices[0].chosen];
    RC_ASSERT(times[slot_of(chosen)] <= best * 1.04);
    for (const Finalist& f : finalists)
      if (f.by_default)
        RC_ASSERT(chosen.statistics.median <=
                  f.statistics.median * (1 + tie_bound(chosen.statistics, f.statistics)));
    RC_ASSERT(launches > 0);
  });
}

TEST_CASE("every alignment class keeps its best to the final") {
  // Wide accesses are faster; the narrow ones would all be dropped if they raced against those.
  std::vector<double> times;
  for (int i = 0; i < 90; ++i) times.push_back(1000 + 10 * (i % 30) + (i < 30 ? 0 : i < 60 ? 2000 : 8000));
  SimulatedDevice device(times, 0.002, 0.005, 7);
  std::vector<Entrant> entrants = device.looked_at();
  for (std::uint32_t i = 0; i < 90; ++i) entrants[i].alignment = i < 30 ? 16 : i < 60 ? 4 : 1;
  std::int64_t launches = 0;
  REQUIRE(race(
      entrants, {}, device.take(), [] { return false; }, launches));
  CHECK_FALSE(entrants[0].final.empty());
  CHECK_FALSE(entrants[30].final.empty());
  CHECK_FALSE(entrants[60].final.empty());

  std::vector<Finalist> finalists = finalists_of(entrants);
  const std::vector<Choice> choices = decide(finalists, {1, 4, 16});
  REQUIRE(choices.size() == 3);
  CHECK(choices[0].alignment == 1);
  CHECK(choices[1].alignment == 4);
  CHECK(choices[2].alignment == 16);
  CHECK(finalists[choices[0].chosen].alignment == 1);
  CHECK(finalists[choices[1].chosen].alignment == 4);
  CHECK(finalists[choices[2].chosen].alignment == 16);
}

TEST_CASE("an entrant whose worker is lost leaves the race, the others finish") {
  SimulatedDevice device(std::vector<double>(20, 1000.0), 0.001, 0, 3);
  std::vector<Entrant> entrants = device.looked_at();
  const Take inner = device.take();
  const Take take = [&](std::span<const std::uint32_t> slots, std::span<const std::uint32_t> launches,
                        std::uint32_t warm_ups) {
    std::vector<double> result = inner(slots, launches, warm_ups);
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i] == 5) result[i] = std::numeric_limits<double>::quiet_NaN();
    return result;
  };
  RaceSettings everyone;
  everyone.finalists = 20;
  std::int64_t launches = 0;
  REQUIRE(race(
      entrants, everyone, take, [] { return false; }, launches));
  CHECK(entrants[5].lost);
  CHECK(entrants[5].final.empty());
  int finished = 0;
  for (const Entrant& e : entrants) finished += e.final.size() == 15U;
  CHECK(finished == 19);
}

TEST_CASE("a stopped race says that it did not end") {
  SimulatedDevice device(std::vector<double>(4, 1000.0), 0.001, 0, 3);
  std::vector<Entrant> entrants = device.looked_at();
  std::int64_t launches = 0;
  CHECK_FALSE(race(
      entrants, {}, device.take(), [] { return true; }, launches));
}

TEST_CASE("ties keep the incumbent, else the simpler") {
  std::vector<Finalist> finalists(3);
  for (std::size_t i = 0; i < 3; ++i) {
    finalists[i].measurement.bytes[0] = static_cast<std::uint8_t>(i + 1);
    finalists[i].alignment = 16;
    finalists[i].statistics = {15, 100, 100, 100, 100};
  }
  finalists[0].distance = 3;
  finalists[1].distance = 1, finalists[1].statistics.median = 100.4;
  finalists[2].distance = 0, finalists[2].statistics.median = 101.5;  // simpler still, but 1.5 % slower
  CHECK(decide(finalists, {1, 4, 16})[0].chosen == 1);
  CHECK(decide(finalists, {1, 4, 16})[0].tied.size() == 3);
  finalists[2].incumbent = true;
  CHECK(decide(finalists, {1, 4, 16})[0].chosen == 2);
  finalists[2].statistics.median = 104;  // beyond the bound: being incumbent helps no more
  CHECK(decide(finalists, {1, 4, 16})[0].chosen == 1);
}

TEST_CASE("every class that a finalist serves gets a choice, a wider one perhaps the narrower's") {
  std::vector<Finalist> finalists(2);
  finalists[0].alignment = 4;
  finalists[0].statistics = {15, 100, 100, 100, 100};
  finalists[1].alignment = 16;
  finalists[1].statistics = {15, 200, 200, 200, 200};
  const auto choices = decide(finalists, {1, 4, 8, 16});
  REQUIRE(choices.size() == 3);
  CHECK(choices[0].alignment == 4);
  CHECK(choices[1].alignment == 8);
  CHECK(choices[2].alignment == 16);
  for (const Choice& choice : choices) CHECK(choice.chosen == 0);
}

TEST_CASE("samples of one round are held against each other, whatever the rounds differ by") {
  // Placements of the buffers move both by 10 %; one is 1.5 % slower in every round.
  std::vector<Finalist> finalists(2);
  for (int round = 0; round < 15; ++round) {
    const double placement = 100 * (1 + 0.1 * (round % 3));
    finalists[0].samples.push_back(placement);
    finalists[1].samples.push_back(placement * 1.015);
  }
  finalists[0].distance = 3;  // the faster is the less simple
  for (Finalist& f : finalists) f.statistics = summarise(f.samples);
  finalists[0].measurement.bytes[0] = 1;
  const Choice choice = decide(finalists, {1})[0];
  CHECK(choice.chosen == 0);
  CHECK(choice.tied.size() == 2);
  CHECK(choice.tie_bound > 0.02);
}

TEST_CASE("noise is no reason to take the slower for its simplicity") {
  std::vector<Finalist> finalists(2);
  for (int round = 0; round < 15; ++round) {
    finalists[0].samples.push_back(100);
    finalists[1].samples.push_back(round % 3 == 0 ? 100 : 250);
  }
  finalists[0].distance = 1;
  for (Finalist& f : finalists) f.statistics = summarise(f.samples);
  CHECK(decide(finalists, {1})[0].chosen == 0);
}
