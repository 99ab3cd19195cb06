// What a run may try for one problem: the space's configurations, and what earlier runs know of them.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/expression.hpp"
#include "db/store.hpp"
#include "runtime/family.hpp"
#include "tuner/compile_pool.hpp"
#include "tuner/search_space.hpp"
#include "tuner/space.hpp"

namespace hone::tuner {

/// One configuration on the way through a problem.
struct Candidate {
  db::Configuration configuration;
  db::Id id;
  std::int64_t alignment = 1;
  db::Id source_hash;
  std::string excess;          ///< what it asks for beyond the device; then it is not compiled
  bool kept = false;           ///< default, ladder or incumbent: always in the final
  bool by_default = false;     ///< the manifest's default
  bool settled = false;        ///< by earlier runs: not looked at again
  bool passed_before = false;  ///< in a run that ended before its race
  double known = 0;            ///< best sample of an earlier run, nanoseconds; 0: none, or it failed
  std::shared_ptr<const Compiled> compiled;  ///< once it was looked at
  std::optional<db::Outcome> outcome;
  db::Statistics look;
};

/// Of a space with more a sample is searched, and what lies about the best of it.
inline constexpr std::size_t most_candidates = 1 << 15;

/// What may be tried for one problem.
struct CandidateSet {
  std::vector<Candidate> candidates;
  bool whole = true;  ///< all there are, not a sample
};
/// All configurations that are legal for a problem on a device, the default first: everything is held against
/// it. Of a space with more than `most` a random sample, with the default, the ladder and the incumbents.
/// What it is made from must outlive it.
class CandidateSource {
 public:
  CandidateSource(db::Evaluator& evaluator, const Family& family, const DeviceInfo& device,
                  const db::Problem& problem, const std::vector<db::Winner>& incumbents);

  CandidateSet take(std::size_t most, std::uint64_t seed) const;
  /// None where it is not legal.
  std::optional<Candidate> candidate(const Variant& variant, const db::Values& parameters) const;
  /// The candidates as points of the same indices.
  SearchSpace space(const std::vector<Candidate>& candidates) const;

 private:
  Candidate candidate_of(Point point) const;

  db::Evaluator& evaluator_;
  const Family& family_;
  const DeviceInfo& device_;
  const db::Problem& problem_;
  db::Id by_default_;
  std::vector<db::Configuration> always_;  ///< default, ladder, incumbents
  std::set<db::Id> kept_;                  ///< their ids
};

/// Keeps in the race the fastest of each ladder point that is the best of several, by their first looks.
void keep_best_of_ladder(const Family& family, std::vector<Candidate>& candidates);

/// Marks those that `known` rows, newest first, leave nothing to do for. With a decision made (`decided`),
/// what had passed needs no second race; without one, all that may win must race again, since samples of two
/// processes cannot be ranked together.
void settle_known(std::vector<Candidate>& candidates, const std::vector<db::Measurement>& known,
                  bool decided);

}  // namespace hone::tuner
