// A database that tests write themselves, of relu on this machine's CPU unless told, and the kernels it
// serves.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/store.hpp"
#include "hone/hone.hpp"
#include "runtime/plan.hpp"
#include "tests/runtime/family_folder.hpp"
#include "tests/runtime/gpu_stub.hpp"
#include "tests/runtime/host_rig.hpp"

namespace hone::test {

/// Compiled once for all tests: a host kernel takes a second.
inline std::vector<std::byte> host_object(const std::string& source, const std::string& entry) {
  static std::map<std::string, std::vector<std::byte>> objects;
  auto& object = objects[source];
  if (object.empty()) {
    static HostRig rig;
    object = rig.object(source, entry);
  }
  return object;
}

class TunedDatabase {
 public:
  explicit TunedDatabase(std::filesystem::path file,
                         Family family = parse_family(templates + "/relu/relu.toml"),
                         DeviceInfo device = host_device_info())
      : file_(std::move(file)),
        family_(std::move(family)),
        device_(std::move(device)),
        store_(db::Store::open(file_, db::Access::create)) {
    run_ = begin(device_.record());
    for (const Variant& variant : family_.variants)
      store_.put({family_.name, variant.name, variant.source_hash, family_.manifest, variant.source});
  }

  const std::filesystem::path& file() const { return file_; }
  const Family& family() const { return family_; }
  const DeviceInfo& device() const { return device_; }
  db::Store& store() { return store_; }

  db::Values parameters(const db::Values& changes = {}) const {
    db::Values values = family_.variants.front().defaults;
    for (const auto& [name, value] : changes) values[name] = value;
    return values;
  }

  struct Serve {
    std::string element_type = "f32";
    std::vector<std::pair<std::string, std::int64_t>> dimensions;
    db::Values changes = {};  ///< to the defaults
    std::int64_t alignment = 16;
    double median = 1000;
    db::Regime regime = db::Regime::steady;
    bool with_code = true;
  };

  /// A measurement in a race, with its code.
  db::Measurement measured(const Serve& what) {
    const db::Problem problem{family_.name, what.element_type, "", what.dimensions};
    const db::Configuration configuration{family_.name, family_.variants.front().name,
                                          parameters(what.changes)};
    store_.put(problem);
    store_.put(configuration);
    db::Measurement measurement;
    measurement.run = run_.id;
    measurement.problem = problem.id();
    measurement.configuration = configuration.id();
    measurement.source_hash = family_.variants.front().source_hash;
    measurement.regime = what.regime;
    measurement.stage = db::Stage::race;
    measurement.alignment = needs(what.element_type, what.changes);
    measurement.launches = 10;
    measurement.statistics = {3, what.median - 1, what.median - 1, what.median, what.median + 1};
    measurement.samples = {what.median - 1, what.median, what.median + 1};
    measurement.build_key = code(what.element_type, what.changes, what.with_code);
    measurement.taken_us = ++now_us_;
    store_.put(measurement);
    return measurement;
  }

  /// Decides that a configuration serves a problem.
  db::Id winner(const Serve& what) {
    const db::Measurement measurement = measured(what);
    db::Decision decision;
    decision.run = run_.id;
    decision.problem = measurement.problem;
    decision.regime = what.regime;
    decision.alignment = what.alignment;
    decision.chosen = measurement.id;
    decision.tied = {measurement.id};
    decision.decided_us = ++now_us_;
    store_.put(decision);
    store_.rebuild_derived();
    return measurement.id;
  }

  /// A finished sweep: at each extent, how long each configuration takes.
  struct Swept {
    std::string element_type = "f32";
    std::vector<db::Values> configurations;                            ///< changes to the defaults
    std::vector<std::pair<std::int64_t, std::vector<double>>> points;  ///< numel, medians
  };
  void sweep(const Swept& what) {
    Across across{what.element_type, what.configurations, {}};
    for (const auto& [numel, medians] : what.points)
      across.points.push_back({{{family_.dimensions.front().name, numel}}, medians});
    sweep(across);
  }

  /// The same across problems of several dimensions; a median of 0: it cannot run there.
  struct Across {
    std::string element_type = "f32";
    std::vector<db::Values> configurations;  ///< changes to the defaults
    std::vector<std::pair<std::vector<std::pair<std::string, std::int64_t>>, std::vector<double>>> points;
  };
  void sweep(const Across& what) {
    db::Sweep sweep;
    sweep.run = run_.id;
    sweep.family = family_.name;
    sweep.element_type = what.element_type;
    std::map<std::pair<std::int64_t, db::Id>, db::Id> points;  // by working set, then by problem
    for (const auto& [dimensions, medians] : what.points) {
      const db::Problem problem{family_.name, what.element_type, "", dimensions};
      db::SweepPoint point;
      point.run = run_.id;
      point.problem = problem.id();
      for (std::size_t i = 0; i < medians.size(); ++i)
        if (medians[i] > 0)
          point.measurements.push_back(measured({.element_type = what.element_type,
                                                 .dimensions = dimensions,
                                                 .changes = what.configurations[i],
                                                 .median = medians[i]})
                                           .id);
      point.working_set = working_set(evaluator_, family_, problem);
      store_.put(point);
      points[{point.working_set, point.problem}] = point.id;
    }
    for (const auto& [place, point] : points) sweep.points.push_back(point);
    sweep.swept_us = ++now_us_;
    store_.put(sweep);
  }

  /// Says that a configuration is the default, checked on a device: this one without `elsewhere`.
  void checked_default(const std::string& element_type, const db::Values& changes = {},
                       const std::optional<db::Device>& elsewhere = std::nullopt) {
    const db::Device on = elsewhere.value_or(device_.record());
    if (elsewhere) begin(on);
    const db::Configuration configuration{family_.name, family_.variants.front().name, parameters(changes)};
    store_.put(configuration);
    store_.put_default({family_.name, element_type, "", configuration, needs(element_type, changes),
                        family_.variants.front().source_hash, code(element_type, changes, true), on.id()});
  }

  db::Run begin(const db::Device& on) {
    db::Run run;
    run.device = store_.put(on);
    run.environment = store_.put(db::Environment{{{"compiler", "test"}}});
    run.command = "test";
    run.started_us = ++now_us_;
    store_.put(run);
    return run;
  }

 private:
  std::int64_t needs(const std::string& element_type, const db::Values& changes) {
    db::Values names = parameters(changes);
    names["element_size"] = static_cast<std::int64_t>(size_of(*parse_element_type(element_type)));
    return evaluator_.evaluate(family_.variants.front().alignment, names);
  }

  db::Id code(const std::string& element_type, const db::Values& changes, bool stored) {
    const Variant& variant = family_.variants.front();
    const std::string source =
        translation_unit(variant, parameters(changes), element_type, "", device_.backend);
    const db::Id key = db::KeyBuilder().add(source).id();
    if (stored)
      store_.put(
          db::CodeObject{key, device_.architecture, "test", variant.entry,
                         device_.backend == Backend::host ? host_object(source, variant.entry) : tiny_elf()});
    return key;
  }

  std::filesystem::path file_;
  Family family_;
  DeviceInfo device_;
  db::Store store_;
  db::Evaluator evaluator_;
  db::Run run_;
  std::int64_t now_us_ = 1'700'000'000'000'000;
};

inline OpenOptions on_host(const std::filesystem::path& file) {
  OpenOptions options;
  options.databases = {file.string()};
  options.device = "host";
  options.record_misses = false;
  return options;
}

}  // namespace hone::test
