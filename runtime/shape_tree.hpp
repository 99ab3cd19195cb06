// Points in log-shape, walked outwards from a place: the nearest first, each when it is asked for (Hjaltason
// and Samet, "Distance Browsing in Spatial Databases", 1999), over a tree of boxes halved along their widest
// side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace hone {

/// Immutable: any number of threads may walk it.
class ShapeTree {
 public:
  /// `coordinates` of every point, `rank` each, in the order of `points`, which are what the walk gives.
  ShapeTree(std::size_t rank, std::vector<float> coordinates, std::vector<std::uint32_t> points);

  /// From `from`, `rank` numbers. The tree must outlive it.
  class Walk {
   public:
    Walk(const ShapeTree& tree, std::vector<float> from);
    /// The squared distance and the next point; of equally near ones the smaller. None: there are no more.
    std::optional<std::pair<float, std::uint32_t>> next();

   private:
    struct Step {
      float distance;
      bool is_point;  ///< boxes are opened before a point as far away is given
      std::uint32_t index;
      bool operator>(const Step& other) const {
        if (distance != other.distance) return distance > other.distance;
        return is_point != other.is_point ? is_point : index > other.index;
      }
    };
    void put_box(std::uint32_t node);
    const ShapeTree& tree_;
    std::vector<float> from_;
    std::priority_queue<Step, std::vector<Step>, std::greater<>> steps_;
  };

 private:
  struct Node {
    std::uint32_t first = 0, count = 0;  ///< of the points in it
    std::uint32_t halves = 0;            ///< two nodes, one behind the other; 0: none
  };
  void split(std::uint32_t node, std::vector<std::uint32_t>& order, std::span<const float> coordinates);

  std::size_t rank_;
  std::vector<float> coordinates_;  ///< in the nodes' order
  std::vector<std::uint32_t> points_;
  std::vector<Node> nodes_;
  std::vector<float> boxes_;  ///< of each node its lowest corner, then its highest
};

}  // namespace hone
