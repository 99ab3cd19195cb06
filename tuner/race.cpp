#include "tuner/race.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "tuner/class_best.hpp"
#include "tuner/statistics.hpp"

namespace hone::tuner {

namespace {

struct Summary {
  double best = 0, median = 0, q3 = 0;
};

Summary summary(const std::vector<double>& samples) {
  const db::Statistics s = summarise(samples);
  return {s.minimum, s.median, s.q3};
}

/// The leader of each alignment class: of those that need at most so much, the one with the smallest median.
std::map<std::int64_t, Summary> leaders(const std::vector<Entrant*>& running) {
  std::map<std::int64_t, Summary> result;
  for (const Entrant* e : running) {
    const Summary s = summary(e->heats);
    auto [at, is_new] = result.try_emplace(e->alignment, s);
    if (!is_new && s.median < at->second.median) at->second = s;
  }
  const Summary* narrower = nullptr;
  for (auto& [alignment, leader] : result) {
    if (narrower != nullptr && narrower->median < leader.median) leader = *narrower;
    narrower = &leader;
  }
  return result;
}

/// `margin` multiplies the leader's third quartile.
bool hopeless(double best_sample, double leader_q3, double margin) {
  return best_sample > leader_q3 * margin;
}

std::uint32_t launches_for(double seconds, double nanoseconds_each, std::uint32_t most) {
  const double n = seconds * 1e9 / std::max(nanoseconds_each, 1.0);
  return static_cast<std::uint32_t>(std::clamp(n, 1.0, static_cast<double>(most)));
}

/// One interleaved round; false when stopped. Lost entrants leave `running`.
void take_round(std::vector<Entrant*>& running, std::vector<double> Entrant::*samples,
                std::mt19937_64& random, const std::function<std::uint32_t(const Entrant&)>& launches_of,
                std::uint32_t warm_ups, const Take& take, std::int64_t& launches_timed) {
  std::shuffle(running.begin(), running.end(), random);
  std::vector<std::uint32_t> slots, launches;
  for (const Entrant* e : running) {
    slots.push_back(e->slot);
    launches.push_back(launches_of(*e));
  }
  const std::vector<double> taken = take(slots, launches, warm_ups);
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (std::isnan(taken[i])) {
      running[i]->lost = true;
    } else {
      (running[i]->*samples).push_back(taken[i]);
      launches_timed += launches[i] + warm_ups;
    }
  }
  std::erase_if(running, [](const Entrant* e) { return e->lost; });
}

void keep_best_of_each_class(std::vector<Entrant*>& running, int finalists) {
  std::vector<Entrant*> ranked = running;
  std::sort(ranked.begin(), ranked.end(), [](const Entrant* a, const Entrant* b) {
    return summary(a->heats).median < summary(b->heats).median;
  });
  std::map<std::int64_t, int> places;  // by alignment class, those left
  std::int64_t widest = 0;
  for (const Entrant* e : ranked) widest = std::max(widest, e->alignment);
  for (const Entrant* e : ranked)
    places[e->alignment] = e->alignment == widest ? finalists : std::max(2, finalists / 3);
  std::erase_if(ranked, [&](const Entrant* e) {
    bool place = e->kept;
    for (auto& [alignment, left] : places)
      if (alignment >= e->alignment && left > 0) --left, place = true;
    return !place;
  });
  running = std::move(ranked);
}

/// Launches in each sample of a final among so many.
std::uint32_t final_launches(const RaceSettings& settings, std::size_t finalists, double look) {
  const double seconds =
      settings.final_seconds / settings.rounds / static_cast<double>(std::max<std::size_t>(finalists, 1));
  return launches_for(seconds, look, settings.launches);
}

/// Long kernels need fewer warm-ups for the same reason as they need fewer launches.
std::uint32_t final_warm_ups(const RaceSettings& settings, std::uint32_t launches) {
  return std::min(settings.warm_ups, std::max<std::uint32_t>(1, launches / 4));
}

}  // namespace

Field after_looks(std::span<const Looked> looked, const RaceSettings& settings) {
  ClassBest best;
  for (const Looked& l : looked) best.add(l.alignment, l.look.q3);
  Field field;
  for (const Looked& l : looked) {
    if (!l.kept && hopeless(l.look.minimum, best.of(l.alignment), 1 + settings.drift)) {
      field.out.push_back(l.slot);
      continue;
    }
    Entrant entrant;
    entrant.slot = l.slot;
    entrant.alignment = l.alignment;
    entrant.kept = l.kept;
    entrant.look = l.look.minimum;
    field.entrants.push_back(std::move(entrant));
  }
  return field;
}

std::int64_t full_protocol_launches(const RaceSettings& settings, double look_nanoseconds) {
  const std::uint32_t launches =
      final_launches(settings, static_cast<std::size_t>(settings.finalists), look_nanoseconds);
  return std::int64_t{settings.rounds} * (launches + final_warm_ups(settings, launches));
}

bool race(std::vector<Entrant>& entrants, const RaceSettings& settings, const Take& take,
          const std::function<bool()>& stop, std::int64_t& launches_timed) {
  std::mt19937_64 random(settings.seed);
  std::vector<Entrant*> running;
  for (Entrant& e : entrants) running.push_back(&e);

  const auto enough = [&] { return static_cast<int>(running.size()) <= settings.finalists; };
  const auto heat_launches = [&](const Entrant& e) {
    return launches_for(settings.heat_seconds, e.look, settings.launches);
  };
  for (int heat = 0; heat < settings.heats && !enough(); ++heat) {
    if (stop()) return false;
    take_round(running, &Entrant::heats, random, heat_launches, 0, take, launches_timed);
    if (heat == 0) continue;
    const auto leader = leaders(running);
    std::erase_if(running, [&](const Entrant* e) {
      return !e->kept && hopeless(summary(e->heats).best, leader.at(e->alignment).q3, 1);
    });
  }
  if (!enough()) keep_best_of_each_class(running, settings.finalists);

  const std::size_t finalists = running.size();
  std::uint32_t warm_ups = settings.warm_ups;
  for (Entrant* e : running) {
    const std::uint32_t launches = final_launches(settings, finalists, e->look);
    warm_ups = std::min(warm_ups, final_warm_ups(settings, launches));
    e->launches = launches;
  }
  for (int round = 0; round < settings.rounds; ++round) {
    if (stop()) return false;
    const auto launches = [](const Entrant& e) { return static_cast<std::uint32_t>(e.launches); };
    take_round(running, &Entrant::final, random, launches, warm_ups, take, launches_timed);
  }
  for (Entrant& e : entrants)
    if (e.lost) e.final.clear();
  return true;
}

}  // namespace hone::tuner
