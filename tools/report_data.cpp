#include "tools/report_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "hone/error.hpp"
#include "runtime/plan.hpp"
#include "tools/alike.hpp"
#include "tools/measured.hpp"
#include "tuner/clock.hpp"

namespace hone::tools {
namespace {

constexpr const char* variant_word = "variant";

/// Numbers a family's configurations as they are met.
class Configurations {
 public:
  explicit Configurations(const Family& family) {
    add_parameter(variant_word);
    for (const Variant& variant : family.variants) {
      value(0, variant.name);
      for (const db::Parameter& parameter : variant.parameters) {
        const std::size_t at = add_parameter(parameter.name);
        for (const db::Value& each : parameter.values) value(at, each);
      }
    }
  }

  std::size_t of(const db::Id& id, const db::Configuration& configuration) {
    const auto [found, is_new] = known_.try_emplace(id, coded_.size());
    if (is_new) {
      std::vector<std::size_t> code{value(0, configuration.variant)};
      for (const auto& [name, chosen] : configuration.parameters) {
        const std::size_t at = add_parameter(name);
        if (code.size() <= at) code.resize(at + 1);
        code[at] = value(at, chosen);
      }
      coded_.push_back(std::move(code));
    }
    return found->second;
  }

  /// Moves them to `family`, in the order of their values; what each number becomes.
  std::vector<std::size_t> finish(ReportFamily& family) {
    for (auto& code : coded_) code.resize(parameters_.size());
    std::vector<std::size_t> order(coded_.size()), becomes(coded_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return coded_[a] < coded_[b]; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      becomes[order[i]] = i;
      family.configurations.push_back(std::move(coded_[order[i]]));
    }
    family.parameters = std::move(parameters_);
    return becomes;
  }

 private:
  std::size_t add_parameter(const std::string& name) {
    const auto [found, is_new] = places_.try_emplace(name, parameters_.size());
    if (is_new) {
      parameters_.push_back({name, {}});
      values_.emplace_back();
    }
    return found->second;
  }

  std::size_t value(std::size_t parameter, const db::Value& value) {
    std::vector<db::Value>& values = parameters_[parameter].values;
    const auto [found, is_new] = values_[parameter].try_emplace(value, values.size() + 1);
    if (is_new) values.push_back(value);
    return found->second;
  }

  std::vector<ReportParameter> parameters_;
  std::map<std::string, std::size_t> places_;
  std::vector<std::map<db::Value, std::size_t>> values_;
  std::map<db::Id, std::size_t> known_;
  std::vector<std::vector<std::size_t>> coded_;
};

class Gathering {
 public:
  Gathering(db::Store& store, const Filters& filters) : store_(store), filters_(filters) {}

  Report report() {
    report_.database = store_.file();
    report_.made_us = tuner::now_us();
    count_measurements();
    add_runs();
    for (const auto& [name, family] : families_)
      if (family) add_family(*family);
    add_failures();
    for (const ReportGroup& group : report_.groups) {
      ReportDevice& device = report_.devices[group.device];
      if (const auto peak = peaks_.of_work(device.device, group.element_type))
        device.work_peaks[group.element_type] = *peak;
    }
    return std::move(report_);
  }

 private:
  /// None: its manifest cannot be read.
  const std::optional<Family>& family(const std::string& name) {
    const auto [found, is_new] = families_.try_emplace(name);
    if (is_new) {
      try {
        found->second = family_from_records(store_.templates(name));
      } catch (const Error& error) {
        report_.unreadable.push_back(fmt::format("{}: {}", name, error.what()));
      }
    }
    return found->second;
  }

  std::size_t device_of(const db::Device& device) {
    const auto [found, is_new] = devices_.try_emplace(device.id(), report_.devices.size());
    if (is_new) report_.devices.push_back({device, peaks_.of(device), {}});
    return found->second;
  }

