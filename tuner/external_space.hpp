// Other tuners' spaces, as records: a family of their own, so that they can be queried and serve nothing.
// What was measured is on a device that is none of hone's (backend `external`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "db/store.hpp"
#include "tuner/kernel_tuner_cache.hpp"
#include "tuner/t1_problem.hpp"

namespace hone::tuner {

struct ExternalSettings {
  std::string family;        ///< empty: the kernel's name
  std::string element_type;  ///< which a cache does not tell; empty: what a T1 problem tells
  std::optional<std::int64_t>
      working_set;      ///< bytes, which it does not tell either; none: the same, or no GB/s
  std::string command;  ///< recorded with the run
};

struct ExternalSummary {
  std::string family;
  std::int64_t measured = 0;  ///< configurations
  std::int64_t failed = 0;
  bool known = false;  ///< the database had this very cache already
};

/// Records a cache as one run, in one transaction. Its ids follow from its contents, so that a cache that is
/// imported twice, or in two databases that are merged, is there once. Throws Error{invalid} for names and
/// values that a family cannot have, and for a family of hone's own.
ExternalSummary import_external(const KernelTunerCache& cache, const ExternalSettings& settings,
                                db::Store& store);

/// Records a problem and the space of its kernel, of which nothing is measured; gives the problem. The same
/// errors.
db::Problem import_external(const T1Problem& problem, const ExternalSettings& settings, db::Store& store);

}  // namespace hone::tuner
