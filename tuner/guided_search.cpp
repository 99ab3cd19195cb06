#include "tuner/guided_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hone::tuner {

namespace {

constexpr std::size_t spread_out_points = 10;  ///< before the model is asked for the first time
constexpr int spread_out_tries = 30;
constexpr std::size_t least_passed = 3;  ///< from which a model can be made
constexpr double growth = 1.15;          ///< of the rows, until the kernel is fitted again
// What bounds the time of an answer to some milliseconds.
constexpr std::size_t most_rows = 512, most_rows_to_fit = 200, most_points = 4096, most_rows_elsewhere = 256;
constexpr std::size_t centres = 8;  ///< best points whose neighbours are always among those asked about
/// Where failures stand among those that passed: worse than most, so that the search leaves, yet no cliff
/// that would hide the points beside them.
constexpr double failed_quantile = 0.75;
constexpr double failed_doubt = 0.3;
/// What is fast elsewhere is preferred, by a factor that dies away with the number of rows (after Hvarfner et
/// al. 2022, in its square): at 40 rows the fastest of there has e^2.5 times the weight of the slowest, at
/// 200 rows 1.1 times.
constexpr double belief_elsewhere = 4000;
/// Of the points that are spread out at first, every other one is of this share of the fastest elsewhere.
constexpr double spread_out_elsewhere = 0.2;
/// When the search may end by itself. A model of fewer rows may be as wrong as it is sure: of replays of a
/// rugged space one in ten ended far from the optimum at 50.
constexpr std::size_t least_told = 200;

double expected_improvement(double best, const Predicted& predicted) {
  const double deviation = std::sqrt(predicted.variance);
  const double z = (best - predicted.mean) / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  // Far below, where the difference of the two terms is lost in rounding, its asymptotic value.
  if (z < -6) return deviation * density / (z * z);
  return deviation * (z * std::erfc(-z / std::numbers::sqrt2) / 2 + density);
}

std::pair<double, double> mean_and_deviation(const std::vector<double>& values) {
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::max(1e-3, std::sqrt(squares / static_cast<double>(values.size())))};
}

}  // namespace

GuidedSearch::GuidedSearch(SearchSpace& space, SearchSettings settings)
    : space_(space),
      settings_(std::move(settings)),
      unasked_(space, settings_.first, settings_.seed),
      model_(space.dimensions()) {
  for (std::size_t i = 0; i < space.size(); ++i) classes_.insert(space.alignment(i));
  for (const Elsewhere& elsewhere : settings_.elsewhere) {
    std::vector<double> times;
    for (const auto& [levels, nanoseconds] : elsewhere.measured)
      if (nanoseconds) times.push_back(std::log(*nanoseconds));
    const auto [mean, deviation] = mean_and_deviation(times);
    Place place{{}, {}, {}, GaussianProcess(space.dimensions())};
    for (const auto& [levels, nanoseconds] : elsewhere.measured) {
      const double time =
          nanoseconds ? (std::log(*nanoseconds) - mean) / deviation : std::numeric_limits<double>::infinity();
      place.times[levels] = time;
      if (!nanoseconds) continue;
      place.sorted.push_back(time);
      place.rows.push_back({levels, time, 0});
    }
    std::sort(place.sorted.begin(), place.sorted.end());
    // Half of them the fastest, where it matters most, half any of the rest.
    if (place.rows.size() > most_rows_elsewhere) {
      std::sort(place.rows.begin(), place.rows.end(),
                [](const Observed& a, const Observed& b) { return a.value < b.value; });
      std::shuffle(place.rows.begin() + most_rows_elsewhere / 2, place.rows.end(), unasked_.random());
      place.rows.resize(most_rows_elsewhere);
    }
    elsewhere_.push_back(std::move(place));
  }
  // The fastest elsewhere are likely alike.
  spread_out_until_ = spread_out_points + (elsewhere_.empty() ? 0 : settings_.first.size());
}

