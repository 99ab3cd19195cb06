#include "tools/outdated.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "runtime/plural.hpp"
#include "tools/flags.hpp"
#include "tools/terminal.hpp"
#include "tools/units.hpp"

namespace hone::tools {
namespace {

/// The database's newest sources.
class Current {
 public:
  explicit Current(db::Store& store) : store_(store) {}

  std::optional<Changed> changed(const db::Configuration& configuration, const db::Id& source_hash) {
    const auto [found, is_new] = families_.try_emplace(configuration.family);
    if (is_new) found->second = store_.templates(configuration.family);
    for (const db::Template& current : found->second)
      if (current.variant == configuration.variant && current.source_hash != source_hash)
        return Changed{"source", source_hash.hex(), current.source_hash.hex(), false};
    return std::nullopt;
  }

 private:
  db::Store& store_;
  std::map<std::string, std::vector<db::Template>> families_;
};

/// What serves now serves whichever run it is of.
db::Filter of_any_run(const Filters& filters) {
  db::Filter filter = filters.filter();
  filter.run.reset();
  return filter;
}

/// Rows of the newest race among all configurations; `rows` are of one problem, in the order taken.
std::vector<db::MeasuredRow> newest_race(db::Store& store, const std::vector<db::MeasuredRow>& rows) {
  const db::MeasuredRow& any = rows.front();
  std::set<db::Id> swept;
  for (const db::SweepPoint& point :
       store.sweep_points(any.device.id(), any.problem.id(), any.measurement.regime))
    swept.insert(point.measurements.begin(), point.measurements.end());
  std::vector<db::MeasuredRow> race;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row)
    if (!swept.contains(row->measurement.id) &&
        (race.empty() || race.front().measurement.run == row->measurement.run))
      race.push_back(*row);
  return race;
}

/// Of each alignment class the fastest, where its source is not the newest.
void add_outdated(std::vector<OutdatedWinner>& outdated, const std::vector<db::MeasuredRow>& race,
                  Current& current) {
  std::set<std::int64_t> classes;
  for (const db::MeasuredRow& row : race) classes.insert(row.measurement.alignment);
  for (const std::int64_t alignment : classes) {
    const db::MeasuredRow* fastest = nullptr;
    for (const db::MeasuredRow& row : race) {
      const db::Measurement& m = row.measurement;
      if (m.alignment <= alignment &&
          (fastest == nullptr || m.statistics.median < fastest->measurement.statistics.median))
        fastest = &row;
    }
    if (const auto changed = current.changed(fastest->configuration, fastest->measurement.source_hash))
      outdated.push_back({*fastest, alignment, *changed});
  }
}

}  // namespace

std::vector<OutdatedWinner> outdated_winners(db::Store& store, const Filters& filters) {
  if (!store.has_older_sources(filters.family())) return {};
  using Key = std::tuple<db::Id, db::Regime, db::Problem>;
  std::set<Key> served;
  for (db::Winner& winner : store.winners(of_any_run(filters)))
    served.emplace(winner.device, winner.regime, std::move(winner.problem));
  // Of the problems alone that a decision was made for and does not serve.
  std::set<db::Problem> unserved;
  db::Filter filter = filters.filter();
  for (const db::MeasuredRow& row : store.choices(filter))
    if (!served.contains({row.device.id(), row.measurement.regime, row.problem}))
      unserved.insert(row.problem);
  if (unserved.empty()) return {};
  filter.problem = [&](const db::Problem& problem) { return unserved.contains(problem); };
  filter.raced = true;
  std::map<Key, std::vector<db::MeasuredRow>> left;
  for (db::MeasuredRow& row : store.measurements(filter)) {
    const db::Measurement& m = row.measurement;
    if (!filters.match(row)) continue;
    Key key{row.device.id(), m.regime, row.problem};
    if (!served.contains(key)) left[std::move(key)].push_back(std::move(row));
  }
  Current current(store);
  std::vector<OutdatedWinner> outdated;
  for (const auto& [key, rows] : left) add_outdated(outdated, newest_race(store, rows), current);
  return outdated;
}

