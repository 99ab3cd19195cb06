// Records to fill a database with, and a folder of its own for each test.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace hone::db::testing {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone-db-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const std::string& name = "hone.db") const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline Id id_of(const std::string& text) {
  return KeyBuilder().add(text).id();
}

inline Device device(const std::string& name = "Test CPU") {
  return {"host", name, "x86-64-v3", 2, std::int64_t{8} << 30, 32 << 20, ""};
}

inline Environment environment() {
  return {{{"compiler", "g++ 12.2.0"}, {"kernel", "6.1 \"quoted\"\n"}}};
}

inline Template source(const std::string& variant, const std::string& text) {
  return {"relu", variant, id_of(text), "[family]\nname = 'relu'\n", text};
}

inline Problem problem(std::int64_t numel = 1024) {
  return {"relu", "f16", "", {{"numel", numel}}};
}

inline Configuration configuration(std::int64_t block = 256, const std::string& variant = "simt") {
  return {"relu", variant, {{"block", block}, {"load", std::string("cs")}}};
}

inline Run run(const Device& of = device(), std::int64_t started_us = 1'700'000'000'000'000) {
  Run run;
  run.started_us = started_us;
  run.device = of.id();
  run.environment = environment().id();
  run.command = "hone tune relu";
  run.hone_version = "0.1.0";
  run.seed = -5;
  run.settings = {{"search", "exhaustive"}, {"budget", "60s"}};
  return run;
}

inline Measurement measurement(const Run& of, const Problem& on, const Configuration& with,
                               const Id& source_hash, std::vector<double> samples = {10.5, 9.25, 11}) {
  Measurement m;
  m.run = of.id;
  m.problem = on.id();
  m.configuration = with.id();
  m.source_hash = source_hash;
  m.stage = Stage::race;
  m.alignment = 16;
  m.launches = 100;
  m.samples = samples;
  std::sort(samples.begin(), samples.end());
  if (!samples.empty()) {
    m.statistics = {static_cast<std::int64_t>(samples.size()), samples.front(), samples[samples.size() / 4],
                    samples[samples.size() / 2], samples[samples.size() * 3 / 4]};
  }
  m.condition.clock_mhz = 1980;
  m.build_key = id_of("build" + with.text());
  m.taken_us = of.started_us + 1000;
  return m;
}

inline Decision decision(const Measurement& chosen, std::int64_t decided_us) {
  Decision d;
  d.run = chosen.run;
  d.problem = chosen.problem;
  d.regime = chosen.regime;
  d.alignment = 16;
  d.chosen = chosen.id;
  d.tied = {chosen.id};
  d.tie_bound = 0.02;
  d.decided_us = decided_us;
  return d;
}

/// Puts what measurements of `of` point to.
inline void prepare(Store& store, const Run& of, const Device& on = device()) {
  store.put(on);
  store.put(environment());
  store.put(of);
}

/// A measurement and a decision for it, with all they need.
inline Measurement decide(Store& store, const Run& of, const Problem& on, const Configuration& with,
                          const Id& source_hash, std::int64_t decided_us) {
  store.put(on);
  store.put(with);
  const Measurement m = measurement(of, on, with, source_hash);
  store.put(m);
  store.put(decision(m, decided_us));
  return m;
}

/// A finished sweep over 1024 to 65536 elements, doubling: `narrow` (aligned to 4 bytes) is the fastest below
/// `crossing` elements, `wide` (to 16) from there on.
inline Sweep sweep(Store& store, const Run& of, const Configuration& narrow, const Configuration& wide,
                   const Id& narrow_hash, const Id& wide_hash, std::int64_t swept_us,
                   std::int64_t crossing = 8192) {
  Sweep sweep;
  sweep.run = of.id;
  sweep.family = "relu";
  sweep.element_type = "f16";
  sweep.resolution = 2;
  sweep.swept_us = swept_us;
  store.put(narrow);
  store.put(wide);
  for (std::int64_t numel = 1024; numel <= 65536; numel *= 2) {
    const Problem on = problem(numel);
    store.put(on);
    SweepPoint point;
    point.run = of.id;
    point.problem = on.id();
    point.working_set = 4 * numel;
    point.taken_us = swept_us;
    Measurement m = measurement(of, on, narrow, narrow_hash, {numel < crossing ? 100.0 : 110.0});
    m.alignment = 4;
    store.put(m);
    point.measurements.push_back(m.id);
    m = measurement(of, on, wide, wide_hash, {numel < crossing ? 110.0 : 101.0});
    store.put(m);
    point.measurements.push_back(m.id);
    m = measurement(of, on, configuration(8), wide_hash, {});
    m.outcome = Outcome::timed_out;
    store.put(configuration(8));
    store.put(m);
    point.measurements.push_back(m.id);
    store.put(point);
    sweep.points.push_back(point.id);
  }
  store.put(sweep);
  return sweep;
}

/// Several of everything. Deterministic but for the ids of its events.
inline void populate(Store& store) {
  store.transaction([&] {
    const Run first = run(), second = run(device("Other CPU"), first.started_us + 5'000'000);
    prepare(store, first);
    prepare(store, second, device("Other CPU"));
    const Template simt = source("simt", std::string(6000, 's') + "simt"),
                   buffer = source("buffer", "buffer");
    store.put(simt);
    store.put(buffer);
    for (std::int64_t i = 0; i < 40; ++i) {
      const Run& of = i % 4 == 3 ? second : first;
      Measurement m =
          decide(store, of, problem(1024 << i % 20), configuration(32 << i % 5), simt.source_hash, 100 + i);
      Measurement failed =
          measurement(of, problem(1024 << i % 20), configuration(32 << i % 5), simt.source_hash, {});
      failed.outcome = static_cast<Outcome>(1 + i % 11);
      failed.reason = "it failed";
      failed.build_key = {};
      failed.condition = {1980, 61, true, i};
      store.put(failed);
      store.put(CodeObject{m.build_key, "x86-64-v3", "g++ 12.2.0", "relu",
                           std::vector<std::byte>(5000, std::byte(i))});
      store.put_default({"relu", "f16", "", configuration(), 16, simt.source_hash, m.build_key, of.device});
    }
    for (const Run& of : {first, second})
      sweep(store, of, configuration(64), configuration(128), simt.source_hash, simt.source_hash, 500);
    store.put_peak({first.device, "memory", 40'000'000'000});
    store.finish(first.id, "done");
  });
}

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace hone::db::testing
