#include "tuner/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "db/ties.hpp"
#include "runtime/plan.hpp"

namespace hone::tuner {

namespace {

double per_second(db::Store& store, const DeviceInfo& device, const std::string& kind) {
  const auto peak = store.peak(device.record().id(), kind);
  return peak ? static_cast<double>(peak->per_second) : 0;
}

}  // namespace

std::string peak_of_work(const std::string& element_type) {
  return "work " + element_type;
}

OptimisticBound::OptimisticBound(db::Store& store, db::Evaluator& evaluator, const Family& family,
                                 const DeviceInfo& device, const db::Problem& problem)
    : evaluator_(evaluator),
      family_(family),
      device_(device),
      names_(problem_names(problem)),
      bytes_per_second_(per_second(store, device, "memory")),
      operations_per_second_(per_second(store, device, peak_of_work(problem.element_type))) {
  names_.merge(device.names());
  // What the cache holds from the launch before need not be moved; of a cache of unknown size all might be.
  if (device.last_level_cache_bytes == 0) bytes_per_second_ = 0;
}

double OptimisticBound::least_nanoseconds(const db::Configuration& configuration) {
  if (contradicted_ || (bytes_per_second_ == 0 && operations_per_second_ == 0)) return 0;
  const Variant& variant = *family_.variant(configuration.variant);
  db::Values names = names_;
  for (const auto& [name, value] : configuration.parameters) names[name] = value;
  const auto least = [&](const std::string& of_variant, const std::string& of_problem) {
    return static_cast<double>(evaluator_.evaluate(of_variant.empty() ? of_problem : of_variant, names));
  };
  double seconds = 0;
  if (bytes_per_second_ > 0) {
    const double cached = static_cast<double>(device_.last_level_cache_bytes);
    seconds = (least(variant.working_set, family_.working_set) - cached) / bytes_per_second_;
  }
  if (operations_per_second_ > 0)
    seconds = std::max(seconds, least(variant.work, family_.work) / operations_per_second_);
  return std::max(0.0, seconds * 1e9);
}

std::optional<std::string> OptimisticBound::prunes(const db::Configuration& configuration,
                                                   std::int64_t alignment) {
  const double least = least_nanoseconds(configuration), best = best_.of(alignment);
  if (least <= best * (1 + db::least_tie_bound)) return std::nullopt;
  return fmt::format("it takes {:.2f} us at least by what it moves and computes, and {:.2f} us were measured",
                     least / 1000, best / 1000);
}

void OptimisticBound::measured(const db::Configuration& configuration, std::int64_t alignment,
                               const db::Statistics& look) {
  best_.add(alignment, look.q3);
  const double least = least_nanoseconds(configuration);
  if (look.minimum >= least) return;
  contradicted_ = true;
  contradiction_ = fmt::format(
      "{} took {:.2f} us, less than the {:.2f} us that the device's peaks allow; they prune nothing any "
      "more, correct them with `hone db peak`",
      configuration.text(), look.minimum / 1000, least / 1000);
}

std::string OptimisticBound::take_contradiction() {
  return std::exchange(contradiction_, "");
}

}  // namespace hone::tuner
