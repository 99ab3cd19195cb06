#include "tuner/search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hone/error.hpp"
#include "tuner/evolutionary_search.hpp"
#include "tuner/guided_search.hpp"
#include "tuner/local_search.hpp"
#include "tuner/unasked.hpp"

namespace hone::tuner {

namespace {

/// Spaces up to this size are tried as a whole: a race of some minutes at most.
constexpr std::size_t most_tried_as_a_whole = 5000;
constexpr std::size_t most_from_elsewhere = 3;  ///< tried first, of each place

/// In order, whatever it is told.
class ExhaustiveSearch final : public Search {
 public:
  ExhaustiveSearch(const SearchSpace& space, const SearchSettings& settings)
      : space_(space), unasked_(space, settings.first, settings.seed) {}
  std::optional<std::size_t> ask() override {
    if (const auto first = unasked_.take_first()) return first;
    while (next_ < space_.size() && !unasked_.has(next_)) ++next_;
    if (next_ == space_.size()) return std::nullopt;
    return next_++;
  }
  void tell(std::size_t point, std::optional<double>) override { unasked_.take(point); }
  bool learns() const override { return false; }

 private:
  const SearchSpace& space_;
  Unasked unasked_;
  std::size_t next_ = 0;
};

/// In a random order, whatever it is told.
class RandomSearch final : public Search {
 public:
  RandomSearch(const SearchSpace& space, const SearchSettings& settings)
      : unasked_(space, settings.first, settings.seed) {}
  std::optional<std::size_t> ask() override {
    const auto first = unasked_.take_first();
    return first ? first : unasked_.take_any();
  }
  void tell(std::size_t point, std::optional<double>) override { unasked_.take(point); }
  bool learns() const override { return false; }

 private:
  Unasked unasked_;
};

class InOrder final : public Search {
 public:
  explicit InOrder(std::size_t points) : points_(points) {}
  std::optional<std::size_t> ask() override {
    return next_ < points_ ? std::optional(next_++) : std::nullopt;
  }
  void tell(std::size_t, std::optional<double>) override {}
  bool learns() const override { return false; }

 private:
  std::size_t points_, next_ = 0;
};

/// The fastest elsewhere that are points here come first.
void add_fastest(SearchSpace& space, const Elsewhere& elsewhere, std::vector<std::size_t>& first) {
  std::vector<std::pair<double, const Levels*>> fastest;
  for (const auto& [levels, nanoseconds] : elsewhere.measured)
    if (nanoseconds) fastest.emplace_back(*nanoseconds, &levels);
  std::sort(fastest.begin(), fastest.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t added = 0;
  for (auto at = fastest.begin(); at != fastest.end() && added < most_from_elsewhere; ++at)
    if (const auto point = space.find_or_admit(*at->second)) {
      first.push_back(*point);
      ++added;
    }
}

template <typename T>
std::unique_ptr<Search> make(SearchSpace& space, const SearchSettings& settings) {
  return std::make_unique<T>(space, settings);
}

}  // namespace

std::unique_ptr<Search> search_in_order(std::size_t points) {
  return std::make_unique<InOrder>(points);
}

const std::vector<std::string>& search_names() {
  static const std::vector<std::string> names{"auto",  "exhaustive",   "random",
                                              "local", "evolutionary", "guided"};
  return names;
}

void require_search(const std::string& name) {
  const auto& names = search_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error(ErrorCode::invalid,
                fmt::format("no search is called {}; there are {}", name, fmt::join(names, ", ")));
}

std::string search_named(const std::string& name, std::size_t points, bool cut) {
  if (name != "auto") return name;
  return points <= most_tried_as_a_whole && !cut ? "exhaustive" : "guided";
}

std::unique_ptr<Search> make_search(SearchSpace& space, SearchSettings settings) {
  require_search(settings.name);
  const std::string name = search_named(settings.name, space.size(), settings.cut);
  for (const Elsewhere& elsewhere : settings.elsewhere) add_fastest(space, elsewhere, settings.first);
  if (name == "exhaustive") return make<ExhaustiveSearch>(space, settings);
  if (name == "random") return make<RandomSearch>(space, settings);
  if (name == "local") return make<LocalSearch>(space, settings);
  if (name == "evolutionary") return make<EvolutionarySearch>(space, settings);
  return make<GuidedSearch>(space, settings);
}

}  // namespace hone::tuner
