#include "tuner/decide.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "db/ties.hpp"

namespace hone::tuner {

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
            const bool near = indistinguishable(statistics(fastest), statistics(i));
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
