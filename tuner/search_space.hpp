// A space as searches see it: each point a number for each parameter, so that points can be compared, mixed
// and changed in one parameter without a word about what the parameters mean.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "db/records.hpp"
#include "runtime/family.hpp"

namespace hone::tuner {

/// A point: for each dimension the place of its value in Dimension::values.
using Levels = std::u16string;

/// A dimension of a space: `variant`, or a parameter of at least one variant.
struct Dimension {
  std::string name;
  std::vector<db::Value> values;  ///< integers ascending, before texts in the manifest's order
  bool may_be_absent = false;     ///< some variant does not have it: its level is values.size() there
  bool numeric() const;
  std::size_t levels() const { return values.size() + (may_be_absent ? 1 : 0); }
};

/// The points that are known to be legal; more can be found by asking for their neighbours. Not thread-safe.
class SearchSpace {
 public:
  /// Legality of a configuration that is no point yet: the alignment that it needs, or none. Where it makes
  /// one a point, its index is size() at that time.
  using Admit = std::function<std::optional<std::int64_t>(const Variant&, const db::Values& parameters)>;

  /// Without points. The variants must outlive it.
  explicit SearchSpace(std::vector<const Variant*> variants);

  /// Lets neighbours() find points that were not added. Without it the space is what was added.
  void admit_by(Admit admit) { admit_ = std::move(admit); }
  bool grows() const { return admit_ != nullptr; }

  /// Its index. The configuration's variant, parameters and values must be the space's, and new.
  std::size_t add(const db::Configuration& configuration, std::int64_t alignment);

  std::size_t size() const noexcept { return points_.size(); }
  const std::vector<Dimension>& dimensions() const noexcept { return dimensions_; }
  const Levels& levels(std::size_t point) const { return *points_[point]; }
  /// Bytes that its pointers must be aligned to.
  std::int64_t alignment(std::size_t point) const { return alignments_[point]; }
  /// None for a variant, parameter or value that the space does not have.
  std::optional<Levels> levels_of(const db::Configuration& configuration) const;
  std::optional<std::size_t> find(const Levels& levels) const;
  /// The same, after asking whether it may become a point. Each level must be one of the variant's own.
  std::optional<std::size_t> find_or_admit(const Levels& levels);
  /// The points that differ in one parameter, or in the variant: then parameters that both have stay as they
  /// are where they can, and the others have their defaults.
  std::vector<std::size_t> neighbours(std::size_t point);
  /// The levels, of whichever variants, as those of one: its default for what it has no such level of.
  Levels moved_to(const Levels& levels, std::size_t variant) const;

 private:
  std::size_t add(const Levels& levels, std::int64_t alignment);

  std::vector<const Variant*> variants_;
  std::vector<Dimension> dimensions_;
  std::vector<std::vector<std::vector<char16_t>>> allowed_;  ///< by variant and dimension: its own levels
  std::unordered_map<Levels, std::size_t> indices_;
  std::vector<const Levels*> points_;  ///< the keys of indices_
  std::vector<std::int64_t> alignments_;
  Admit admit_;
  std::unordered_set<Levels> refused_;
};

}  // namespace hone::tuner
