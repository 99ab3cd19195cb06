#include "db/cover.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "db/ties.hpp"

namespace hone::db {
namespace {

/// The costs as one alignment class sees them, at the points where anything serves it.
class Regrets {
 public:
  Regrets(const CostTable& costs, std::int64_t alignment) : configurations_(costs.alignments.size()) {
    for (std::size_t p = 0; p < costs.points.size(); ++p) {
      const auto& at = costs.points[p].costs;
      const auto serves = [&](std::size_t c) { return at[c] && alignment % costs.alignments[c] == 0; };
      const Statistics* best = nullptr;
      for (std::size_t c = 0; c < configurations_; ++c)
        if (serves(c) && (best == nullptr || at[c]->median < best->median)) best = &*at[c];
      if (best == nullptr) continue;
      points_.push_back(p);
      for (std::size_t c = 0; c < configurations_; ++c) {
        const bool tied = serves(c) && ties(*best, *at[c]);
        regrets_.push_back(tied ? std::optional(best->median > 0 ? at[c]->median / best->median - 1 : 0)
                                : std::nullopt);
      }
    }
  }

  std::size_t points() const { return points_.size(); }
  std::size_t configurations() const { return configurations_; }
  /// Its place in the table.
  std::size_t place(std::size_t point) const { return points_[point]; }
  /// None where the configuration is beyond the tie bound of the best.
  const std::optional<double>& of(std::size_t configuration, std::size_t point) const {
    return regrets_[point * configurations_ + configuration];
  }

 private:
  std::size_t configurations_;
  std::vector<std::size_t> points_;
  std::vector<std::optional<double>> regrets_;
};

/// Points [begin, end) served by one configuration.
struct Piece {
  std::size_t configuration, begin, end;
};

std::vector<Piece> fewest_pieces(const Regrets& regrets) {
  struct Best {
    std::size_t pieces = 0;
    double regret = 0;
    Piece last{};
  };
  std::vector<Best> best(regrets.points() + 1);  // of the points before
  for (std::size_t end = 1; end < best.size(); ++end) {
    best[end].pieces = end + 1;
    for (std::size_t c = 0; c < regrets.configurations(); ++c) {
      double regret = 0;
      for (std::size_t begin = end; begin > 0 && regrets.of(c, begin - 1); --begin) {
        regret += *regrets.of(c, begin - 1);
        const Best& before = best[begin - 1];
        const Best found{before.pieces + 1, before.regret + regret, {c, begin - 1, end}};
        if (std::tie(found.pieces, found.regret) < std::tie(best[end].pieces, best[end].regret))
          best[end] = found;
      }
    }
  }
  std::vector<Piece> pieces;
  for (std::size_t end = regrets.points(); end > 0; end = pieces.back().begin)
    pieces.push_back(best[end].last);
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

/// Greedily: each interval reaches as far as any can. `without` is left out; none where it is no point.
std::size_t fewest(const Regrets& regrets, std::size_t without) {
  std::size_t count = 0;
  std::vector<std::size_t> reaching, next;
  for (std::size_t p = 0; p < regrets.points(); ++p) {
    if (p == without) continue;
    next.clear();
    for (const std::size_t c : reaching)
      if (regrets.of(c, p)) next.push_back(c);
    if (next.empty()) {
      ++count;
      for (std::size_t c = 0; c < regrets.configurations(); ++c)
        if (regrets.of(c, p)) next.push_back(c);
    }
    reaching.swap(next);
  }
  return count;
}

}  // namespace

std::int64_t middle(std::int64_t low, std::int64_t high) {
  if (low >= high) return low;
  const double geometric = std::sqrt(static_cast<double>(low)) * std::sqrt(static_cast<double>(high));
  if (geometric >= static_cast<double>(high)) return high;  // which may pass 64 bits
  return std::clamp(static_cast<std::int64_t>(geometric), low + 1, high);
}

Covering cover(const CostTable& costs, std::int64_t alignment) {
  const Regrets regrets(costs, alignment);
  const std::vector<Piece> pieces = fewest_pieces(regrets);
  const auto bytes = [&](std::size_t point) { return costs.points[regrets.place(point)].working_set; };
  Covering covering;
  std::int64_t lo = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::int64_t hi = no_end;
    if (i + 1 < pieces.size()) {
      const Piece &one = pieces[i], &other = pieces[i + 1];
      std::size_t begin = other.begin, end = other.begin;  // of the stretch in which both tie
      while (begin > one.begin && regrets.of(other.configuration, begin - 1)) --begin;
      while (end < other.end && regrets.of(one.configuration, end)) ++end;
      if (begin < end) {
        hi = middle(bytes(begin), bytes(end - 1));
      } else {
        hi = middle(bytes(begin - 1), bytes(begin));
        covering.gaps.push_back({regrets.place(begin - 1), regrets.place(begin)});
      }
    }
    Interval interval{lo, hi, pieces[i].configuration, 0, 0, 0, 0, 0};
    for (std::size_t p = 0; p < regrets.points(); ++p) {
      if (bytes(p) < lo || bytes(p) >= hi) continue;
      const double regret = regrets.of(interval.configuration, p).value();
      if (interval.points++ == 0) interval.first = interval.worst = regrets.place(p);
      interval.last = regrets.place(p);
      if (regret > interval.regret) interval.regret = regret, interval.worst = regrets.place(p);
    }
    covering.intervals.push_back(interval);
    lo = hi;
  }
  return covering;
}

std::vector<std::size_t> splitting_points(const CostTable& costs, std::int64_t alignment) {
  const Regrets regrets(costs, alignment);
  const std::size_t all = fewest(regrets, regrets.points());
  std::vector<std::pair<std::size_t, std::size_t>> found;  // how few would do, and the point
  if (all < 2) return {};
  for (std::size_t p = 0; p < regrets.points(); ++p)
    if (const std::size_t few = fewest(regrets, p); few < all) found.emplace_back(few, regrets.place(p));
  std::sort(found.begin(), found.end());
  std::vector<std::size_t> points;
  for (const auto& [few, point] : found) points.push_back(point);
  return points;
}

}  // namespace hone::db
