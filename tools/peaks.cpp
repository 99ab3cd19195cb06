#include "tools/peaks.hpp"

#include <fmt/format.h>

#include "tools/units.hpp"
#include "tools/working_sets.hpp"
#include "tuner/bound.hpp"

namespace hone::tools {
namespace {

constexpr const char* measuring_family = "copy";
constexpr std::int64_t caches = 8;  ///< so that what stays in the cache counts for little

}  // namespace

std::string MemoryPeak::text() const {
  return fmt::format("{} GB/s {}", number_text(gb_per_s),
                     measurement ? fmt::format("measured by {}", measuring_family) : "given");
}

const std::optional<MemoryPeak>& Peaks::of(const db::Device& device) {
  const db::Id id = device.id();
  const auto [found, is_new] = known_.try_emplace(id);
  if (is_new) {
    const auto given = store_.peak(id);
    found->second = given && given->per_second != no_ceiling
                        ? MemoryPeak{static_cast<double>(given->per_second) / 1e9, std::nullopt}
                        : measured(device);
  }
  return found->second;
}

std::optional<double> Peaks::of_work(const db::Device& device, const std::string& element_type) {
  const auto given = store_.peak(device.id(), tuner::peak_of_work(element_type));
  if (!given || given->per_second == no_ceiling) return std::nullopt;
  return static_cast<double>(given->per_second);
}

std::int64_t Peaks::least_working_set(const db::Device& device) {
  return caches * device.last_level_cache_bytes;
}

std::optional<MemoryPeak> Peaks::measured(const db::Device& device) {
  if (device.last_level_cache_bytes <= 0) return std::nullopt;
  std::optional<MemoryPeak> best;
  WorkingSets working_sets(store_);
  db::Filter filter;
  filter.family = measuring_family;
  filter.device = device.id();
  filter.raced = true;
  filter.problem = [&](const db::Problem& problem) {
    return working_sets.of(problem).value_or(0) >= least_working_set(device);
  };
  for (const db::MeasuredRow& row : store_.measurements(filter)) {
    const db::Measurement& m = row.measurement;
    if (m.statistics.median <= 0) continue;
    const double gb_per_s = static_cast<double>(*working_sets.of(row.problem)) / m.statistics.median;
    if (!best || gb_per_s > best->gb_per_s) best = {gb_per_s, m.id};
  }
  return best;
}

}  // namespace hone::tools
