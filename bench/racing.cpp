// How far racing is from measuring everything fully: for each problem a sample of the space is raced as the
// tuner does it, then every configuration that passed gets the full protocol, and the two winners meet in an
// interleaved race of their own.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "bench/rig.hpp"
#include "db/ties.hpp"
#include "runtime/plan.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/parse.hpp"
#include "tuner/decide.hpp"
#include "tuner/problems.hpp"
#include "tuner/space.hpp"
#include "tuner/statistics.hpp"

namespace hone::bench {
namespace {

using namespace hone::tuner;

std::vector<db::Configuration> sample_of(Rig& rig, const db::Problem& problem, std::size_t size,
                                         std::mt19937_64& random) {
  std::vector<db::Configuration> all;
  for (Point& point : space(rig.evaluator(), rig.family(), problem, rig.device()))
    if (point.excess.empty()) all.push_back(std::move(point.configuration));
  const auto by_default =
      std::find(all.begin(), all.end(), default_configuration(rig.family(), rig.device()));
  if (by_default != all.end()) std::iter_swap(all.begin(), by_default);
  if (all.size() > size) {
    std::shuffle(all.begin() + 1, all.end(), random);
    all.resize(size);
  }
  return all;
}

/// The slot that a run would choose for the widest alignment class.
std::uint32_t raced_winner(Rig& rig, const std::vector<Tried>& tried, std::uint64_t seed,
                           std::int64_t& launches) {
  std::vector<Looked> looked;
  for (std::uint32_t i = 0; i < tried.size(); ++i) {
    launches += tried[i].launches;
    if (tried[i].outcome == db::Outcome::ok) looked.push_back({i, tried[i].alignment, i == 0, tried[i].look});
  }
  RaceSettings settings;
  settings.seed = seed;
  Field field = after_looks(looked, settings);
  race(
      field.entrants, settings, rig.take(), [] { return false; }, launches);
  std::vector<Finalist> finalists;
  std::vector<std::uint32_t> slots;
  std::int64_t widest = 1;
  for (const Entrant& entrant : field.entrants) {
    if (entrant.final.empty()) continue;
    Finalist f;
    f.alignment = entrant.alignment;
    f.statistics = summarise(entrant.final);
    f.samples = entrant.final;
    f.distance = distance_from_default(rig.family(), rig.device(), tried[entrant.slot].configuration);
    widest = std::max(widest, f.alignment);
    finalists.push_back(f);
    slots.push_back(entrant.slot);
  }
  return slots[decide(finalists, {widest}).front().chosen];
}

int compare(const tools::Options& options) {
  const auto size =
      static_cast<std::size_t>(tools::parse_integer("--sample", options.get("sample", "120"), 2));
  const auto seed = static_cast<std::uint64_t>(tools::parse_integer("--seed", options.get("seed", "1"), 0));
  TuneSettings settings;
  settings.element_types = tools::element_types_of(options);
  settings.shapes = tools::shapes_of(options);
  settings.sweep = tools::parse_sweep("--sweep", options.get("sweep", "16KiB:8MiB"));

  Rig rig(options);
  std::mt19937_64 random(seed);
  std::vector<double> ratios;
  std::int64_t raced_all = 0, full_all = 0;
  int tied = 0;
  fmt::print("# {} on {}, samples of {}\n", rig.family().name, rig.device().name, size);
  fmt::print("problem,tried,launches_raced,launches_full,ratio,tie_bound,tied,raced,full\n");
  for (const db::Problem& problem :
       problems_of(rig.evaluator(), rig.family(), settings, rig.device().last_level_cache_bytes)) {
    rig.set_problem(problem);
    const auto tried = rig.look(sample_of(rig, problem, size, random));
    std::int64_t raced_launches = 0, full_launches = 0, duel_launches = 0;
    const std::uint32_t raced = raced_winner(rig, tried, seed, raced_launches);

    std::vector<std::uint32_t> everyone;
    for (std::uint32_t i = 0; i < tried.size(); ++i)
      if (tried[i].outcome == db::Outcome::ok) everyone.push_back(i);
    const auto full = rig.measure_fully(tried, everyone, seed, full_launches);
    const std::uint32_t best = everyone[static_cast<std::size_t>(
        std::min_element(full.begin(), full.end(),
                         [](const auto& a, const auto& b) { return a.median < b.median; }) -
        full.begin())];

    double ratio = 1, bound = 0.02;
    if (raced != best) {
      const auto duel = rig.measure_fully(tried, {raced, best}, seed + 1, duel_launches);
      ratio = duel[0].median / duel[1].median;
      bound = tie_bound(duel[0], duel[1]);
    }
    const bool tie = ratio <= 1 + bound;
    tied += tie ? 1 : 0;
    ratios.push_back(ratio);
    raced_all += raced_launches;
    full_all += full_launches;
    fmt::print("{},{},{},{},{:.4f},{:.4f},{},{},{}\n", problem.text(), everyone.size(), raced_launches,
               full_launches, ratio, bound, tie ? "yes" : "no", tried[raced].configuration.text(),
               tried[best].configuration.text());
    std::fflush(stdout);
  }
  fmt::print(
      "# {} of {} within the tie bound; the raced winner takes {:.4f} of the other's time (geometric mean), "
      "at "
      "worst {:.4f}\n",
      tied, ratios.size(), geometric_mean(ratios), *std::max_element(ratios.begin(), ratios.end()));
  fmt::print("# launches: {} raced, {} measuring everything: {:.1f} times as many\n", raced_all, full_all,
             static_cast<double>(full_all) / static_cast<double>(raced_all));
  fmt::print("# {}\n", rig.conditions().text());
  return tied == static_cast<int>(ratios.size()) ? tools::exit_done : tools::exit_failed;
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  hone::tools::Options options(
      "bench_racing", "", "bench_racing --device host --sweep 16KiB:8MiB --sample 120",
      "Races a sample of a family's space, measures all of it fully, and lets the two "
      "winners meet. CSV on stdout; exit code 1 when one of them does not tie.");
  hone::bench::add_rig_flags(options);
  hone::tools::add_type_flag(options);
  hone::tools::add_shape_flag(options);
  options.value("sweep", "LO:HI", "working sets, as of hone tune --sweep (16KiB:8MiB)")
      .value("sample", "N", "configurations tried on each problem, the default among them (120)")
      .value("seed", "N", "of the sample and the order of measuring (1)");
  return hone::bench::run(argc, argv, options, hone::bench::compare);
}
