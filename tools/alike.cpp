#include "tools/alike.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/plural.hpp"

namespace hone::tools {
namespace {

using Rows = std::unordered_map<db::Id, const db::MeasuredRow*, db::IdHash>;

bool is_faster(const db::MeasuredRow* a, const db::MeasuredRow* b) {
  return b == nullptr || a->measurement.statistics.median < b->measurement.statistics.median;
}

Alike fastest_in(const Rows& rows, const AlikeFigures::Groups& groups, db::Stage stage) {
  Alike alike{{}, stage, 0};
  std::set<db::Id> runs;
  for (const std::vector<db::Id>& group : groups) {
    const db::MeasuredRow* fastest = nullptr;
    for (const db::Id& configuration : group)
      if (const auto found = rows.find(configuration);
          found != rows.end() && is_faster(found->second, fastest))
        fastest = found->second;
    if (fastest != nullptr) runs.insert(fastest->measurement.run);
    alike.fastest.push_back(fastest);
  }
  alike.runs = runs.size();
  return alike;
}

/// Whether nothing that was faster at first look is missing from the race.
bool decides(const Alike& race, const Rows& raced, const Alike& looks) {
  for (std::size_t i = 0; i < looks.fastest.size(); ++i) {
    const db::MeasuredRow* look = looks.fastest[i];
    if (look != nullptr && (race.fastest[i] == nullptr || !raced.contains(look->measurement.configuration)))
      return false;
  }
  return true;
}

}  // namespace

std::size_t Alike::covered() const {
  return static_cast<std::size_t>(
      std::count_if(fastest.begin(), fastest.end(), [](const auto* row) { return row != nullptr; }));
}

std::string Alike::text() const {
  if (runs == 0) return "none";
  if (stage == db::Stage::race) return "race";
  return runs == 1 ? "looks" : fmt::format("looks of {} runs", runs);
}

AlikeFigures::AlikeFigures(db::Store& store, const MeasuredProblem& measured) {
  std::map<db::Id, db::Id> swept;  // a measurement's sweep point
  for (const db::SweepPoint& point :
       store.sweep_points(measured.device.id(), measured.problem.id(), measured.regime))
    for (const db::Id& measurement : point.measurements) swept[measurement] = point.id;

  std::map<db::Id, std::size_t> race_of, look_of;  // by run, or by sweep point
  const auto rows_of = [](std::map<db::Id, std::size_t>& places, std::vector<Rows>& all,
                          const db::Id& id) -> Rows& {
    const auto [place, is_new] = places.try_emplace(id, all.size());
    if (is_new) all.emplace_back();
    return all[place->second];
  };
  for (auto row = measured.rows.rbegin(); row != measured.rows.rend(); ++row) {
    const db::Measurement& m = row->measurement;
    if (m.stage == db::Stage::first_look) {
      rows_of(look_of, looks_, m.run).try_emplace(m.configuration, &*row);
      newest_looks_.try_emplace(m.configuration, &*row);
    } else if (m.outcome == db::Outcome::ok) {  // what was raced out was timed in the heats alone
      const auto point = swept.find(m.id);
      rows_of(race_of, races_, point == swept.end() ? m.run : point->second)
          .try_emplace(m.configuration, &*row);
    }
  }
}

Alike AlikeFigures::looks(const Groups& groups) const {
  const auto count_in = [&](const Rows& rows) {
    std::size_t count = 0;
    for (const std::vector<db::Id>& group : groups)
      for (const db::Id& configuration : group) count += rows.count(configuration);
    return count;
  };
  const std::size_t all = count_in(newest_looks_);
  for (const Rows& run : looks_)
    if (count_in(run) == all) return fastest_in(run, groups, db::Stage::first_look);
  return fastest_in(newest_looks_, groups, db::Stage::first_look);
}

std::vector<const db::MeasuredRow*> AlikeFigures::shown() const {
  std::vector<const db::MeasuredRow*> rows;
  using InOrder = std::map<db::Id, const db::MeasuredRow*>;
  InOrder raced;
  for (const Rows& race : races_) raced.insert(race.begin(), race.end());  // the newest, which come first
  for (const InOrder& each : {raced, InOrder(newest_looks_.begin(), newest_looks_.end())})
    for (const auto& [configuration, row] : each) rows.push_back(row);
  return rows;
}

std::size_t AlikeFigures::race_of(const db::MeasuredRow& row) const {
  for (std::size_t i = 0; i < races_.size(); ++i) {
    const auto found = races_[i].find(row.measurement.configuration);
    if (found != races_[i].end() && found->second == &row) return i + 1;
  }
  return 0;
}

Alike AlikeFigures::fastest(const Groups& groups) const {
  Alike best = looks(groups);
  const Alike looked = best;
  bool decided = false;
  for (const Rows& raced : races_) {
    Alike race = fastest_in(raced, groups, db::Stage::race);
    const bool now_decided = decides(race, raced, looked);
    const bool better =
        now_decided == decided ? race.covered() > best.covered() : now_decided && race.covered() > 0;
    if (!better) continue;
    best = std::move(race);
    decided = now_decided;
  }
  return best;
}

}  // namespace hone::tools
