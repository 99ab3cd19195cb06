#include "bench/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tuner/statistics.hpp"

namespace hone::bench {

Fleet::Fleet(FleetPlan plan, std::uint64_t seed) : plan_(std::move(plan)), random_(seed) {
  for (const std::string& name : plan_.families) {
    const Family family = find_family(name, template_folders({}));
    const Variant& variant = family.variants.front();
    Tuned tuned{{name, variant.name, variant.source_hash, family.manifest, variant.source}, {}};
    std::mt19937_64 same(7);  // the same configurations in every database
    for (std::int64_t i = 0; i < plan_.configurations; ++i) {
      db::Configuration configuration{name, variant.name, {}};
      for (const db::Parameter& parameter : variant.parameters)
        configuration.parameters[parameter.name] = parameter.values[same() % parameter.values.size()];
      tuned.configurations.push_back(std::move(configuration));
    }
    families_.push_back(std::move(tuned));
  }
}

db::Device Fleet::device(std::int64_t number) {
  return {"cuda", fmt::format("NVIDIA H200 #{}", number), "sm_90a",
          132,    (std::int64_t{141} << 30) + number,     60 << 20,
          ""};
}

std::int64_t Fleet::measurements_of_device() const {
  return static_cast<std::int64_t>(plan_.families.size() * plan_.element_types.size() *
                                   plan_.regimes.size()) *
         plan_.problems * plan_.configurations;
}

std::int64_t Fleet::tune(db::Store& store, const db::Device& on) {
  std::int64_t count = 0;
  for (const Tuned& family : families_) count += tune(store, on, family);
  return count;
}

db::Measurement Fleet::measured(const Tuned& family, std::size_t configuration) {
  db::Measurement m;
  m.configuration = family.configurations[configuration].id();
  m.source_hash = family.source.source_hash;
  m.alignment = std::int64_t{1} << (1 + configuration % 4);
  m.condition = {1980, 60, false, 0};
  m.build_key = db::KeyBuilder().add(m.configuration.hex()).id();
  m.taken_us = clock_us_ += 2600;
  const std::uint64_t dice = random_() % 1000;
  std::size_t n = 3;
  if (dice == 0) {
    m.outcome = db::Outcome::launch_failed;
    m.reason = "the driver refused the launch";
    return m;
  }
  if (dice < 270) {
    m.stage = db::Stage::race;
    n = dice < 170 ? 15 : 2;
    m.outcome = dice < 170 ? db::Outcome::ok : db::Outcome::raced_out;
  }
  m.launches = 100;
  const double base = 5000 + static_cast<double>(random_() % 100'000) / 7;
  for (std::size_t i = 0; i < n; ++i) m.samples.push_back(base + static_cast<double>(random_() % 1000) / 9);
  m.statistics = tuner::summarise(m.samples);
  return m;
}

std::int64_t Fleet::tune(db::Store& store, const db::Device& on, const Tuned& family) {
  std::int64_t count = 0;
  store.transaction([&] {
    db::Run run;
    run.started_us = clock_us_;
    run.device = store.put(on);
    run.environment = store.put(db::Environment{{{"driver", "580.159.04"}, {"compiler", "NVRTC 13.0"}}});
    run.command = fmt::format("hone tune {} --sweep 1MiB:1GiB", family.source.family);
    run.hone_version = "0.1.0";
    store.put(run);
    store.put(family.source);
    for (const db::Configuration& configuration : family.configurations) store.put(configuration);
    for (const std::string& type : plan_.element_types) {
      for (std::int64_t p = 0; p < plan_.problems; ++p) {
        const db::Problem problem{
            family.source.family, type, "", {{"numel", (std::int64_t{1} << 20) * (p + 1)}}};
        store.put(problem);
        for (const db::Regime regime : plan_.regimes) {
          std::optional<db::Measurement> best;
          for (std::size_t c = 0; c < family.configurations.size(); ++c, ++count) {
            db::Measurement m = measured(family, c);
            m.run = run.id;
            m.problem = problem.id();
            m.regime = regime;
            store.put(m);
            const bool finalist = m.stage == db::Stage::race && m.outcome == db::Outcome::ok;
            if (finalist && (!best || m.statistics.median < best->statistics.median)) best = std::move(m);
          }
          if (!best) continue;
          for (const std::int64_t times : {1, 2, 4}) {
            db::Decision decision;
            decision.run = run.id;
            decision.problem = best->problem;
            decision.regime = regime;
            decision.alignment = best->alignment * times;
            decision.chosen = best->id;
            decision.tied = {best->id};
            decision.tie_bound = 0.02;
            decision.decided_us = clock_us_;
            store.put(decision);
          }
        }
      }
    }
    store.finish(run.id, "done");
  });
  return count;
}

}  // namespace hone::bench