double GuidedSearch::Place::share_faster(double time) const {
  if (sorted.empty()) return 0.5;
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), time);
  return static_cast<double>(at - sorted.begin()) / static_cast<double>(sorted.size());
}

std::size_t GuidedSearch::take(std::size_t point, double expected) {
  unasked_.take(point);
  if (point >= row_of_.size()) row_of_.resize(space_.size());
  row_of_[point] = rows_.size();
  rows_.push_back({point, State::asked, expected});
  return point;
}

std::optional<std::size_t> GuidedSearch::ask() {
  if (!ended_.empty()) return std::nullopt;
  std::optional<std::size_t> point = unasked_.take_first();
  const bool modelled = !point && rows_.size() >= spread_out_until_ && passed_ >= least_passed;
  if (!point && !modelled) point = rows_.size() < spread_out_until_ ? spread_out() : unasked_.any();
  if (point) {
    stale_ = true;
    return take(*point, std::numeric_limits<double>::quiet_NaN());
  }
  if (!modelled || unasked_.count() == 0) return std::nullopt;
  if (stale_ || rows_.size() >= rebuild_at_) rebuild();
  std::vector<Scored> scored = score();
  const auto best = std::max_element(scored.begin(), scored.end(),
                                     [](const Scored& a, const Scored& b) { return a.gain < b.gain; });
  if (best == scored.end() || !std::isfinite(best->gain)) {
    point = unasked_.any();
    stale_ = true;
    return point ? std::optional(take(*point, std::numeric_limits<double>::quiet_NaN())) : std::nullopt;
  }
  const Scored next = *best;
  if (!worth_going_on(std::move(scored))) return std::nullopt;
  take(next.point, next.expected);
  const Row& row = rows_.back();
  model_rows_.push_back(rows_.size() - 1);
  model_.add(observed(row, unit()));
  return row.point;
}

/// The farthest of some random points from all that were asked for: a Latin-hypercube-like start that
/// respects constraints.
std::optional<std::size_t> GuidedSearch::spread_out() {
  std::vector<std::size_t> tries;
  for (int i = 0; i < spread_out_tries; ++i)
    if (const auto point = unasked_.any()) tries.push_back(*point);
  const bool as_elsewhere = !elsewhere_.empty() && rows_.size() % 2 == 0;
  if (as_elsewhere) know_elsewhere(tries);
  std::optional<std::size_t> farthest;
  double most = -1;
  for (const std::size_t point : tries) {
    if (as_elsewhere && faster_elsewhere(point) > spread_out_elsewhere) continue;
    double least = std::numeric_limits<double>::infinity();
    for (const Row& row : rows_)
      least = std::min(least, model_.distance(space_.levels(point), space_.levels(row.point)));
    if (least > most) most = least, farthest = point;
  }
  return farthest ? farthest : unasked_.any();
}

void GuidedSearch::tell(std::size_t point, std::optional<double> nanoseconds) {
  if (unasked_.has(point)) {
    take(point, std::numeric_limits<double>::quiet_NaN());
    stale_ = true;
  }
  Row& row = rows_[row_of_[point]];
  ++told_;
  if (!nanoseconds) {
    row.state = State::failed;
    // Its row has the doubt of one that passes until the model is made anew.
    if (rows_.size() < most_rows_to_fit) stale_ = true;
    return;
  }
  ++passed_;
  row.state = State::passed;
  row.log_time = std::log(*nanoseconds);
  bool best = false;
  for (const std::int64_t alignment : classes_) {
    if (alignment < space_.alignment(point)) continue;
    const double before = best_.of(alignment);
    best = best || row.log_time < before;
    if (row.log_time < before - std::log1p(settings_.tie_bound)) improved_at_ = told_;
  }
  best_.add(space_.alignment(point), row.log_time);
  // Its neighbours are to be among the points asked about.
  if (best && model_points_.size() < unasked_.count()) stale_ = true;
}

