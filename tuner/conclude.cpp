#include "tuner/conclude.hpp"

#include <algorithm>
#include <set>

#include "tuner/clock.hpp"
#include "tuner/decide.hpp"
#include "tuner/space.hpp"

namespace hone::tuner {

namespace {

/// Rows that passed, as the decision sees them, in the order of `passed`.
std::vector<Finalist> finalists_of(const RaceRecord& record, const std::vector<const RaceRow*>& passed) {
  std::vector<Finalist> result;
  for (const RaceRow* row : passed) {
    Finalist f;
    f.measurement = row->measurement.id;
    f.alignment = row->candidate->alignment;
    f.statistics = row->measurement.statistics;
    f.samples = row->measurement.samples;
    f.distance = distance_from_default(record.family, record.device, row->candidate->configuration);
    f.by_default = row->candidate->by_default;
    f.incumbent = std::any_of(record.incumbents.begin(), record.incumbents.end(), [&](const db::Winner& w) {
      return w.configuration == row->candidate->configuration;
    });
    result.push_back(f);
  }
  return result;
}

db::Winner winner_of(const RaceRecord& record, const RaceRow& row, const Choice& choice) {
  db::Winner winner;
  winner.problem = record.problem;
  winner.configuration = row.candidate->configuration;
  winner.regime = record.regime;
  winner.alignment = choice.alignment;
  winner.needs_alignment = row.candidate->alignment;
  winner.source_hash = row.candidate->source_hash;
  winner.build_key = row.candidate->compiled->build_key;
  winner.device = record.run.device;
  winner.environment = record.run.environment;
  winner.run = record.run.id;
  winner.measurement = row.measurement.id;
  winner.statistics = row.measurement.statistics;
  winner.tied = static_cast<std::int64_t>(choice.tied.size()) - 1;
  winner.decided_us = now_us();
  return winner;
}

}  // namespace

void put_object(db::Store& store, const Family& family, const DeviceInfo& device,
                const Candidate& candidate) {
  store.put(db::CodeObject{candidate.compiled->build_key, device.architecture, candidate.compiled->compiler,
                           family.variant(candidate.configuration.variant)->entry,
                           candidate.compiled->object});
}

std::vector<db::Winner> conclude(db::Store& store, const RaceRecord& record) {
  std::vector<const RaceRow*> passed;
  for (const RaceRow& row : record.rows)
    if (row.measurement.outcome == db::Outcome::ok) passed.push_back(&row);
  const std::vector<Finalist> finalists = finalists_of(record, passed);
  const auto first = [&](bool Finalist::*is) -> std::optional<db::Id> {
    const auto at =
        std::find_if(finalists.begin(), finalists.end(), [&](const Finalist& f) { return f.*is; });
    return at == finalists.end() ? std::nullopt : std::optional(at->measurement);
  };
  std::set<std::int64_t> classes;
  for (const Candidate& c : record.candidates) classes.insert(c.alignment);
  const std::vector<Choice> choices = decide(finalists, classes);

  std::vector<db::Winner> winners;
  for (const Choice& choice : choices) winners.push_back(winner_of(record, *passed[choice.chosen], choice));

  store.transaction([&] {
    for (const RaceRow& row : record.rows) store.put(row.measurement);
    for (std::size_t c = 0; c < choices.size(); ++c) {
      const Choice& choice = choices[c];
      put_object(store, record.family, record.device, *passed[choice.chosen]->candidate);
      db::Decision decision;
      decision.run = record.run.id;
      decision.problem = record.problem.id();
      decision.regime = record.regime;
      decision.alignment = choice.alignment;
      decision.chosen = finalists[choice.chosen].measurement;
      decision.incumbent = first(&Finalist::incumbent);
      decision.by_default = first(&Finalist::by_default);
      for (const std::size_t i : choice.tied) decision.tied.push_back(finalists[i].measurement);
      decision.tie_bound = choice.tie_bound;
      decision.decided_us = now_us();
      store.put(decision);
      winners[c].decision = decision.id;
    }
    for (const RaceRow* row : passed) {
      if (!row->candidate->by_default) continue;
      const Candidate& c = *row->candidate;
      put_object(store, record.family, record.device, c);
      store.put_default(db::CheckedDefault{record.family.name, record.problem.element_type,
                                           record.problem.layout, c.configuration, c.alignment, c.source_hash,
                                           c.compiled->build_key, record.run.device});
    }
  });
  return winners;
}

}  // namespace hone::tuner
