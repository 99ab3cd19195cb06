#include "tuner/local_search.hpp"

namespace hone::tuner {

namespace {

constexpr int steps_away = 3;  ///< from the best point to where the next descent begins

}  // namespace

LocalSearch::LocalSearch(SearchSpace& space, const SearchSettings& settings)
    : space_(space), unasked_(space, settings.first, settings.seed) {}

std::optional<std::size_t> LocalSearch::ask() {
  if (const auto first = unasked_.take_first()) return first;
  while (!neighbours_.empty()) {
    const std::size_t point = neighbours_.back();
    neighbours_.pop_back();
    if (!unasked_.has(point)) continue;
    unasked_.take(point);
    return point;
  }
  // While the descent's next place is awaited, others ask for a random one.
  if (restart_) return unasked_.take_any();
  restart_ = begin_again();
  return restart_;
}

std::optional<std::size_t> LocalSearch::begin_again() {
  std::optional<std::size_t> point;
  if (best_) {
    std::size_t at = best_->point;
    for (int step = 0; step < steps_away; ++step) {
      const std::vector<std::size_t> around = space_.neighbours(at);
      if (around.empty()) break;
      at = around[unasked_.random()() % around.size()];
    }
    if (unasked_.has(at)) point = at;
  }
  if (!point) point = unasked_.any();
  if (point) unasked_.take(*point);
  return point;
}

void LocalSearch::go_to(const Place& place) {
  here_ = place;
  neighbours_ = space_.neighbours(place.point);
  std::shuffle(neighbours_.begin(), neighbours_.end(), unasked_.random());
}

void LocalSearch::tell(std::size_t point, std::optional<double> nanoseconds) {
  unasked_.take(point);
  const bool restarted = restart_ == point;
  if (restarted) restart_.reset();
  if (!nanoseconds) return;
  const Place place{point, *nanoseconds};
  if (!best_ || place.time < best_->time) best_ = place;
  if (restarted || !here_ || place.time < here_->time) go_to(place);
}

}  // namespace hone::tuner