GuidedSearch::Unit GuidedSearch::unit() const {
  std::vector<double> times;
  for (const Row& row : rows_)
    if (row.state == State::passed) times.push_back(row.log_time);
  std::sort(times.begin(), times.end());
  Unit unit;
  unit.failed = times[static_cast<std::size_t>(failed_quantile * static_cast<double>(times.size() - 1))];
  const auto failures = static_cast<std::size_t>(
      std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.state == State::failed; }));
  times.insert(times.end(), failures, unit.failed);
  std::tie(unit.zero, unit.one) = mean_and_deviation(times);
  return unit;
}

Observed GuidedSearch::observed(const Row& row, const Unit& unit) const {
  double time = row.log_time;
  if (row.state == State::failed) time = unit.failed;
  if (std::isnan(time)) time = unit.zero;
  return {space_.levels(row.point), (time - unit.zero) / unit.one,
          row.state == State::failed ? failed_doubt : 0};
}

/// Half of them the fastest, half any of the rest, when there are too many.
std::vector<std::size_t> GuidedSearch::rows_for_model(std::size_t most) {
  std::vector<std::size_t> rows(rows_.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (rows.size() <= most) return rows;
  const auto slow = [&](std::size_t i) {
    return rows_[i].state == State::passed ? rows_[i].log_time : std::numeric_limits<double>::infinity();
  };
  std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return slow(a) < slow(b); });
  std::shuffle(rows.begin() + static_cast<std::ptrdiff_t>(most / 2), rows.end(), unasked_.random());
  rows.resize(most);
  return rows;
}

/// Everything that was not asked for yet; of a large space the neighbours of the best points, and others at
/// random.
std::vector<std::size_t> GuidedSearch::points_for_model() {
  std::vector<std::size_t> points;
  if (unasked_.count() > most_points || space_.grows()) {
    std::vector<const Row*> best;
    for (const Row& row : rows_)
      if (row.state == State::passed) best.push_back(&row);
    std::set<std::size_t> chosen;
    for (const std::int64_t alignment : classes_) {
      std::vector<const Row*> serves;
      std::copy_if(best.begin(), best.end(), std::back_inserter(serves),
                   [&](const Row* row) { return space_.alignment(row->point) <= alignment; });
      const std::size_t most = std::min(centres, serves.size());
      std::partial_sort(serves.begin(), serves.begin() + static_cast<std::ptrdiff_t>(most), serves.end(),
                        [](const Row* a, const Row* b) { return a->log_time < b->log_time; });
      for (std::size_t i = 0; i < most; ++i)
        for (const std::size_t point : space_.neighbours(serves[i]->point))
          if (unasked_.has(point)) chosen.insert(point);
    }
    for (std::size_t i = 0; i < 2 * most_points && chosen.size() < most_points; ++i)
      if (const auto point = unasked_.any()) chosen.insert(*point);
    points.assign(chosen.begin(), chosen.end());
    return points;
  }
  for (std::size_t i = 0; i < space_.size(); ++i)
    if (unasked_.has(i)) points.push_back(i);
  return points;
}

/// The mean over the places; one half where nothing is known.
double GuidedSearch::faster_elsewhere(std::size_t point) const {
  if (point >= faster_elsewhere_.size() || faster_elsewhere_[point].empty()) return 0.5;
  double sum = 0;
  for (const double share : faster_elsewhere_[point]) sum += share;
  return sum / static_cast<double>(elsewhere_.size());
}

