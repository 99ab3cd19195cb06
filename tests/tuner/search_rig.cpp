#include "tests/tuner/search_rig.hpp"

#include <deque>
#include <limits>

namespace hone::test {

MadeUp::MadeUp(const std::vector<std::int64_t>& sizes, const std::function<bool(const Point&)>& legal)
    : variant_(std::make_unique<Variant>()) {
  variant_->name = "v";
  std::vector<Point> product{{}};
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    db::Parameter parameter{"p" + std::to_string(p), {}};
    std::vector<Point> next;
    for (std::int64_t v = 0; v < sizes[p]; ++v) parameter.values.emplace_back(v);
    for (const Point& point : product)
      for (std::int64_t v = 0; v < sizes[p]; ++v) {
        next.push_back(point);
        next.back().push_back(v);
      }
    variant_->parameters.push_back(std::move(parameter));
    product = std::move(next);
  }
  for (Point& point : product)
    if (legal(point)) points_.push_back(std::move(point));
}

MadeUp::Point MadeUp::point_of(const db::Values& parameters) {
  Point point;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    point.push_back(std::get<std::int64_t>(parameters.find("p" + std::to_string(p))->second));
  return point;
}

db::Configuration MadeUp::configuration_of(const Point& point) {
  db::Configuration configuration{"f", "v", {}};
  for (std::size_t p = 0; p < point.size(); ++p) configuration.parameters["p" + std::to_string(p)] = point[p];
  return configuration;
}

tuner::SearchSpace MadeUp::space(std::int64_t alignment) const {
  tuner::SearchSpace space({variant_.get()});
  for (const Point& point : points_) space.add(configuration_of(point), alignment);
  return space;
}

Searched search_through(tuner::Search& search, const std::function<std::optional<double>(std::size_t)>& takes,
                        std::size_t most, std::size_t ahead) {
  Searched result{{}, 0, std::numeric_limits<double>::infinity()};
  std::deque<std::size_t> waiting;
  for (bool more = true; more || !waiting.empty();) {
    while (more && waiting.size() < ahead) {
      const auto point = result.asked.size() < most ? search.ask() : std::nullopt;
      if (!(more = point.has_value())) break;
      result.asked.push_back(*point);
      waiting.push_back(*point);
    }
    if (waiting.empty()) break;
    const std::size_t point = waiting.front();
    waiting.pop_front();
    const auto time = takes(point);
    search.tell(point, time);
    if (time && *time < result.fastest) result.fastest = *time, result.best = point;
  }
  return result;
}

}  // namespace hone::test