std::vector<OutdatedSweep> outdated_sweeps(db::Store& store, const Filters& filters) {
  if (!store.has_older_sources(filters.family())) return {};
  using Key = std::tuple<db::Id, db::Regime, std::string, std::string, std::string>;
  std::set<Key> seen;  // those that something follows from, then those that were looked at
  each_swept(store, of_any_run(filters), [&](const auto& derived, bool) {
    seen.emplace(derived.device, derived.regime, derived.family, derived.element_type, derived.layout);
  });
  Current current(store);
  const auto outdated_in = [&](const db::Sweep& sweep, const db::Id& device) -> std::optional<OutdatedSweep> {
    for (const db::Id& point : sweep.points) {
      const auto found = store.sweep_point(point);
      if (!found) continue;
      for (const db::Id& id : found->measurements) {
        const auto m = store.measurement(id);
        const auto configuration = m ? store.configuration(m->configuration) : std::nullopt;
        if (!configuration) continue;
        if (const auto changed = current.changed(*configuration, m->source_hash)) {
          const auto problem = store.problem(found->problem);
          return OutdatedSweep{sweep,   problem && problem->dimensions.size() > 1, device, *configuration, id,
                               *changed};
        }
      }
    }
    return std::nullopt;
  };
  std::vector<OutdatedSweep> outdated;
  for (const db::Sweep& sweep : store.sweeps(filters.filter())) {
    const auto run = store.run(sweep.run);
    if (!run ||
        !filters.match({sweep.family, sweep.element_type, sweep.layout, {}}, run->device, sweep.regime) ||
        !filters.match(sweep.run, sweep.swept_us) ||
        !seen.emplace(run->device, sweep.regime, sweep.family, sweep.element_type, sweep.layout).second)
      continue;
    if (auto found = outdated_in(sweep, run->device)) outdated.push_back(std::move(*found));
  }
  return outdated;
}

void tell_outdated(db::Store& store, const Filters& filters, std::vector<TemplateFolder> folders) {
  Staleness staleness(store, std::move(folders));
  auto winners = static_cast<std::int64_t>(outdated_winners(store, filters).size());
  for (const db::Winner& winner : store.winners(filters.filter()))
    if (filters.match(winner) &&
        staleness.of_source(winner.problem.family, winner.configuration.variant, winner.source_hash))
      ++winners;
  std::int64_t sweeps = 0, portfolios = 0;
  for (const OutdatedSweep& sweep : outdated_sweeps(store, filters))
    ++(sweep.across_problems ? portfolios : sweeps);
  std::set<db::Id> changed;
  each_swept(store, filters.filter(), [&](const auto& derived, bool of_portfolio) {
    if (filters.match(derived) &&
        staleness.of_source(derived.family, derived.configuration.variant, derived.source_hash) &&
        changed.insert(derived.sweep).second)
      ++(of_portfolio ? portfolios : sweeps);
  });
  if (winners + sweeps + portfolios == 0) return;
  std::vector<std::string> parts;
  if (winners > 0) parts.push_back(plural(winners, "winner"));
  if (sweeps > 0) parts.push_back(fmt::format("the bands of {}", plural(sweeps, "sweep")));
  if (portfolios > 0) parts.push_back(plural(portfolios, "portfolio"));
  const std::string what = fmt::format("{}", fmt::join(parts, " and "));
  Arguments words;
  if (!filters.family().empty()) words.push_back(filters.family());
  write_error(fmt::format("{}: {} {} tuned with other sources; `{}` lists them", store.file().string(), what,
                          winners + sweeps + portfolios == 1 && sweeps == 0 ? "was" : "were",
                          command_line_on(store.file(), "query stale", words)));
}

}  // namespace hone::tools
