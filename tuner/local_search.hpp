// Iterated local search (Lourenco, Martin and Stuetzle 2003): go to the first neighbour that is faster, as
// long as there is one; then go a few random steps from the best point so far, and begin again.
#pragma once

#include "tuner/search.hpp"
#include "tuner/unasked.hpp"

namespace hone::tuner {

class LocalSearch final : public Search {
 public:
  LocalSearch(SearchSpace& space, const SearchSettings& settings);
  std::optional<std::size_t> ask() override;
  void tell(std::size_t point, std::optional<double> nanoseconds) override;

 private:
  struct Place {
    std::size_t point = 0;
    double time = 0;
  };

  void go_to(const Place& place);
  std::optional<std::size_t> begin_again();

  SearchSpace& space_;
  Unasked unasked_;
  std::optional<Place> here_, best_;
  std::vector<std::size_t> neighbours_;  ///< of `here_`, in random order
  std::optional<std::size_t> restart_;   ///< asked for; the search goes on from there
};

}  // namespace hone::tuner
