// Which configuration to look at next: ask for one, tell what it took.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/ties.hpp"
#include "tuner/search_space.hpp"

namespace hone::tuner {

/// Over the points of a space. Several may be asked for before the first is told; none is asked for twice.
class Search {
 public:
  virtual ~Search() = default;
  /// None: the search is over.
  virtual std::optional<std::size_t> ask() = 0;
  /// `nanoseconds` of the best sample; none when it failed. What was not asked for may be told too, and is
  /// not asked for any more.
  virtual void tell(std::size_t point, std::optional<double> nanoseconds) = 0;
  /// Whether the next answer depends on what it was told, so that it should be told soon.
  virtual bool learns() const { return true; }
  /// Why it ended before it had seen every point; empty: it did not.
  virtual std::string ended() const { return ""; }
};

/// Points 0 to `points` - 1, in that order.
std::unique_ptr<Search> search_in_order(std::size_t points);

/// What was measured somewhere else: of another problem, element type or device. Never trusted, only a reason
/// to look there first.
struct Elsewhere {
  std::string what;  ///< for people: `NVIDIA H200 f16 M=1024`
  /// Points by their levels, with the best sample's nanoseconds; none for those that failed.
  std::vector<std::pair<Levels, std::optional<double>>> measured;
};

struct SearchSettings {
  std::string name = "auto";
  std::vector<std::size_t> first;          ///< asked for before all others, in this order
  bool cut = false;                        ///< a budget may end the search before it has seen every point
  bool may_end = true;                     ///< it may end when going on is not expected to gain `tie_bound`
  double tie_bound = db::least_tie_bound;  ///< relative
  std::vector<Elsewhere> elsewhere;
  std::uint64_t seed = 1;
};

/// The names that make_search() knows, `auto` first.
const std::vector<std::string>& search_names();

/// Throws Error{invalid} for a name that is not one of them.
void require_search(const std::string& name);

/// The name that `auto` stands for: `exhaustive` for spaces of up to a few thousand points that no budget
/// cuts, else `guided`. Other names stand for themselves.
std::string search_named(const std::string& name, std::size_t points, bool cut);

/// `exhaustive`: in order. `random`: all in a random order. `local`: iterated local search. `evolutionary`: a
/// steady-state genetic algorithm. `guided`: by a model of what was measured. The space must outlive it; its
/// points may grow through it. Throws as require_search() does.
std::unique_ptr<Search> make_search(SearchSpace& space, SearchSettings settings);

}  // namespace hone::tuner
