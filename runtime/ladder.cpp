#include "runtime/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "db/cover.hpp"
#include "runtime/bytes.hpp"
#include "runtime/manifest.hpp"
#include "runtime/plural.hpp"

namespace hone {
namespace {

constexpr std::size_t most_put_off = 64;  ///< neighbours that the nearest rung comes back to

std::string call_kind(const db::Problem& problem) {
  return problem.family + " " + problem.element_type + (problem.layout.empty() ? "" : " " + problem.layout);
}

std::string shape_text(const Family& family, std::span<const std::int64_t> shape) {
  std::string text;
  for (std::size_t i = 0; i < family.dimensions.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", family.dimensions[i].name, shape[i]);
  return text;
}

/// Where a band lies, what it accepts, and whether `bytes` is beyond what was measured.
std::string band_text(const BandCandidate& band, std::int64_t bytes) {
  const auto size = [](std::int64_t of) { return bytes_text(static_cast<double>(of)); };
  std::string text = "all working sets";
  if (band.lo > 0) text = "working sets from " + size(band.lo);
  if (band.hi < db::no_end) text = (band.lo > 0 ? text + " to " : "working sets below ") + size(band.hi);
  text += fmt::format(" ({} measured from {} to {}, at most {:.1f} % slower than the best, at {})",
                      band.points, size(band.first), size(band.last), 100 * band.regret, size(band.worst));
  if (bytes < band.first && band.lo == 0) text += "; extrapolated below the smallest";
  if (bytes > band.last && band.hi == db::no_end) text += "; extrapolated beyond the largest";
  return text;
}

}  // namespace

/// Notes a step where steps are asked for; only then is `why()` put into words.
auto Ladder::notes(const Call& call, Rung rung, const WinnerIndex& index) {
  return [&call, rung, &index](bool answered, const auto& why) {
    if (call.steps != nullptr) call.steps->push_back({rung, answered, index.file().string(), why()});
  };
}

Climbed Ladder::climb(const Family& family, const db::Problem& problem, std::int64_t alignment,
                      std::vector<LadderStep>* steps) {
  Call call{family, problem, alignment, {}, steps};
  for (const auto& [name, extent] : problem.dimensions) call.dimensions.push_back(extent);
  Climbed climbed;
  for (const auto step : {&Ladder::exact, &Ladder::band, &Ladder::portfolio, &Ladder::nearest,
                          &Ladder::checked_default, &Ladder::unchecked_default}) {
    for (const auto& index : indexes_) {
      (this->*step)(call, index, climbed);
      if (climbed.rung != Rung::none) return climbed;
    }
  }
  return climbed;
}

void Ladder::exact(const Call& call, const std::shared_ptr<const WinnerIndex>& index, Climbed& climbed) {
  const auto note = notes(call, Rung::exact, *index);
  const auto stored = index->families().find(call.family.name);
  if (stored != index->families().end() && stored->second.family == nullptr)
    return note(false, [&] { return stored->second.fault; });
  if (stored != index->families().end() && !same_signature(*stored->second.family, call.family))
    return note(false, [] { return "tuned under another signature of the family"; });
  const auto* group = index->group(call.problem.family, call.problem.element_type, call.problem.layout);
  if (group == nullptr || group->winners.empty())
    return note(false, [&] {
      return fmt::format(
          "no winner of {} on this device (the database has records of: {})", call_kind(call.problem),
          index->devices().empty() ? "none" : fmt::format("{}", fmt::join(index->devices(), ", ")));
    });
  const auto winners = group->exact(call.dimensions);
  if (winners.empty())
    return note(false, [&] {
      return fmt::format("no winner for this problem; there are {} for others", group->winners.size());
    });
  for (const Candidate& winner : winners) {
    if (winner.alignment > call.alignment) {
      note(false, [&] {
        return fmt::format("a winner for pointers aligned to {} bytes; these are aligned to {}",
                           winner.alignment, call.alignment);
      });
      continue;
    }
    if (!serves(call, index, winner, Rung::exact, climbed)) continue;
    return note(true, [&] {
      return fmt::format("{}, tuned for pointers aligned to {}", index->configuration(winner).text(),
                         plural(winner.alignment, "byte"));
    });
  }
}

void Ladder::band(const Call& call, const std::shared_ptr<const WinnerIndex>& index, Climbed& climbed) {
  const auto* group = index->group(call.problem.family, call.problem.element_type, call.problem.layout);
  const auto note = notes(call, Rung::band, *index);
  // With several dimensions the working set does not tell what is best.
  if (call.family.dimensions.size() != 1)
    return note(false, [&] {
      return fmt::format("bands are of families of one dimension; {} has {}", call.family.name,
                         call.family.dimensions.size());
    });
  if (group == nullptr || group->bands.empty())
    return note(false, [&] { return fmt::format("no bands of {} on this device", call_kind(call.problem)); });
  const std::int64_t bytes = working_set(evaluator_, call.family, call.problem);
  for (const BandCandidate& band : group->bands) {
    if (bytes < band.lo || bytes >= band.hi) continue;
    if (band.candidate.alignment > call.alignment) {
      note(false, [&] {
        return fmt::format("a band for pointers aligned to {} bytes; these are aligned to {}",
                           band.candidate.alignment, call.alignment);
      });
      continue;
    }
    if (!serves(call, index, band.candidate, Rung::band, climbed)) continue;
    return note(true, [&] {
      return fmt::format("{}, the band of {}", index->configuration(band.candidate).text(),
                         band_text(band, bytes));
    });
  }
}

void Ladder::portfolio(const Call& call, const std::shared_ptr<const WinnerIndex>& index, Climbed& climbed) {
  const auto* group = index->group(call.problem.family, call.problem.element_type, call.problem.layout);
  const auto note = notes(call, Rung::portfolio, *index);
  if (call.family.dimensions.size() == 1)
    return note(false, [&] {
      return fmt::format("portfolios are of families of several dimensions; {} has one", call.family.name);
    });
  if (group == nullptr || group->portfolios.empty())
    return note(false,
                [&] { return fmt::format("no portfolio of {} on this device", call_kind(call.problem)); });
  for (const Portfolio& portfolio : group->portfolios) {
    if (portfolio.alignment > call.alignment) {
      note(false, [&] {
        return fmt::format("a portfolio for pointers aligned to {} bytes; these are aligned to {}",
                           portfolio.alignment, call.alignment);
      });
      continue;
    }
    std::vector<double> expected;
    try {
      expected = portfolio.predictor.nanoseconds(evaluator_, call.family, call.problem);
    } catch (const Error& error) {
      return note(false, [&] { return error.what(); });
    }
    std::vector<std::size_t> order(expected.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return expected[a] < expected[b]; });
    for (const std::size_t at : order) {
      const Portfolio::Member& member = portfolio.members[at];
      if (!serves(call, index, member.candidate, Rung::portfolio, climbed)) continue;
      return note(true, [&] {
        return fmt::format(
            "{}, expected to take {:.4g} us: the fastest legal one of {} for pointers aligned to {}, by what "
            "it took at {}",
            index->configuration(member.candidate).text(), expected[at] / 1000, portfolio.members.size(),
            plural(portfolio.alignment, "byte"), plural(member.problems, "problem"));
      });
    }
  }
}

void Ladder::nearest(const Call& call, const std::shared_ptr<const WinnerIndex>& index, Climbed& climbed) {
  const auto* group = index->group(call.problem.family, call.problem.element_type, call.problem.layout);
  const auto note = notes(call, Rung::nearest, *index);
  if (group == nullptr || group->winners.empty() || group->rank != call.dimensions.size())
    return note(false,
                [&] { return fmt::format("no winner of {} on this device", call_kind(call.problem)); });
  auto walk = group->walk(call.dimensions);
  if (!walk)
    return note(false, [&] { return "every winner is of a problem that is empty where this one is not"; });
  // Whether a configuration is legal here does not depend on where it won.
  std::set<std::pair<std::uint32_t, db::Id>> refused;
  const auto answers = [&](const std::pair<float, std::uint32_t>& neighbour) {
    const auto [distance, at] = neighbour;
    const Candidate& winner = group->winners[at];
    if (refused.contains({winner.configuration, winner.build_key})) return false;
    if (!serves(call, index, winner, Rung::nearest, climbed)) {
      refused.insert({winner.configuration, winner.build_key});
      return false;
    }
    note(true, [&, &squared = distance, near = at] {  // clang 14 captures no bindings
      return fmt::format("{}, the winner of {} ({:.2f}x away)", index->configuration(winner).text(),
                         shape_text(call.family, group->shape(near)), std::exp2(std::sqrt(squared)));
    });
    return true;
  };
  // A problem has a winner for each alignment class, the widest first. Where the widest that the pointers
  // allow is not legal here, that of a problem a little farther is faster than a narrower one: by a factor of
  // 80 for a product of matrices on an H200.
  const auto narrower = [&](std::uint32_t at) {
    return at > 0 && group->winners[at - 1].alignment <= call.alignment &&
           std::ranges::equal(group->shape(at - 1), group->shape(at));
  };
  std::vector<std::pair<float, std::uint32_t>> put_off;
  while (put_off.size() < most_put_off) {
    const auto next = walk->next();
    if (!next) break;
    if (narrower(next->second))
      put_off.push_back(*next);
    else if (answers(*next))
      return;
  }
  for (const auto& neighbour : put_off)
    if (answers(neighbour)) return;
  while (const auto next = walk->next())
    if (answers(*next)) return;
}

void Ladder::checked_default(const Call& call, const std::shared_ptr<const WinnerIndex>& index,
                             Climbed& climbed) {
  if (by_default(call, index, true, climbed) || call.steps == nullptr) return;
  call.steps->push_back(
      {Rung::by_default, false, index->file().string(),
       fmt::format("no default of {} was checked on this device", call_kind(call.problem))});
}

void Ladder::unchecked_default(const Call& call, const std::shared_ptr<const WinnerIndex>& index,
                               Climbed& climbed) {
  by_default(call, index, false, climbed);
}

bool Ladder::by_default(const Call& call, const std::shared_ptr<const WinnerIndex>& index, bool checked,
                        Climbed& climbed) {
  const auto* group = index->group(call.problem.family, call.problem.element_type, call.problem.layout);
  if (group == nullptr) return false;
  bool any = false;
  for (const Candidate& candidate : group->defaults) {
    if (candidate.checked != checked) continue;
    any = true;
    std::string why = take(call, index, candidate, climbed);
    const bool answered = why.empty();
    if (answered) climbed.rung = Rung::by_default;
    if (call.steps != nullptr) {
      if (answered)
        why = checked ? "checked on this device" : "checked only on another device of this architecture";
      call.steps->push_back({Rung::by_default, answered, index->file().string(),
                             fmt::format("{}: {}", index->configuration(candidate).text(), why)});
    }
    if (answered) break;
  }
  return any;
}

bool Ladder::serves(const Call& call, const std::shared_ptr<const WinnerIndex>& index,
                    const Candidate& candidate, Rung rung, Climbed& climbed) {
  const std::string why = take(call, index, candidate, climbed);
  if (why.empty()) {
    climbed.rung = rung;
    return true;
  }
  notes(call, rung, *index)(
      false, [&] { return fmt::format("{}: {}", index->configuration(candidate).text(), why); });
  return false;
}

std::string Ladder::take(const Call& call, const std::shared_ptr<const WinnerIndex>& index,
                         const Candidate& candidate, Climbed& climbed) {
  const auto stored = index->families().find(call.family.name);
  if (stored == index->families().end() || stored->second.family == nullptr ||
      !same_signature(*stored->second.family, call.family))
    return "tuned under another signature of the family";
  climbed.family = stored->second.family;
  if (std::string why = illegal(call, *index, candidate, climbed); !why.empty()) return why;
  Code& code = codes_.find(*index, candidate.build_key);
  if (!code.refused.empty()) return code.refused;
  climbed.code = &code;
  climbed.index = index;
  climbed.candidate = &candidate;
  return {};
}

std::string Ladder::illegal(const Call& call, const WinnerIndex& index, const Candidate& candidate,
                            Climbed& climbed) {
  const db::Configuration& configuration = index.configuration(candidate);
  climbed.variant = climbed.family->variant(configuration.variant);
  if (climbed.variant == nullptr)
    return fmt::format("stale: there is no variant {} now", configuration.variant);
  if (climbed.variant->source_hash != candidate.source_hash)
    return "stale: the source was tuned again, changed";
  if (std::string why = staleness_(*climbed.variant, candidate.source_hash); !why.empty()) return why;
  try {
    auto planned = make_busy_plan(evaluator_, *climbed.family, *climbed.variant, configuration.parameters,
                                  call.problem, device_);
    if (const auto* illegal = std::get_if<Illegal>(&planned)) return illegal->why;
    climbed.plan = std::get<Plan>(std::move(planned));
  } catch (const Error& error) {
    return error.what();
  }
  if (climbed.plan.alignment > call.alignment)
    return fmt::format("it needs pointers aligned to {} bytes; these are aligned to {}",
                       climbed.plan.alignment, call.alignment);
  return {};
}

}  // namespace hone
