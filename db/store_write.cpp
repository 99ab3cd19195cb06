#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <set>

#include "db/canonical.hpp"
#include "db/json.hpp"
#include "db/sources.hpp"
#include "db/store_state.hpp"
#include "db/swept.hpp"
#include "db/winners.hpp"

namespace hone::db {
namespace {

json::Members members(const std::map<std::string, std::string>& texts) {
  return {texts.begin(), texts.end()};
}

// A record that breaks a promise of the schema is the caller's fault, and is named as such.
[[noreturn]] void refuse(Database& database, const std::string& why) {
  throw Error(Error::Kind::internal, fmt::format("{}: refused to record {}", database.file().string(), why));
}

std::optional<Id> unless_zero(const Id& id) {
  return id == Id{} ? std::nullopt : std::optional(id);
}

Id put_text(Database& database, const std::string& content) {
  const Id id = text_id(content);
  (Row(tables::text) << id << content).insert(database.connection());
  return id;
}

void require_consistent(Database& database, const Measurement& m) {
  const Statistics& s = m.statistics;
  for (const double value : {s.minimum, s.q1, s.median, s.q3}) {
    if (!std::isfinite(value)) refuse(database, "a measurement whose statistics are not finite");
  }
  if (s.minimum < 0) refuse(database, "a measurement of a time below zero");
  if (!(s.minimum <= s.q1 && s.q1 <= s.median && s.median <= s.q3)) {
    refuse(database, "a measurement whose quartiles are out of order");
  }
  if (s.n != static_cast<std::int64_t>(m.samples.size())) {
    refuse(database, fmt::format("a measurement of {} samples that says it has {}", m.samples.size(), s.n));
  }
  double minimum = m.samples.empty() ? 0 : m.samples.front();
  for (const double sample : m.samples) {
    if (!std::isfinite(sample)) refuse(database, "a sample that is not finite");
    minimum = std::min(minimum, sample);
  }
  if (minimum != s.minimum) refuse(database, "a measurement whose minimum is not that of its samples");
}

// Runs: the device that a run's records belong to.
Id device_of(Database& database, const Id& run) {
  sqlite::Query query(database.connection(), "SELECT device FROM run WHERE id=?1");
  query->bind(1, run);
  if (!query->step()) refuse(database, fmt::format("what belongs to run {}, which is not there", run.hex()));
  return query->id(0);
}

void require_measured(Database& database, const Decision& d, const Id& device, const Id& measurement) {
  sqlite::Query query(database.connection(),
                      "SELECT 1 FROM measurement WHERE id=?1 AND device=?2 AND problem=?3 AND regime=?4");
  query->bind(1, measurement).bind(2, device).bind(3, d.problem).bind(4, name(d.regime));
  if (!query->step()) {
    refuse(database,
           fmt::format("a decision on measurement {}, which its device, problem and regime do not have",
                       measurement.hex()));
  }
}

}  // namespace

Id Store::put(const Device& device) {
  const Id id = device.id();
  (Row(tables::device) << id << device.backend << device.name << device.architecture << device.compute_units
                       << device.memory_bytes << device.last_level_cache_bytes << device.partition)
      .insert(state_->database.connection());
  return id;
}

Id Store::put(const Environment& environment) {
  const Id id = environment.id();
  (Row(tables::environment) << id << json::write(members(environment.items)))
      .insert(state_->database.connection());
  return id;
}

Id Store::put(const Problem& problem) {
  const Id id = problem.id();
  std::set<std::string_view> dimensions;
  for (const auto& [dimension, extent] : problem.dimensions) {
    if (!dimensions.insert(dimension).second) {
      refuse(state_->database, fmt::format("a problem with two dimensions `{}`", dimension));
    }
  }
  (Row(tables::problem) << id << problem.family << problem.element_type << problem.layout
                        << json::write({problem.dimensions.begin(), problem.dimensions.end()}))
      .insert(state_->database.connection());
  return id;
}

Id Store::put(const Configuration& configuration) {
  const Id id = configuration.id();
  (Row(tables::configuration) << id << configuration.family << configuration.variant
                              << json::write(
                                     {configuration.parameters.begin(), configuration.parameters.end()}))
      .insert(state_->database.connection());
  return id;
}

void Store::put(const Template& source) {
  Database& database = state_->database;
  database.write([&] {
    const Id manifest = put_text(database, source.manifest);
    const Id text = put_text(database, source.source);
    const Id id = KeyBuilder()
                      .add("template")
                      .add(source.family)
                      .add(source.variant)
                      .add(std::as_bytes(std::span(source.source_hash.bytes)))
                      .add(std::as_bytes(std::span(manifest.bytes)))
                      .add(std::as_bytes(std::span(text.bytes)))
                      .id();
    (Row(tables::template_) << id << source.family << source.variant << source.source_hash << manifest
                            << text)
        .insert(database.connection());
    const std::optional<Id> before = current_source(database, source.family, source.variant);
    std::int64_t now = now_us();
    {
      sqlite::Query newest(database.connection(),
                           "SELECT used_us,template FROM template_use WHERE family=?1 AND variant=?2 "
                           "ORDER BY used_us DESC, template DESC LIMIT 1");
      newest->bind(1, source.family).bind(2, source.variant);
      if (newest->step()) {
        if (newest->id(1) == id) return;
        now = std::max(now, newest->integer(0) + 1);  // the clock may have been set back
      }
    }
    (Row(tables::template_use) << source.family << source.variant << now << id).insert(database.connection());
    if (before == source.source_hash) return;
    winners::rebuild(database);
    swept::rebuild(database);
  });
}

void Store::put(const Run& run) {
  (Row(tables::run) << run.id << run.started_us << run.device << run.environment << run.command
                    << run.hone_version << run.seed << json::write(members(run.settings)))
      .insert(state_->database.connection());
}

void Store::put(const Measurement& m) {
  Database& database = state_->database;
  require_consistent(database, m);
  std::string samples;
  samples.reserve(8 * m.samples.size());
  for (const double sample : m.samples) canonical::append_word(samples, std::bit_cast<std::uint64_t>(sample));
  database.write([&] {
    (Row(tables::measurement) << m.id << m.run << device_of(database, m.run) << m.problem << m.configuration
                              << m.source_hash << name(m.regime) << name(m.stage) << name(m.outcome)
                              << m.reason << m.alignment << m.launches << m.statistics.n
                              << m.statistics.minimum << m.statistics.q1 << m.statistics.median
                              << m.statistics.q3 << m.condition.clock_mhz
                              << std::int64_t{m.condition.throttled} << unless_zero(m.build_key) << m.taken_us
                              << m.condition.temperature_c << m.condition.discarded
                              << std::as_bytes(std::span(samples)))
        .insert(database.connection());
  });
}

void Store::put(const Decision& d) {
  Database& database = state_->database;
  if (!std::isfinite(d.tie_bound)) refuse(database, "a decision whose tie bound is not finite");
  database.write([&] {
    const Id device = device_of(database, d.run);
    require_measured(database, d, device, d.chosen);
    if (d.incumbent) require_measured(database, d, device, *d.incumbent);
    if (d.by_default) require_measured(database, d, device, *d.by_default);
    for (const Id& tied : d.tied) require_measured(database, d, device, tied);
    {
      sqlite::Query chosen(database.connection(), "SELECT outcome,alignment FROM measurement WHERE id=?1");
      chosen->bind(1, d.chosen).step();
      if (chosen->text(0) != name(Outcome::ok)) {
        refuse(database, fmt::format("a decision for a measurement whose outcome is {}", chosen->text(0)));
      }
      if (d.alignment % chosen->integer(1) != 0) {
        refuse(database,
               fmt::format("a decision for pointers aligned to {} bytes that chose a configuration which "
                           "needs {}",
                           d.alignment, chosen->integer(1)));
      }
    }
    const bool added = (Row(tables::decision)
                        << d.id << d.run << device << d.problem << name(d.regime) << d.alignment << d.chosen
                        << d.incumbent << d.by_default << std::span<const std::byte>(concatenated(d.tied))
                        << d.tie_bound << d.decided_us)
                           .insert(database.connection());
    if (added) winners::refresh(database, {device, d.regime, d.problem, d.alignment});
  });
}

void Store::put(const SweepPoint& point) {
  Database& database = state_->database;
  database.write([&] {
    const Id device = device_of(database, point.run);
    std::set<Id> configurations;
    for (const Id& measurement : point.measurements) {
      sqlite::Query query(database.connection(),
                          "SELECT configuration FROM measurement WHERE id=?1 AND device=?2 AND problem=?3 "
                          "AND regime=?4 AND stage='race'");
      query->bind(1, measurement).bind(2, device).bind(3, point.problem).bind(4, name(point.regime));
      if (!query->step()) {
        refuse(database,
               fmt::format("a point of a sweep with measurement {}, which is of no race of its device, "
                           "problem and regime",
                           measurement.hex()));
      }
      if (!configurations.insert(query->id(0)).second)
        refuse(database, "a point of a sweep with two measurements of one configuration");
    }
    (Row(tables::sweep_point) << point.id << point.run << device << point.problem << name(point.regime)
                              << point.working_set
                              << std::span<const std::byte>(concatenated(point.measurements))
                              << point.taken_us)
        .insert(database.connection());
  });
}

void Store::put(const Sweep& sweep) {
  Database& database = state_->database;
  if (!std::isfinite(sweep.resolution)) refuse(database, "a sweep whose resolution is not finite");
  database.write([&] {
    const Id device = device_of(database, sweep.run);
    std::pair<std::int64_t, Id> before{-1, {}};
    for (const Id& point : sweep.points) {
      sqlite::Query query(
          database.connection(),
          "SELECT t.working_set,t.problem FROM sweep_point t JOIN problem p ON p.id=t.problem WHERE "
          "t.id=?1 AND t.device=?2 AND t.regime=?3 AND p.family=?4 AND p.element_type=?5 AND "
          "p.layout=?6");
      query->bind(1, point).bind(2, device).bind(3, name(sweep.regime)).bind(4, sweep.family);
      query->bind(5, sweep.element_type).bind(6, sweep.layout);
      const bool found = query->step();
      const std::pair at = found ? std::pair(query->integer(0), query->id(1)) : before;
      if (at <= before) {
        refuse(database, fmt::format("a sweep with point {}, which is not its next larger one", point.hex()));
      }
      before = at;
    }
    (Row(tables::sweep) << sweep.id << sweep.run << device << sweep.family << sweep.element_type
                        << sweep.layout << name(sweep.regime) << sweep.resolution
                        << std::span<const std::byte>(concatenated(sweep.points))
                        << std::span<const std::byte>(concatenated(sweep.refused)) << sweep.swept_us)
        .insert(database.connection());
    swept::rebuild(database);
  });
}

void Store::put(const CodeObject& object) {
  const Id hash =
      canonical::hash128({reinterpret_cast<const char*>(object.bytes.data()), object.bytes.size()});
  state_->database.write([&] {
    // Compilers need not give the same bytes twice; the first object of a build key stays.
    sqlite::Query known(state_->database.connection(), "SELECT 1 FROM code_object WHERE build_key=?1");
    if (known->bind(1, object.build_key).step()) return;
    (Row(tables::code_object) << object.build_key << object.architecture << object.compiler << object.entry
                              << hash << std::span<const std::byte>(object.bytes))
        .insert(state_->database.connection());
  });
}

void Store::put_default(const CheckedDefault& checked) {
  Database& database = state_->database;
  const Id configuration = put(checked.configuration);
  database.write([&] {
    std::int64_t now = now_us();
    {
      sqlite::Query newest(
          database.connection(),
          "SELECT checked_us,configuration,needs_alignment,source_hash,build_key FROM checked_default "
          "WHERE device=?1 AND family=?2 AND element_type=?3 AND layout=?4 "
          "ORDER BY checked_us DESC LIMIT 1");
      newest->bind(1, checked.device)
          .bind(2, checked.family)
          .bind(3, checked.element_type)
          .bind(4, checked.layout);
      if (newest->step()) {
        if (newest->id(1) == configuration && newest->integer(2) == checked.needs_alignment &&
            newest->id(3) == checked.source_hash &&
            newest->optional_id(4) == unless_zero(checked.build_key)) {
          return;
        }
        now = std::max(now, newest->integer(0) + 1);
      }
    }
    (Row(tables::checked_default) << checked.device << checked.family << checked.element_type
                                  << checked.layout << now << configuration << checked.needs_alignment
                                  << checked.source_hash << unless_zero(checked.build_key))
        .insert(database.connection());
  });
}

void Store::put_peak(const Peak& peak) {
  Database& database = state_->database;
  if (peak.per_second <= 0) refuse(database, "a peak that is not above zero");
  database.write([&] {
    std::int64_t now = now_us();
    {
      sqlite::Query newest(database.connection(),
                           "SELECT max(given_us) FROM peak WHERE device=?1 AND kind=?2");
      newest->bind(1, peak.device).bind(2, peak.kind);
      if (newest->step() && newest->type(0) != SQLITE_NULL) now = std::max(now, newest->integer(0) + 1);
    }
    (Row(tables::peak) << peak.device << peak.kind << now << peak.per_second).insert(database.connection());
  });
}

void Store::finish(const Id& run, const std::string& how) {
  Database& database = state_->database;
  database.write([&] {
    device_of(database, run);  // refuses an unknown run
    std::int64_t now = now_us();
    {
      sqlite::Query newest(database.connection(), "SELECT max(ended_us) FROM run_end WHERE run=?1");
      newest->bind(1, run);
      if (newest->step() && newest->type(0) != SQLITE_NULL) now = std::max(now, newest->integer(0) + 1);
    }
    (Row(tables::run_end) << run << now << how).insert(database.connection());
  });
}

void Store::rebuild_derived() {
  state_->database.write([&] {
    winners::rebuild(state_->database);
    swept::rebuild(state_->database);
  });
}

}  // namespace hone::db
