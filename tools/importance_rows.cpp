#include "tools/importance_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "db/ties.hpp"
#include "tools/alike.hpp"
#include "tools/importance.hpp"
#include "tools/winner_table.hpp"

namespace hone::tools {
namespace {

/// Where the way of a problem leads from and to.
struct Ends {
  std::optional<db::Configuration> start;
  db::Configuration goal;
  std::optional<db::Winner> winner;  ///< which the goal is; none: it is the fastest measured
};

/// The winner for pointers of the widest class, which is that of all configurations, from the default that
/// its decision compared it with. Where there is no winner, the fastest from the first variant's defaults.
Ends ends_of(db::Store& store, const MeasuredProblem& measured, const std::vector<db::Winner>& winners,
             const Family& family, const db::Configuration& fastest) {
  Ends ends{std::nullopt, fastest, std::nullopt};
  for (const db::Winner& winner : winners) {
    if (winner.device != measured.device.id() || winner.regime != measured.regime ||
        winner.problem != measured.problem)
      continue;
    if (!ends.winner || winner.alignment > ends.winner->alignment) ends.winner = winner;
  }
  if (ends.winner) {
    ends.goal = ends.winner->configuration;
    const auto decision = store.decision(ends.winner->decision);
    const auto measurement =
        decision && decision->by_default ? store.measurement(*decision->by_default) : std::nullopt;
    if (measurement) ends.start = store.configuration(measurement->configuration);
  }
  const auto was_measured = [&](const Variant& variant) {
    return std::any_of(measured.rows.begin(), measured.rows.end(),
                       [&](const db::MeasuredRow& row) { return row.configuration.variant == variant.name; });
  };
  const auto first = std::find_if(family.variants.begin(), family.variants.end(), was_measured);
  if (!ends.start && first != family.variants.end())
    ends.start = db::Configuration{family.name, first->name, first->defaults};
  return ends;
}

/// Each by itself.
AlikeFigures::Groups each_alone(const FastestFirst& rows) {
  AlikeFigures::Groups groups;
  for (const db::MeasuredRow* row : rows) groups.push_back({row->measurement.configuration});
  return groups;
}

class Importance {
 public:
  Importance(db::Store& store, const MeasuredProblem& measured)
      : measured_(measured),
        figures_(store, measured),
        rows_(each_configuration(measured)),
        all_(figures_.fastest(each_alone(rows_))) {
    std::erase(all_.fastest, nullptr);  // what was raced out alone
    std::sort(all_.fastest.begin(), all_.fastest.end(), [](const auto* a, const auto* b) {
      return a->measurement.statistics.median < b->measurement.statistics.median;
    });
  }

  const db::Configuration& fastest() const {
    std::vector<db::Id> all;
    for (const db::MeasuredRow* row : rows_) all.push_back(row->measurement.configuration);
    const db::MeasuredRow* row = figures_.fastest({all}).fastest.front();
    return (row == nullptr ? rows_.front() : row)->configuration;
  }
  bool several_variants() const {
    return std::any_of(all_.fastest.begin(), all_.fastest.end(), [&](const db::MeasuredRow* row) {
      return row->configuration.variant != all_.fastest.front()->configuration.variant;
    });
  }

  using Rows = std::vector<Table::Row>;

