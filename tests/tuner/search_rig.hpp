// Spaces made up for tests of searches, and what their points take.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "tuner/search.hpp"

namespace hone::test {

/// One variant with integer parameters p0, p1, ... of values 0 to size - 1, where `legal`.
class MadeUp {
 public:
  using Point = std::vector<std::int64_t>;

  explicit MadeUp(
      const std::vector<std::int64_t>& sizes,
      const std::function<bool(const Point&)>& legal = [](const Point&) { return true; });

  tuner::SearchSpace space(std::int64_t alignment = 1) const;
  const std::vector<Point>& points() const noexcept { return points_; }
  static Point point_of(const db::Values& parameters);
  static db::Configuration configuration_of(const Point& point);
  const Variant& variant() const noexcept { return *variant_; }

 private:
  std::unique_ptr<Variant> variant_;
  std::vector<Point> points_;
};

/// Asks for at most `most` points, `ahead` before the first of them is told, and tells each what `takes`
/// says.
struct Searched {
  std::vector<std::size_t> asked;
  std::size_t best = 0;  ///< of those asked
  double fastest = 0;
};
Searched search_through(tuner::Search& search, const std::function<std::optional<double>(std::size_t)>& takes,
                        std::size_t most, std::size_t ahead = 1);

}  // namespace hone::test