void GuidedSearch::know_elsewhere(std::vector<std::size_t> points) {
  if (elsewhere_.empty()) return;
  for (const Row& row : rows_) points.push_back(row.point);
  faster_elsewhere_.resize(space_.size());
  std::erase_if(points, [&](std::size_t point) { return !faster_elsewhere_[point].empty(); });
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  for (Place& place : elsewhere_) {
    std::vector<std::size_t> not_measured;
    for (const std::size_t point : points) {
      const auto at = place.times.find(space_.levels(point));
      if (at == place.times.end()) not_measured.push_back(point);
      faster_elsewhere_[point].push_back(at == place.times.end() ? 0.5 : place.share_faster(at->second));
    }
    if (not_measured.empty() || place.rows.size() < least_passed) continue;
    if (!place.fitted) place.model.fit(place.rows);
    place.fitted = true;
    std::vector<Levels> asked;
    for (const std::size_t point : not_measured) asked.push_back(space_.levels(point));
    std::vector<double> values;
    for (const Observed& row : place.rows) values.push_back(row.value);
    place.model.condition(place.rows, std::move(asked));
    const std::vector<Predicted> predicted = place.model.predict(values);
    for (std::size_t i = 0; i < not_measured.size(); ++i)
      faster_elsewhere_[not_measured[i]].back() = place.share_faster(predicted[i].mean);
  }
}

void GuidedSearch::rebuild() {
  stale_ = false;
  const bool fit = rows_.size() >= rebuild_at_;
  if (fit)
    rebuild_at_ =
        std::max(rows_.size() + 1, static_cast<std::size_t>(growth * static_cast<double>(rows_.size())));
  model_points_ = points_for_model();
  know_elsewhere(model_points_);
  const Unit scale = unit();
  if (fit) {
    std::vector<Observed> rows;
    for (const std::size_t i : rows_for_model(most_rows_to_fit))
      if (rows_[i].state != State::asked) rows.push_back(observed(rows_[i], scale));
    model_.fit(rows);
  }
  model_rows_ = rows_for_model(most_rows);
  std::vector<Observed> rows;
  for (const std::size_t i : model_rows_) rows.push_back(observed(rows_[i], scale));
  std::vector<Levels> points;
  for (const std::size_t point : model_points_) points.push_back(space_.levels(point));
  model_.condition(rows, std::move(points));
}

std::vector<GuidedSearch::Scored> GuidedSearch::score() const {
  const Unit scale = unit();
  std::vector<double> values;
  for (const std::size_t i : model_rows_) values.push_back(observed(rows_[i], scale).value);
  const std::vector<Predicted> predicted = model_.predict(values);
  std::map<std::int64_t, double> best;
  for (const std::int64_t alignment : classes_) {
    double log_time = best_.of(alignment);
    if (std::isinf(log_time)) log_time = scale.failed;  // nothing serves it yet
    best[alignment] = (log_time - scale.zero) / scale.one;
  }
  const auto rows = static_cast<double>(rows_.size());
  std::vector<Scored> scored;
  for (std::size_t i = 0; i < model_points_.size(); ++i) {
    if (!unasked_.has(model_points_[i])) continue;
    double gain = 0;
    for (auto at = best.lower_bound(space_.alignment(model_points_[i])); at != best.end(); ++at)
      gain += expected_improvement(at->second, predicted[i]);
    if (!elsewhere_.empty())
      gain *= std::exp(-belief_elsewhere * faster_elsewhere(model_points_[i]) / (rows * rows));
    scored.push_back({model_points_[i], gain * scale.one, scale.zero + scale.one * predicted[i].mean});
  }
  return scored;
}

/// Whether as many points more as were told may gain the tie bound: the sum of the most expected improvements
/// is no less than the expectation of their maximum.
bool GuidedSearch::worth_going_on(std::vector<Scored> scored) {
  if (!settings_.may_end || told_ < least_told || told_ < 2 * improved_at_) return true;
  const std::size_t more = std::min(scored.size(), told_);
  std::partial_sort(scored.begin(), scored.begin() + static_cast<std::ptrdiff_t>(more), scored.end(),
                    [](const Scored& a, const Scored& b) { return a.gain > b.gain; });
  double gain = 0;
  for (std::size_t i = 0; i < more; ++i) gain += scored[i].gain;
  if (gain >= std::log1p(settings_.tie_bound)) return true;
  ended_ =
      fmt::format("{} more configurations are expected to gain {:.2g} %, less than the tie bound of {:.2g} %",
                  more, 100 * std::expm1(gain), 100 * settings_.tie_bound);
  return false;
}

}  // namespace hone::tuner
