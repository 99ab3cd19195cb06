#include "db/portfolio.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "db/canonical.hpp"
#include "db/ties.hpp"

namespace hone::db::portfolio {
namespace {

bool may_serve(const CostTable& costs, const CostTable::Point& point, std::size_t configuration,
               std::int64_t alignment) {
  return costs.alignments[configuration] <= alignment && point.costs[configuration].has_value();
}

// The fastest that may serve at a point; none: nothing may.
std::optional<std::size_t> best_at(const CostTable& costs, const CostTable::Point& point,
                                   std::int64_t alignment) {
  std::optional<std::size_t> best;
  for (std::size_t c = 0; c < point.costs.size(); ++c)
    if (may_serve(costs, point, c, alignment) &&
        (!best || point.costs[c]->median < point.costs[*best]->median))
      best = c;
  return best;
}

std::string packed(const std::vector<PortfolioMember::Cost>& costs) {
  std::string bytes;
  for (const PortfolioMember::Cost& cost : costs) {
    canonical::append_id(bytes, cost.problem);
    canonical::append_word(bytes, std::bit_cast<std::uint64_t>(cost.median));
  }
  return bytes;
}

std::vector<PortfolioMember::Cost> unpacked(std::span<const std::byte> bytes) {
  constexpr std::size_t id = sizeof(Id::bytes), width = id + sizeof(std::uint64_t);
  std::vector<PortfolioMember::Cost> costs;
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    const std::byte* record = bytes.data() + at;
    costs.push_back({canonical::read_id(record), std::bit_cast<double>(canonical::read_word(record + id))});
  }
  return costs;
}

Row row(const PortfolioMember& member) {
  const std::string costs = packed(member.costs);
  Row row(tables::portfolio);
  swept::put_key(row, member);
  row << member.configuration.id() << member.needs_alignment << member.points << member.regret
      << std::as_bytes(std::span(costs));
  swept::put_origin(row, member);
  return row;
}

// Which of those chosen is the best at each point: the points it is for, and its largest regret at them.
void settle(const CostTable& costs, std::int64_t alignment, const std::vector<std::size_t>& chosen,
            std::vector<PortfolioMember>& members) {
  for (const CostTable::Point& point : costs.points) {
    const auto best = best_at(costs, point, alignment);
    if (!best) continue;
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (may_serve(costs, point, chosen[i], alignment) &&
          (!nearest || point.costs[chosen[i]]->median < point.costs[chosen[*nearest]]->median))
        nearest = i;
    if (!nearest) continue;
    PortfolioMember& member = members[*nearest];
    ++member.points;
    member.regret =
        std::max(member.regret, point.costs[chosen[*nearest]]->median / point.costs[*best]->median - 1);
  }
}

// Where a configuration is the nearest to the best.
std::size_t strongest_point(const CostTable& costs, std::size_t configuration, std::int64_t alignment) {
  std::size_t strongest = 0;
  double least = HUGE_VAL;
  for (std::size_t p = 0; p < costs.points.size(); ++p) {
    const CostTable::Point& point = costs.points[p];
    if (!point.costs[configuration]) continue;
    const auto best = best_at(costs, point, alignment);
    const double regret = point.costs[configuration]->median / point.costs[*best]->median;
    if (regret < least) {
      least = regret;
      strongest = p;
    }
  }
  return strongest;
}

PortfolioMember member_of(const swept::Measured& measured, std::size_t configuration, std::int64_t alignment,
                          Lookup& lookup) {
  const CostTable& costs = measured.costs;
  const Measurement& behind = measured.at[strongest_point(costs, configuration, alignment)].at(configuration);
  PortfolioMember member;
  swept::describe(member, measured, configuration, alignment, behind, lookup);
  member.needs_alignment = costs.alignments[configuration];
  for (std::size_t p = 0; p < costs.points.size(); ++p)
    if (const auto& cost = costs.points[p].costs[configuration])
      member.costs.push_back({measured.problems[p], cost->median});
  return member;
}

}  // namespace

std::vector<std::size_t> choose(const CostTable& costs, std::int64_t alignment) {
  std::set<std::size_t> chosen;
  for (const CostTable::Point& point : costs.points) {
    const auto best = best_at(costs, point, alignment);
    if (!best) continue;
    for (std::size_t c = 0; c < point.costs.size(); ++c)
      if (may_serve(costs, point, c, alignment) && ties(*point.costs[*best], *point.costs[c]))
        chosen.insert(c);
  }
  return {chosen.begin(), chosen.end()};
}

std::vector<derived::DerivedRow> derive(const swept::Measured& measured, Lookup& lookup) {
  const CostTable& costs = measured.costs;
  std::vector<derived::DerivedRow> rows;
  for (const std::int64_t alignment : std::set(costs.alignments.begin(), costs.alignments.end())) {
    const std::vector<std::size_t> chosen = choose(costs, alignment);
    std::vector<PortfolioMember> members;
    for (const std::size_t configuration : chosen)
      members.push_back(member_of(measured, configuration, alignment, lookup));
    settle(costs, alignment, chosen, members);
    for (const PortfolioMember& member : members) rows.push_back({member.device, member.regime, row(member)});
  }
  return rows;
}

PortfolioMember read(const sqlite::Statement& row, Lookup& lookup) {
  PortfolioMember member;
  swept::read_key(row, member, "a portfolio has an unknown regime");
  member.configuration = lookup.configuration(row.id(6));
  member.needs_alignment = row.integer(7);
  member.points = row.integer(8);
  member.regret = row.real(9);
  member.costs = unpacked(row.bytes(10));
  swept::read_origin(row, 11, member);
  require(member.alignment > 0 && member.needs_alignment > 0, row,
          "a portfolio's alignment is not above zero");
  require(std::all_of(member.costs.begin(), member.costs.end(),
                      [](const PortfolioMember::Cost& c) { return std::isfinite(c.median) && c.median > 0; }),
          row, "a portfolio's cost is no time");
  return member;
}

}  // namespace hone::db::portfolio
