#include "tuner/evolutionary_search.hpp"

namespace hone::tuner {

namespace {

constexpr std::size_t population = 20;
constexpr int tournament = 3;
constexpr int tries = 50;  ///< for a child that is legal and new

}  // namespace

EvolutionarySearch::EvolutionarySearch(SearchSpace& space, const SearchSettings& settings)
    : space_(space), unasked_(space, settings.first, settings.seed) {}

std::optional<std::size_t> EvolutionarySearch::ask() {
  if (const auto first = unasked_.take_first()) return first;
  auto point = told_ < population || population_.size() < 2 ? unasked_.any() : child();
  if (!point) point = unasked_.any();
  if (point) unasked_.take(*point);
  return point;
}

const EvolutionarySearch::Individual& EvolutionarySearch::parent() {
  std::size_t best = population_.size() - 1;
  for (int i = 0; i < tournament; ++i)
    best = std::min<std::size_t>(best, unasked_.random()() % population_.size());
  return population_[best];
}

std::optional<std::size_t> EvolutionarySearch::child() {
  std::mt19937_64& random = unasked_.random();
  for (int i = 0; i < tries; ++i) {
    const Levels& mother = space_.levels(parent().point);
    const Levels& father = space_.levels(parent().point);
    Levels levels = mother;
    for (std::size_t d = 0; d < levels.size(); ++d)
      if (random() % 2 == 0) levels[d] = father[d];
    // Parents of two variants have parameters that the other one's has not.
    auto point = space_.find_or_admit(space_.moved_to(levels, levels[0]));
    // One mutation a child, on average.
    while (point && random() % 2 == 0) {
      const std::vector<std::size_t> around = space_.neighbours(*point);
      if (around.empty()) break;
      point = around[random() % around.size()];
    }
    if (point && unasked_.has(*point)) return point;
  }
  return std::nullopt;
}

void EvolutionarySearch::tell(std::size_t point, std::optional<double> nanoseconds) {
  unasked_.take(point);
  ++told_;
  if (!nanoseconds) return;
  const Individual individual{point, *nanoseconds};
  const auto at = std::upper_bound(population_.begin(), population_.end(), individual,
                                   [](const Individual& a, const Individual& b) { return a.time < b.time; });
  population_.insert(at, individual);
  if (population_.size() > population) population_.pop_back();
}

}  // namespace hone::tuner
