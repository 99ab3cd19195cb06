#include "tuner/elsewhere.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace hone::tuner {

namespace {

constexpr std::size_t most_places = 3;
constexpr std::size_t fewest_measured = 10;  ///< of which nothing can be learned
// What weighs more than any distance between dimensions, or between devices.
constexpr double another_device = 1e6, another_type = 1e3;

double apart(std::int64_t a, std::int64_t b) {
  return std::abs(std::log((static_cast<double>(a) + 1) / (static_cast<double>(b) + 1)));
}

double distance(const db::Device& a, const db::Device& b) {
  if (a.id() == b.id()) return 0;
  return another_device * (a.architecture == b.architecture ? 1 : 2) +
         apart(a.compute_units, b.compute_units) + apart(a.last_level_cache_bytes, b.last_level_cache_bytes);
}

double distance(const db::Problem& a, const db::Problem& b) {
  double sum =
      (a.element_type == b.element_type ? 0 : another_type) + (a.layout == b.layout ? 0 : another_type);
  for (std::size_t i = 0; i < std::min(a.dimensions.size(), b.dimensions.size()); ++i)
    sum += apart(a.dimensions[i].second, b.dimensions[i].second);
  return sum;
}

struct Place {
  double distance = 0;
  db::Problem problem;
  db::Device device;
  db::Id run;
};

/// Each of the run's configurations by its best sample.
Elsewhere measured_at(db::Store& store, const SearchSpace& space, const Place& place, db::Regime regime) {
  std::map<Levels, std::optional<double>> best;
  db::Filter filter{place.problem.family, place.problem.element_type, regime, place.device.id(), place.run};
  filter.problem = [&](const db::Problem& problem) { return problem == place.problem; };
  for (const db::MeasuredRow& row : store.measurements(filter)) {
    if (row.measurement.outcome == db::Outcome::pruned) continue;
    const auto levels = space.levels_of(row.configuration);
    if (!levels) continue;
    std::optional<double>& time = best[*levels];
    const db::Statistics& statistics = row.measurement.statistics;
    if (statistics.n > 0 && (!time || statistics.minimum < *time)) time = statistics.minimum;
  }
  return {fmt::format("{} on {}", place.problem.text(), place.device.name), {best.begin(), best.end()}};
}

}  // namespace

std::vector<Elsewhere> elsewhere(db::Store& store, const SearchSpace& space, const db::Problem& problem,
                                 const DeviceInfo& device, db::Regime regime) {
  const db::Device here = device.record();
  std::map<db::Id, db::Device> devices;
  for (auto& [id, other] : store.devices()) devices.emplace(id, std::move(other));
  // A problem's winners, one an alignment class, are mostly of one run: the newest stands for all.
  std::map<std::pair<db::Problem, db::Id>, const db::Winner*> newest;
  const std::vector<db::Winner> winners =
      store.winners({problem.family, "", regime, std::nullopt, std::nullopt});
  for (const db::Winner& winner : winners) {
    const auto other = devices.find(winner.device);
    if (other == devices.end() || other->second.backend != here.backend) continue;
    if (winner.device == here.id() && winner.problem == problem) continue;
    const auto [at, is_new] = newest.try_emplace({winner.problem, winner.device}, &winner);
    if (!is_new && winner.decided_us > at->second->decided_us) at->second = &winner;
  }
  std::vector<Place> places;
  for (const auto& [key, winner] : newest) {
    const db::Device& other = devices.at(winner->device);
    places.push_back(
        {distance(here, other) + distance(problem, winner->problem), winner->problem, other, winner->run});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.distance < b.distance; });
  std::vector<Elsewhere> result;
  for (const Place& place : places) {
    if (result.size() == most_places) break;
    Elsewhere measured = measured_at(store, space, place, regime);
    if (measured.measured.size() >= fewest_measured) result.push_back(std::move(measured));
  }
  return result;
}

}  // namespace hone::tuner
