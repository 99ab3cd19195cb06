// The ladder: which rung answers a call, and why the better ones did not.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "db/expression.hpp"
#include "runtime/code_cache.hpp"
#include "runtime/explain.hpp"
#include "runtime/plan.hpp"
#include "runtime/winner_index.hpp"

namespace hone {

/// What a call gets, with what it was found in.
struct Climbed {
  Rung rung = Rung::none;
  std::shared_ptr<const WinnerIndex> index;
  const Candidate* candidate = nullptr;
  std::shared_ptr<const Family> family;
  const Variant* variant = nullptr;
  Plan plan;
  Code* code = nullptr;
};

class Ladder {
 public:
  /// Why a variant of a source hash is stale against the folders of templates; empty: it is not.
  using Staleness = std::function<std::string(const Variant& variant, const db::Id& source_hash)>;

  Ladder(const DeviceInfo& device, db::Evaluator& evaluator, CodeCache& codes,
         std::span<const std::shared_ptr<const WinnerIndex>> indexes, Staleness staleness)
      : device_(device),
        evaluator_(evaluator),
        codes_(codes),
        indexes_(indexes),
        staleness_(std::move(staleness)) {}

  /// `problem` is complete and has something to do; `family` is what it was made with. `steps` may be null.
  Climbed climb(const Family& family, const db::Problem& problem, std::int64_t alignment,
                std::vector<LadderStep>* steps);

 private:
  struct Call {
    const Family& family;
    const db::Problem& problem;
    std::int64_t alignment;
    std::vector<std::int64_t> dimensions;
    std::vector<LadderStep>* steps;
  };

  static auto notes(const Call& call, Rung rung, const WinnerIndex& index);
  void exact(const Call& call, const std::shared_ptr<const WinnerIndex>& index, Climbed& climbed);
  void band(const Call& call, const std::shared_ptr<const WinnerIndex>& index, Climbed& climbed);
  void portfolio(const Call& call, const std::shared_ptr<const WinnerIndex>& index, Climbed& climbed);
  void nearest(const Call& call, const std::shared_ptr<const WinnerIndex>& index, Climbed& climbed);
  void checked_default(const Call& call, const std::shared_ptr<const WinnerIndex>& index, Climbed& climbed);
  void unchecked_default(const Call& call, const std::shared_ptr<const WinnerIndex>& index, Climbed& climbed);
  /// Whether the index has any such default.
  bool by_default(const Call& call, const std::shared_ptr<const WinnerIndex>& index, bool checked,
                  Climbed& climbed);
  /// Takes the candidate, which then is the rung's answer, where it may serve; else notes why it may not.
  bool serves(const Call& call, const std::shared_ptr<const WinnerIndex>& index, const Candidate& candidate,
              Rung rung, Climbed& climbed);
  /// Takes the candidate where it may serve; else says why it may not.
  std::string take(const Call& call, const std::shared_ptr<const WinnerIndex>& index,
                   const Candidate& candidate, Climbed& climbed);
  std::string illegal(const Call& call, const WinnerIndex& index, const Candidate& candidate,
                      Climbed& climbed);

  const DeviceInfo& device_;
  db::Evaluator& evaluator_;
  CodeCache& codes_;
  std::span<const std::shared_ptr<const WinnerIndex>> indexes_;
  Staleness staleness_;
};

}  // namespace hone