  Rows way_rows(const Family& family, const Ends& ends) const {
    Rows rows;
    const Variant* variant = ends.start ? family.variant(ends.goal.variant) : nullptr;
    if (variant == nullptr) return rows;
    std::vector<db::Configuration> configurations;
    for (const db::MeasuredRow* row : rows_) configurations.push_back(row->configuration);
    const Compare taken = [&](const auto& from, const auto& to) { return compare(from, to); };
    const auto add_figures = [&](Table::Row row, const std::optional<Pair>& pair) {
      if (pair) {
        row.emplace_back("before_ns", pair->before);
        row.emplace_back("median_ns", pair->after);
        row.emplace_back("gain", pair->gain());
        row.emplace_back("ties", pair->tied ? Structured{"true", "yes"} : Structured{"false", ""});
        row.emplace_back("samples", pair->samples);
        row.emplace_back("before_measurement", pair->before_measurement.hex());
        row.emplace_back("measurement", pair->after_measurement.hex());
      }
      rows.push_back(std::move(row));
    };
    for (const Step& step : way(*ends.start, ends.goal, variant->defaults, configurations, taken)) {
      const bool one = step.changes.size() == 1 && step.pair;
      for (const Change& change : step.changes) {
        Table::Row row = begun(ends, one ? "step" : "hole");
        row.emplace_back("variant", ends.goal.variant);
        row.emplace_back("parameter", change.parameter);
        row.emplace_back("from", value_cell(change.from));
        row.emplace_back("to", value_cell(change.to));
        add_figures(std::move(row), one ? step.pair : std::nullopt);
      }
      if (!one && step.pair) {
        Table::Row row = begun(ends, "jump");
        std::vector<std::string> names;
        for (const Change& change : step.changes) names.push_back(change.parameter);
        row.emplace_back("parameter", fmt::format("{}", fmt::join(names, " ")));
        add_figures(std::move(row), step.pair);
      }
    }
    if (*ends.start != ends.goal) add_figures(begun(ends, "total"), compare(*ends.start, ends.goal));
    return rows;
  }

  Rows share_rows(const Ends& ends) const {
    std::vector<Timed> timed;
    for (const db::MeasuredRow* row : all_.fastest)
      timed.push_back({row->configuration, row->measurement.statistics.median});
    Rows rows;
    for (const Share& share : shares(timed)) {
      Table::Row row = begun(ends, share.parameter.empty() ? "rest" : "share");
      if (!share.variant.empty()) row.emplace_back("variant", share.variant);
      if (!share.parameter.empty()) row.emplace_back("parameter", share.parameter);
      row.emplace_back("explained", share.explained);
      row.emplace_back("samples", all_.text());
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  Table::Row begun(const Ends& ends, const char* what) const {
    Table::Row row = problem_row(measured_.problem, measured_.device, measured_.regime);
    row.emplace_back("configurations", static_cast<std::int64_t>(rows_.size()));
    if (ends.start) row.emplace_back("start", ends.start->text());
    row.emplace_back("goal", ends.goal.text());
    row.emplace_back("what", std::string(what));
    if (ends.winner) {
      row.emplace_back("goal_is",
                       Structured{"\"winner\"", fmt::format("the winner for pointers aligned to {}",
                                                            ends.winner->alignment)});
      row.emplace_back("alignment", ends.winner->alignment);
      row.emplace_back("decision", ends.winner->decision.hex());
    } else {
      row.emplace_back("goal_is", Structured{"\"fastest\"", "the fastest measured: there is no winner"});
    }
    return row;
  }

  std::optional<Pair> compare(const db::Configuration& from, const db::Configuration& to) const {
    const Alike alike = figures_.fastest({{from.id()}, {to.id()}});
    if (alike.covered() < 2) return std::nullopt;
    const db::Statistics& before = alike.fastest[0]->measurement.statistics;
    const db::Statistics& after = alike.fastest[1]->measurement.statistics;
    const auto& [faster, slower] =
        std::minmax(before, after, [](const auto& a, const auto& b) { return a.median < b.median; });
    return Pair{before.median,
                after.median,
                db::ties(faster, slower),
                alike.text(),
                alike.fastest[0]->measurement.id,
                alike.fastest[1]->measurement.id};
  }

  const MeasuredProblem& measured_;
  AlikeFigures figures_;
  FastestFirst rows_;
  Alike all_;
};

}  // namespace

ImportanceRows importance_rows(db::Store& store, const MeasuredProblem& measured, const Family& family,
                               const std::vector<db::Winner>& winners) {
  const Importance importance(store, measured);
  const Ends ends = ends_of(store, measured, winners, family, importance.fastest());
  return {importance.way_rows(family, ends), importance.share_rows(ends), importance.several_variants()};
}

}  // namespace hone::tools
