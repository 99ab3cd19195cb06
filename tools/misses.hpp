// What production asked for and could not be answered exactly, as problems to tune.
#pragma once

#include <string>
#include <vector>

#include "runtime/misses.hpp"

namespace hone::tools {

class Misses {
 public:
  /// Of one family and regime on these devices; element types empty: all.
  Misses(const std::string& family, db::Regime regime, const std::vector<std::string>& element_types,
         const std::vector<db::Id>& devices);

  /// Clustered: of the problems whose dimensions agree to a power of two, the one asked for most.
  const std::vector<db::Problem>& problems() const noexcept { return problems_; }
  const std::vector<std::string>& faults() const noexcept { return read_.faults; }

  /// Removes those that these problems stand for, and keeps the others.
  void clear() const;

 private:
  MissesRead read_;
  std::vector<Miss> others_;
  std::vector<db::Problem> problems_;
};

}  // namespace hone::tools
