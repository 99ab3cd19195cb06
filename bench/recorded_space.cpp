#include "bench/recorded_space.hpp"

#include <fmt/format.h>

#include <limits>

#include "hone/error.hpp"
#include "tuner/kernel_tuner_cache.hpp"

namespace hone::bench {

RecordedSpace::RecordedSpace(const std::filesystem::path& file)
    : name_(file.stem().stem().string()),
      variant_(std::make_unique<Variant>()),
      best_(std::numeric_limits<double>::infinity()) {
  const tuner::KernelTunerCache cache(file);
  variant_->name = "recorded";
  variant_->parameters = cache.parameters();
  for (const tuner::CachedEvaluation& evaluation : cache.evaluations()) {
    db::Configuration configuration{name_, variant_->name, {}};
    for (std::size_t i = 0; i < evaluation.values.size(); ++i)
      configuration.parameters[variant_->parameters[i].name] = evaluation.values[i];
    configurations_.push_back(std::move(configuration));
    recorded_.push_back({evaluation.nanoseconds, evaluation.seconds});
    if (evaluation.nanoseconds) best_ = std::min(best_, *evaluation.nanoseconds);
  }
  if (std::isinf(best_))
    throw Error(ErrorCode::invalid, fmt::format("{}: nothing in it has a time", file.string()));
}

tuner::SearchSpace RecordedSpace::space() const {
  tuner::SearchSpace space({variant_.get()});
  for (const db::Configuration& configuration : configurations_) space.add(configuration, 1);
  return space;
}

}  // namespace hone::bench
