// Which configuration to look at next: ask for one, tell what it took.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace hone::tuner {

/// Over the indices of a space. Several may be asked for before the first is told.
class Search {
 public:
  virtual ~Search() = default;
  /// None: the search is over.
  virtual std::optional<std::size_t> ask() = 0;
  /// `nanoseconds` of the best sample; none when it failed.
  virtual void tell(std::size_t index, std::optional<double> nanoseconds) = 0;
};

/// `exhaustive`: in order. `random`: all in a random order, for a budget to cut. `auto`: random where a
/// budget will cut the space, else exhaustive. `first` comes first in each. Throws Error{invalid} for another
/// name.
std::unique_ptr<Search> make_search(const std::string& name, std::size_t space,
                                    const std::vector<std::size_t>& first, bool cut_by_budget,
                                    std::uint64_t seed);

}  // namespace hone::tuner
