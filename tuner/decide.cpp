#include "tuner/decide.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "db/ties.hpp"
#include "tuner/statistics.hpp"

namespace hone::tuner {

namespace {

/// Whether `slower` is so near that the simpler of the two may serve: within 0.5 %, or within what the race
/// can tell apart, but never beyond 1 %: where the noise is large, simplicity is no reason to take the
/// slower. A tie of 2 % is enough to keep an incumbent; to take the slower of two new configurations for its
/// simplicity it is too wide. Samples of one round were taken one after the other on the same buffers, so
/// that their ratio knows nothing of drift and placement; its median is known to 1.57 interquartile ranges
/// over the root of the rounds (McGill, Tukey and Larsen 1978).
bool indistinguishable(const Finalist& faster, const Finalist& slower) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(faster.samples.size(), slower.samples.size()); ++i)
    ratios.push_back(slower.samples[i] / faster.samples[i]);
  if (ratios.empty()) return slower.statistics.median <= faster.statistics.median * 1.005;
  const db::Statistics s = summarise(ratios);
  const double uncertain = 1.57 * s.spread() / std::sqrt(static_cast<double>(s.n));
  return s.median <= 1 + std::clamp(uncertain, 0.005, 0.01);
}

}  // namespace

std::vector<Choice> decide(const std::vector<Finalist>& finalists, const std::set<std::int64_t>& classes) {
  std::vector<Choice> choices;
  for (const std::int64_t alignment : classes) {
    std::vector<std::size_t> serve;
    for (std::size_t i = 0; i < finalists.size(); ++i)
      if (finalists[i].alignment <= alignment) serve.push_back(i);
    if (serve.empty()) continue;
    const auto statistics = [&](std::size_t i) -> const db::Statistics& { return finalists[i].statistics; };
    const std::size_t fastest = *std::min_element(
        serve.begin(), serve.end(),
        [&](std::size_t a, std::size_t b) { return statistics(a).median < statistics(b).median; });

    Choice choice;
    choice.alignment = alignment;
    for (const std::size_t i : serve)
      if (ties(statistics(fastest), statistics(i))) choice.tied.push_back(i);
    choice.chosen =
        *std::min_element(choice.tied.begin(), choice.tied.end(), [&](std::size_t a, std::size_t b) {
          const auto rank = [&](std::size_t i) {
            const bool near = indistinguishable(finalists[fastest], finalists[i]);
            return std::tuple(!finalists[i].incumbent, !near, near ? finalists[i].distance : 0,
                              statistics(i).median);
          };
          return rank(a) < rank(b);
        });
    choice.tie_bound = tie_bound(statistics(fastest), statistics(choice.chosen));
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace hone::tuner