  void count_measurements() {
    for (const db::MeasuredRow& row : store_.measurements(filters_.filter())) {
      const db::Measurement& m = row.measurement;
      if (!filters_.match(row)) continue;
      ++report_.measurements;
      ++of_run_[m.run];
      const std::size_t device = device_of(row.device);
      const std::optional<Family>& of = family(row.problem.family);
      if (!of) continue;
      const Variant* variant = of->variant(row.configuration.variant);
      if (variant == nullptr || variant->source_hash != m.source_hash) {
        ++report_.older;
      } else if (m.outcome == db::Outcome::pruned) {
        ++report_.pruned;
      } else if (db::is_failure(m.outcome)) {
        ReportFailure& kind = failures_[{of->name, device, m.outcome, m.reason}];
        if (kind.count++ == 0) {
          kind.device = device;
          kind.outcome = m.outcome;
          kind.reason = m.reason;
          kind.example = fmt::format("{}, {}", row.problem.text(), row.configuration.text());
        }
      }
    }
  }

  void add_runs() {
    for (auto& [run, ended] : store_.runs()) {
      const auto counted = of_run_.find(run.id);
      const auto device = devices_.find(run.device);
      if (counted == of_run_.end() || device == devices_.end()) continue;
      const auto environment = store_.environment(run.environment);
      runs_[run.id] = report_.runs.size();
      report_.runs.push_back({std::move(run), ended,
                              environment ? environment->items : std::map<std::string, std::string>{},
                              device->second, counted->second});
    }
  }

  /// None: another process stored it, and the run it is of, after the runs were read.
  std::optional<ReportMark> mark_of(Configurations& configurations, const db::MeasuredRow& row,
                                    std::size_t race) const {
    const db::Measurement& m = row.measurement;
    const auto run = runs_.find(m.run);
    if (run == runs_.end()) return std::nullopt;
    return ReportMark{configurations.of(m.configuration, row.configuration), run->second, race, m.statistics};
  }

  std::vector<std::optional<ReportMark>> ladder_of(const Family& family, const MeasuredProblem& measured,
                                                   Configurations& configurations) {
    std::vector<std::optional<ReportMark>> ladder;
    const FastestFirst race = family.ladder.empty() ? FastestFirst{} : newest_race(store_, measured);
    if (race.empty()) return ladder;
    for (const LadderPoint& point : family.ladder) {
      const db::MeasuredRow* row = fastest_at(point, race);
      ladder.push_back(row == nullptr ? std::nullopt : mark_of(configurations, *row, 1));
    }
    return ladder;
  }

  std::int64_t work_of(const Family& family, const db::Problem& problem) {
    try {
      return work(evaluator_, family, problem);
    } catch (const Error&) {
      return 0;
    }
  }

  void add_family(const Family& family) {
    using Key = std::tuple<db::Id, db::Regime, db::Problem>;
    std::map<Key, std::vector<db::Winner>> winners;
    db::Filter filter = filters_.filter();
    filter.family = family.name;
    for (db::Winner& winner : store_.winners(filter))
      if (filters_.match(winner.run, winner.decided_us))
        winners[{winner.device, winner.regime, winner.problem}].push_back(std::move(winner));

    Configurations configurations(family);
    const std::size_t first = report_.groups.size();
    for (const MeasuredProblem& measured : measured_problems(store_, filters_, family)) {
      if (measured.working_set == 0) {
        report_.without_traffic += static_cast<std::int64_t>(measured.rows.size());
        continue;
      }
      ReportProblem problem{measured.problem,
                            measured.working_set,
                            work_of(family, measured.problem),
                            {},
                            {},
                            ladder_of(family, measured, configurations)};
      const AlikeFigures figures(store_, measured);
      for (const db::MeasuredRow* row : figures.shown())
        if (const auto mark = mark_of(configurations, *row, figures.race_of(*row)))
          problem.marks.push_back(*mark);
      if (problem.marks.empty()) continue;
      const auto won = winners.find({measured.device.id(), measured.regime, measured.problem});
      for (const db::Winner& winner : won == winners.end() ? std::vector<db::Winner>{} : won->second) {
        const auto run = runs_.find(winner.run);
        if (run == runs_.end()) continue;
        problem.winners.push_back({{configurations.of(winner.configuration.id(), winner.configuration),
                                    run->second, 1, winner.statistics},
                                   winner.alignment,
                                   winner.tied});
      }
      std::set<std::size_t> timed;
      for (const ReportMark& mark : problem.marks) timed.insert(mark.configuration);
      report_.pairs += static_cast<std::int64_t>(timed.size());
      group_of(first, measured).problems.push_back(std::move(problem));
    }
    for (db::Band& band : store_.bands(filter))
      if (filters_.match(band.run, band.swept_us)) add_band(first, std::move(band), configurations);
    finish_family(family, first, configurations);
  }

