// An optimistic bound: what a configuration takes at least, by the bytes it must move and the operations it
// must do against the device's ceilings (the roofline of Williams, Waterman and Patterson 2009). Only
// ceilings that somebody gave count
// (`hone db peak`): what was measured is no ceiling.
#pragma once

#include <optional>
#include <string>

#include "db/store.hpp"
#include "runtime/family.hpp"
#include "tuner/class_best.hpp"

namespace hone::tuner {

/// Keeps track of the fastest of each alignment class, and says which configurations cannot be faster. Not
/// thread-safe.
class OptimisticBound {
 public:
  OptimisticBound(db::Store& store, db::Evaluator& evaluator, const Family& family, const DeviceInfo& device,
                  const db::Problem& problem);

  /// Nanoseconds, at least; 0 where no ceiling was given. Throws Error{invalid} when an expression fails.
  double least_nanoseconds(const db::Configuration& configuration);

  /// Why it cannot be the fastest of any class that it would serve, not even a tie; none: it may be.
  std::optional<std::string> prunes(const db::Configuration& configuration, std::int64_t alignment);

  /// Tells the third quartile of what was measured, and its best sample. One that is faster than its own
  /// bound shows that the ceilings are too low: then the bound prunes nothing any more.
  void measured(const db::Configuration& configuration, std::int64_t alignment, const db::Statistics& look);

  /// What shows that the ceilings are too low, told once; empty: nothing new does.
  std::string take_contradiction();

 private:
  db::Evaluator& evaluator_;
  const Family& family_;
  const DeviceInfo& device_;
  db::Values names_;
  double bytes_per_second_ = 0, operations_per_second_ = 0;  ///< 0: not given
  ClassBest best_;                                           ///< third quartiles
  bool contradicted_ = false;
  std::string contradiction_;
};

/// The kind of peak (db::Peak) of operations on an element type.
std::string peak_of_work(const std::string& element_type);

}  // namespace hone::tuner
