// The memory's peak of tuned devices, which throughputs are compared with.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "db/store.hpp"

namespace hone::tools {

struct MemoryPeak {
  double gb_per_s = 0;
  std::optional<db::Id> measurement;  ///< none: it was given
  std::string text() const;           ///< `4800 GB/s given`, `4326 GB/s measured by copy`
};

/// Given as a peak, it withdraws what was given before: no ceiling, which neither prunes nor compares.
inline constexpr std::int64_t no_ceiling = INT64_MAX;

class Peaks {
 public:
  explicit Peaks(db::Store& store) : store_(store) {}

  /// What `hone db peak` gave last; else the most that the family `copy` reached in a race over at least 8
  /// times the last-level cache; else none.
  const std::optional<MemoryPeak>& of(const db::Device& device);
  /// Bytes that `copy` has to move for it to count.
  static std::int64_t least_working_set(const db::Device& device);
  /// That alone which `copy` reached.
  std::optional<MemoryPeak> measured(const db::Device& device);
  /// Operations on an element type a second, as `hone db peak --dtype` gave them.
  std::optional<double> of_work(const db::Device& device, const std::string& element_type);

 private:
  db::Store& store_;
  std::map<db::Id, std::optional<MemoryPeak>> known_;
};

}  // namespace hone::tools
