// A steady-state genetic algorithm: two parents by tournament, each parameter from either, some changed to a
// neighbour's, and the child takes the place of the slowest. Children outside the space are not born.
#pragma once

#include "tuner/search.hpp"
#include "tuner/unasked.hpp"

namespace hone::tuner {

class EvolutionarySearch final : public Search {
 public:
  EvolutionarySearch(SearchSpace& space, const SearchSettings& settings);
  std::optional<std::size_t> ask() override;
  void tell(std::size_t point, std::optional<double> nanoseconds) override;

 private:
  struct Individual {
    std::size_t point = 0;
    double time = 0;
  };

  const Individual& parent();
  std::optional<std::size_t> child();

  SearchSpace& space_;
  Unasked unasked_;
  std::vector<Individual> population_;  ///< fastest first
  std::size_t told_ = 0;
};

}  // namespace hone::tuner
