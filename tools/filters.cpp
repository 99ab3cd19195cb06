#include "tools/filters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/spelling.hpp"
#include "tools/flags.hpp"
#include "tools/recorded_devices.hpp"
#include "tools/terminal.hpp"
#include "tuner/clock.hpp"

namespace hone::tools {

bool within(const db::Problem& problem, const std::vector<Bound>& bounds) {
  return std::all_of(bounds.begin(), bounds.end(), [&](const Bound& bound) {
    return std::any_of(problem.dimensions.begin(), problem.dimensions.end(), [&](const auto& dimension) {
      return dimension.first == bound.dimension && dimension.second >= bound.lowest &&
             dimension.second <= bound.highest;
    });
  });
}

void add_recorded_device_flag(Options& options) {
  options.value(
      "device", "D",
      "only tuned devices of this backend, architecture or part of a name, or the one of this index "
      "in `hone devices`");
}

void add_filter_flags(Options& options) {
  add_recorded_device_flag(options);
  options.list("dtype", "T", "only this element type")
      .value("regime", "R", "only steady or cold")
      .value("run", "ID", "only what this run did; the first digits of its id are enough")
      .value("since", "WHEN", "only what is as new: 2026-11-30, \"2026-11-30 14:05\", or 2h or 3d ago");
  add_database_flag(options);
}

namespace {

/// The one run whose id starts with these digits.
db::Id find_run(db::Store& store, const std::string& digits) {
  std::vector<db::Id> found;
  for (const auto& [run, ended] : store.runs())
    if (run.id.hex().starts_with(digits)) found.push_back(run.id);
  if (found.size() == 1) return found[0];
  throw Error(ErrorCode::invalid,
              fmt::format("--run: {} has {} run `{}`; `hone query runs --columns run,command` lists them",
                          store.file().string(), found.empty() ? "no" : "more than one", digits));
}

/// Throws where a bound is of a dimension that no recorded problem has: it would match nothing, silently.
void require_dimensions(db::Store& store, const std::string& family,
                        const std::vector<std::vector<Bound>>& shapes) {
  if (shapes.empty()) return;
  db::Filter filter;
  filter.family = family;
  std::set<std::string> known;
  for (const db::Problem& problem : store.problems(filter))
    for (const auto& [name, extent] : problem.dimensions) known.insert(name);
  if (known.empty()) return;  // no problems at all
  for (const std::vector<Bound>& bounds : shapes)
    for (const Bound& bound : bounds)
      if (!known.contains(bound.dimension))
        throw Error(ErrorCode::invalid,
                    fmt::format("--shape: no problem of {} has a dimension `{}`{}",
                                family.empty() ? store.file().string() : family, bound.dimension,
                                suggestion(bound.dimension, {known.begin(), known.end()})));
}

}  // namespace

void add_bounds_flag(Options& options) {
  options.list("shape", "BOUNDS", "only problems within bounds: numel=1048576 or numel=1024:4096,...");
}

namespace {

/// Says which of several element types nothing is recorded of, where the others would hide it.
void tell_unknown_types(db::Store& store, const std::string& family, const std::vector<std::string>& types) {
  if (types.size() < 2) return;
  db::Filter filter;
  filter.family = family;
  std::set<std::string> known;
  for (const db::Problem& problem : store.problems(filter)) known.insert(problem.element_type);
  for (const std::string& type : types)
    if (!known.contains(type))
      write_error(fmt::format("--dtype: {} has nothing of {}{}", store.file().string(),
                              family.empty() ? "" : family + " ", type));
}

}  // namespace

std::vector<db::Template> tuned_templates(db::Store& store, const std::string& family) {
  std::vector<db::Template> templates = store.templates(family);
  if (!templates.empty()) return templates;
  throw Error(ErrorCode::invalid, fmt::format("{}: family `{}` was never tuned here{}", store.file().string(),
                                              family, suggestion(family, store.families())));
}

Filters::Filters(const Options& options, db::Store& store)
    : Filters(options, store, options.positional().empty() ? "" : options.positional()[0]) {}

Filters::Filters(const Options& options, db::Store& store, std::string family)
    : family_(std::move(family)), types_(element_types_of(options)) {
  if (options.has("regime")) regime_ = parse_regime("--regime", options.get("regime", ""));
  if (!family_.empty()) tuned_templates(store, family_);
  if (options.has("run")) run_ = find_run(store, options.get("run", ""));
  if (options.has("since")) {
    since_us_ = parse_moment("--since", options.get("since", ""), tuner::now_us());
  }
  for (const std::string& text : options.all("shape")) shapes_.push_back(parse_bounds("--shape", text));
  require_dimensions(store, family_, shapes_);
  tell_unknown_types(store, family_, types_);
  for (auto& [id, device] : store.devices()) devices_.emplace(id, std::move(device));
  if (!options.has("device")) return;
  chosen_.emplace();
  for (const auto& [id, device] : devices_called(store, "--device", options.get("device", "")))
    chosen_->push_back(id);
}

Filters::Filters(db::Store& store, std::string family, std::vector<std::string> types,
                 std::optional<db::Id> device)
    : family_(std::move(family)), types_(std::move(types)) {
  if (device) chosen_.emplace({*device});
  for (auto& [id, each] : store.devices()) devices_.emplace(id, std::move(each));
}

Filters Filters::of_any_shape() const {
  Filters filters = *this;
  filters.shapes_.clear();
  return filters;
}

bool Filters::match(const db::Problem& problem, const db::Id& device, db::Regime regime) const {
  return (!regime_ || regime == *regime_) && match_device(device) && match(problem);
}

bool Filters::match(const db::Problem& problem) const {
  if (!family_.empty() && problem.family != family_) return false;
  if (!types_.empty() && std::find(types_.begin(), types_.end(), problem.element_type) == types_.end())
    return false;
  return shapes_.empty() || std::any_of(shapes_.begin(), shapes_.end(),
                                        [&](const auto& bounds) { return within(problem, bounds); });
}

bool Filters::match_device(const db::Id& device) const {
  return !chosen_ || std::find(chosen_->begin(), chosen_->end(), device) != chosen_->end();
}

bool Filters::match(const db::Id& run, std::int64_t at_us) const {
  return (!run_ || run == *run_) && (!since_us_ || at_us >= *since_us_);
}

bool Filters::match(const db::MeasuredRow& row) const {
  const db::Measurement& m = row.measurement;
  return match(m.run, m.taken_us) && match(row.problem, row.device.id(), m.regime);
}

bool Filters::match(const db::Winner& winner) const {
  return match(winner.run, winner.decided_us) && match(winner.problem, winner.device, winner.regime);
}

bool Filters::match(const db::Swept& swept) const {
  return match({swept.family, swept.element_type, swept.layout, {}}, swept.device, swept.regime) &&
         match(swept.run, swept.swept_us);
}

const db::Device& Filters::device(const db::Id& id) const {
  static const db::Device unknown{"", "(unknown)", "", 0, 0, 0, ""};
  const auto found = devices_.find(id);
  return found == devices_.end() ? unknown : found->second;
}

db::Filter Filters::filter() const {
  db::Filter filter;
  filter.family = family_;
  if (types_.size() == 1) filter.element_type = types_[0];
  filter.regime = regime_;
  filter.run = run_;
  if (since_us_) filter.since_us = *since_us_;
  if (!shapes_.empty() || types_.size() > 1)
    filter.problem = [own = *this](const db::Problem& problem) { return own.match(problem); };
  if (chosen_ && chosen_->size() == 1) filter.device = chosen_->front();
  return filter;
}

}  // namespace hone::tools
