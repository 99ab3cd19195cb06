// Whether tuning runs agree: the winners that several databases hold for the same problems, tuned apart, meet
// in interleaved races; a problem whose databases name one configuration agrees, one whose winners tie in the
// race ties.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/rig.hpp"
#include "db/store.hpp"
#include "db/ties.hpp"
#include "tools/exit_code.hpp"

namespace hone::bench {
namespace {

using namespace hone::tuner;

/// By problem and alignment class, the winner of each database that has one.
using Winners = std::map<std::pair<db::Problem, std::int64_t>, std::vector<db::Configuration>>;

Winners winners_of(const std::vector<std::string>& files, const std::string& family, const db::Id& device,
                   Conditions& conditions) {
  Winners result;
  for (const std::string& file : files) {
    db::Store store = db::Store::open(file, db::Access::read_only);
    for (db::Winner& winner : store.winners({family, "", db::Regime::steady, device, {}})) {
      if (const auto m = store.measurement(winner.measurement)) conditions.add(m->condition);
      result[{std::move(winner.problem), winner.alignment}].push_back(std::move(winner.configuration));
    }
  }
  std::erase_if(result, [&](const auto& one) { return one.second.size() < files.size(); });
  return result;
}

int compare(const tools::Options& options) {
  const std::vector<std::string>& files = options.positional();
  if (files.size() < 2) throw Error(ErrorCode::invalid, "give at least two databases to compare");
  Rig rig(options);
  Conditions conditions;
  const Winners all = winners_of(files, rig.family().name, rig.device().record().id(), conditions);

  int agreed = 0, tied = 0;
  std::vector<double> worst;
  db::Problem at_hand;
  fmt::print("# {} on {}, {} databases\n", rig.family().name, rig.device().name, files.size());
  fmt::print("# while they were tuned: {}\n", conditions.text());
  fmt::print("problem,alignment,verdict,slowest_over_fastest,tie_bound,winners,medians_ns\n");
  for (const auto& [key, named] : all) {
    const auto& [problem, alignment] = key;
    std::vector<db::Configuration> distinct;
    for (const db::Configuration& c : named)
      if (std::find(distinct.begin(), distinct.end(), c) == distinct.end()) distinct.push_back(c);
    double ratio = 1, bound = 0.02;
    std::string medians;  // in the winners' order
    if (distinct.size() > 1) {
      if (problem != at_hand) rig.set_problem(problem);
      at_hand = problem;
      const auto tried = rig.look(distinct);
      std::vector<std::uint32_t> slots;
      for (std::uint32_t i = 0; i < tried.size(); ++i) {
        if (tried[i].outcome != db::Outcome::ok)
          throw Error(ErrorCode::failed, fmt::format("{}: {}: {}", problem.text(),
                                                     tried[i].configuration.text(), tried[i].reason));
        slots.push_back(i);
      }
      std::int64_t launches = 0;
      auto full = rig.measure_fully(tried, slots, 1, launches);
      for (const db::Statistics& s : full)
        medians += fmt::format("{}{:.1f}", medians.empty() ? "" : " | ", s.median);
      std::sort(full.begin(), full.end(), [](const auto& a, const auto& b) { return a.median < b.median; });
      ratio = full.back().median / full.front().median;
      bound = tie_bound(full.front(), full.back());
    }
    const bool tie = ratio <= 1 + bound;
    (distinct.size() == 1 ? agreed : tied) += tie ? 1 : 0;
    worst.push_back(ratio);
    std::string names;
    for (const db::Configuration& c : distinct) names += (names.empty() ? "" : " | ") + c.text();
    fmt::print("{},{},{},{:.4f},{:.4f},{},{}\n", problem.text(), alignment,
               distinct.size() == 1 ? "agree"
               : tie                ? "tie"
                                    : "differ",
               ratio, bound, names, medians);
    std::fflush(stdout);
  }
  if (worst.empty()) throw Error(ErrorCode::failed, "no problem has a winner in every database");
  fmt::print(
      "# {} agree, {} tie, {} differ; the slowest winner takes {:.4f} of the fastest's time (geometric "
      "mean), "
      "at worst {:.4f}\n",
      agreed, tied, static_cast<int>(worst.size()) - agreed - tied, geometric_mean(worst),
      *std::max_element(worst.begin(), worst.end()));
  return agreed + tied == static_cast<int>(worst.size()) ? tools::exit_done : tools::exit_failed;
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  hone::tools::Options options(
      "bench_repeat", "DATABASE...", "bench_repeat --device 0 run1.db run2.db run3.db",
      "Lets the winners that several databases hold for the same problems meet. CSV on "
      "stdout; exit code 1 when some neither agree nor tie.");
  hone::bench::add_rig_flags(options);
  return hone::bench::run(argc, argv, options, hone::bench::compare);
}
