#include "runtime/shape_tree.hpp"

#include <algorithm>
#include <numeric>

namespace hone {
namespace {
constexpr std::uint32_t kLeaf = 8;  ///< points that are not worth a split
}

ShapeTree::ShapeTree(std::size_t rank, std::vector<float> coordinates, std::vector<std::uint32_t> points)
    : rank_(rank) {
  std::vector<std::uint32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0U);
  nodes_.push_back({0, static_cast<std::uint32_t>(points.size()), 0});
  split(0, order, coordinates);
  coordinates_.reserve(coordinates.size());
  points_.reserve(points.size());
  for (const std::uint32_t at : order) {
    points_.push_back(points[at]);
    const float* from = coordinates.data() + at * rank_;
    coordinates_.insert(coordinates_.end(), from, from + rank_);
  }
}

void ShapeTree::split(std::uint32_t node, std::vector<std::uint32_t>& order,
                      std::span<const float> coordinates) {
  const auto [first, count, none] = nodes_[node];
  const auto begin = order.begin() + first, end = begin + count;
  boxes_.resize(nodes_.size() * 2 * rank_);
  float* const lowest = boxes_.data() + node * 2 * rank_;
  float* const highest = lowest + rank_;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < rank_; ++i) {
    lowest[i] = std::numeric_limits<float>::infinity();
    highest[i] = -lowest[i];
    for (auto at = begin; at != end; ++at) {
      lowest[i] = std::min(lowest[i], coordinates[*at * rank_ + i]);
      highest[i] = std::max(highest[i], coordinates[*at * rank_ + i]);
    }
    if (highest[i] - lowest[i] > highest[widest] - lowest[widest]) widest = i;
  }
  if (count <= kLeaf || highest[widest] == lowest[widest]) return;
  const std::uint32_t half = count / 2;
  std::nth_element(begin, begin + half, end, [&](std::uint32_t a, std::uint32_t b) {
    return coordinates[a * rank_ + widest] < coordinates[b * rank_ + widest];
  });
  const auto halves = static_cast<std::uint32_t>(nodes_.size());
  nodes_[node].halves = halves;
  nodes_.push_back({first, half, 0});
  nodes_.push_back({first + half, count - half, 0});
  split(halves, order, coordinates);
  split(halves + 1, order, coordinates);
}

ShapeTree::Walk::Walk(const ShapeTree& tree, std::vector<float> from) : tree_(tree), from_(std::move(from)) {
  put_box(0);
}

void ShapeTree::Walk::put_box(std::uint32_t node) {
  if (tree_.nodes_[node].count == 0) return;
  const float* const lowest = tree_.boxes_.data() + node * 2 * tree_.rank_;
  const float* const highest = lowest + tree_.rank_;
  float distance = 0;
  for (std::size_t i = 0; i < tree_.rank_; ++i) {
    const float outside = std::max({lowest[i] - from_[i], from_[i] - highest[i], 0.0F});
    distance += outside * outside;
  }
  steps_.push({distance, false, node});
}

std::optional<std::pair<float, std::uint32_t>> ShapeTree::Walk::next() {
  while (!steps_.empty()) {
    const Step step = steps_.top();
    steps_.pop();
    if (step.is_point) return std::pair(step.distance, step.index);
    const Node& node = tree_.nodes_[step.index];
    if (node.halves != 0) {
      put_box(node.halves);
      put_box(node.halves + 1);
      continue;
    }
    for (std::uint32_t at = node.first; at < node.first + node.count; ++at) {
      float distance = 0;
      for (std::size_t i = 0; i < tree_.rank_; ++i) {
        const float difference = tree_.coordinates_[at * tree_.rank_ + i] - from_[i];
        distance += difference * difference;
      }
      steps_.push({distance, true, tree_.points_[at]});
    }
  }
  return std::nullopt;
}

}  // namespace hone