  /// The last group, or a new one where `measured` does not belong to it: problems come group by group.
  ReportGroup& group_of(std::size_t first, const MeasuredProblem& measured) {
    const std::size_t device = devices_.at(measured.device.id());
    const auto belongs = [&](const ReportGroup& group) {
      return group.device == device && group.regime == measured.regime &&
             group.element_type == measured.problem.element_type && group.layout == measured.problem.layout;
    };
    if (report_.groups.size() == first || !belongs(report_.groups.back())) {
      report_.groups.push_back({report_.families.size(),
                                device,
                                measured.regime,
                                measured.problem.element_type,
                                measured.problem.layout,
                                {},
                                {}});
    }
    return report_.groups.back();
  }

  void add_band(std::size_t first, db::Band band, Configurations& configurations) {
    const auto device = devices_.find(band.device);
    if (device == devices_.end()) return;
    for (std::size_t i = first; i < report_.groups.size(); ++i) {
      ReportGroup& group = report_.groups[i];
      if (group.device != device->second || group.regime != band.regime ||
          group.element_type != band.element_type || group.layout != band.layout)
        continue;
      const std::size_t number = configurations.of(band.configuration.id(), band.configuration);
      group.bands.push_back({std::move(band), number});
      return;
    }
  }

  void finish_family(const Family& family, std::size_t first, Configurations& configurations) {
    ReportFamily done{family.name, family.description, {}, {}, {}};
    for (const LadderPoint& point : family.ladder) done.ladder.push_back(point.name);
    const std::vector<std::size_t> becomes = configurations.finish(done);
    const auto renumber = [&](std::size_t& configuration) { configuration = becomes[configuration]; };
    for (std::size_t i = first; i < report_.groups.size(); ++i) {
      for (ReportProblem& problem : report_.groups[i].problems) {
        for (ReportMark& mark : problem.marks) renumber(mark.configuration);
        for (ReportWinner& winner : problem.winners) renumber(winner.mark.configuration);
        for (auto& mark : problem.ladder)
          if (mark) renumber(mark->configuration);
        std::sort(problem.marks.begin(), problem.marks.end(), [](const ReportMark& a, const ReportMark& b) {
          return std::tuple(a.configuration, a.race == 0) < std::tuple(b.configuration, b.race == 0);
        });
        std::sort(problem.winners.begin(), problem.winners.end(),
                  [](const ReportWinner& a, const ReportWinner& b) { return a.alignment < b.alignment; });
      }
      for (ReportBand& band : report_.groups[i].bands) renumber(band.configuration);
    }
    numbers_[family.name] = report_.families.size();
    report_.families.push_back(std::move(done));
  }

  void add_failures() {
    for (auto& [key, kind] : failures_) {
      kind.family = numbers_.at(std::get<0>(key));
      report_.failures.push_back(std::move(kind));
    }
    std::stable_sort(report_.failures.begin(), report_.failures.end(),
                     [](const ReportFailure& a, const ReportFailure& b) {
                       return std::tie(a.family, a.device, b.count) < std::tie(b.family, b.device, a.count);
                     });
  }

  db::Store& store_;
  const Filters& filters_;
  Peaks peaks_{store_};
  db::Evaluator evaluator_;
  Report report_;
  std::map<std::string, std::optional<Family>> families_;
  std::map<std::string, std::size_t> numbers_;
  std::map<db::Id, std::size_t> devices_, runs_;
  std::map<db::Id, std::int64_t> of_run_;
  std::map<std::tuple<std::string, std::size_t, db::Outcome, std::string>, ReportFailure> failures_;
};

}  // namespace

Report gather_report(db::Store& store, const Filters& filters) {
  return Gathering(store, filters).report();
}

}  // namespace hone::tools
