// Configurations side by side by figures taken alike. A first look is a few launches of one configuration
// alone, a race's figure many, in turn with its rivals: the one against the other tells of the protocols.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "tools/measured.hpp"

namespace hone::tools {

/// Figures of one race, or of first looks, which alone can be compared.
struct Alike {
  FastestFirst fastest;  ///< of each group; null: none of it has such a figure
  db::Stage stage = db::Stage::first_look;
  std::size_t runs = 0;  ///< that they are of

  std::size_t covered() const;
  /// `race`, `looks`, `looks of 2 runs`; `none` where no group has a figure.
  std::string text() const;
};

/// What was measured of one problem, by where it is from.
class AlikeFigures {
 public:
  /// `measured` has to outlive this.
  AlikeFigures(db::Store& store, const MeasuredProblem& measured);

  /// Ids of configurations.
  using Groups = std::vector<std::vector<db::Id>>;

  /// The fastest of each group. They are of the newest race that every group's fastest at first look came
  /// through, so that none is left out of it that might be faster; else first looks, of one run where one
  /// took those of all configurations, else each one's newest; else, where that leaves fewer groups without a
  /// figure, of a race.
  Alike fastest(const Groups& groups) const;

  /// Each configuration's newest figure of a race and its newest first look.
  std::vector<const db::MeasuredRow*> shown() const;
  /// The number of a row's race, from 1 for the newest on; 0: it is a first look.
  std::size_t race_of(const db::MeasuredRow& row) const;

 private:
  using Rows = std::unordered_map<db::Id, const db::MeasuredRow*, db::IdHash>;  ///< by configuration
  Alike looks(const Groups& groups) const;

  std::vector<Rows> races_;  ///< newest first; a sweep's race at the problem is one by itself
  std::vector<Rows> looks_;  ///< a run each, newest first
  Rows newest_looks_;
};

}  // namespace hone::tools
