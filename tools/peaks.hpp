// The memory's peak of tuned devices, which throughputs are compared with.
#pragma once

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

class Peaks {
 public:
  explicit Peaks(db::Store& store) : store_(store) {}

  /// What `hone db peak` gave last; else the most that the family `copy` reached in a race over at least 8
  /// times the last-level cache; else none.
  const std::optional<MemoryPeak>& of(const db::Device& device);

 private:
  std::optional<MemoryPeak> measured(const db::Device& device);

  db::Store& store_;
  std::map<db::Id, std::optional<MemoryPeak>> known_;
};

}  // namespace hone::tools
