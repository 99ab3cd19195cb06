// The points that a search has not asked for yet, in a random order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "tuner/search_space.hpp"

namespace hone::tuner {

class Unasked {
 public:
  Unasked(const SearchSpace& space, std::vector<std::size_t> first, std::uint64_t seed)
      : space_(space), random_(seed), first_(std::move(first)) {
    std::reverse(first_.begin(), first_.end());
    shuffled_.resize(space.size());
    std::iota(shuffled_.begin(), shuffled_.end(), std::size_t{0});
    std::shuffle(shuffled_.begin(), shuffled_.end(), random_);
  }

  bool has(std::size_t point) const { return point >= asked_.size() || !asked_[point]; }
  void take(std::size_t point) {
    if (point >= asked_.size()) asked_.resize(space_.size(), false);
    if (!asked_[point]) ++count_;
    asked_[point] = true;
  }
  std::size_t count() const { return space_.size() - count_; }

  /// The next of those that come first, taken.
  std::optional<std::size_t> take_first() {
    while (!first_.empty()) {
      const std::size_t point = first_.back();
      first_.pop_back();
      if (!has(point)) continue;
      take(point);
      return point;
    }
    return std::nullopt;
  }
  /// Any of them, each as likely, left where it is.
  std::optional<std::size_t> any() {
    // What was asked for is dropped where it is met. Points that a growing space has found since come last.
    while (next_ < shuffled_.size() || shuffled_.size() < space_.size()) {
      if (next_ == shuffled_.size()) shuffled_.push_back(shuffled_.size());
      if (has(shuffled_[next_])) {
        const std::size_t other = next_ + random_() % (shuffled_.size() - next_);
        std::swap(shuffled_[next_], shuffled_[other]);
        if (has(shuffled_[next_])) return shuffled_[next_];
        continue;
      }
      ++next_;
    }
    return std::nullopt;
  }
  std::optional<std::size_t> take_any() {
    const auto point = any();
    if (point) take(*point);
    return point;
  }

  std::mt19937_64& random() { return random_; }

 private:
  const SearchSpace& space_;
  std::mt19937_64 random_;
  std::vector<std::size_t> first_;  ///< the next one last
  std::vector<std::size_t> shuffled_;
  std::size_t next_ = 0;
  std::vector<bool> asked_;
  std::size_t count_ = 0;
};

}  // namespace hone::tuner
