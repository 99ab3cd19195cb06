// A database with measurements that a test writes, and what `hone query` says of it.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "runtime/family.hpp"
#include "tests/db/sample_database.hpp"
#include "tests/tools/command.hpp"

namespace hone::test {

using Words = std::vector<std::string>;

/// A database with measurements of relu and copy on a device with 32 MiB of cache.
class Study {
 public:
  explicit Study(const std::string& device = "Test CPU")
      : device_(db::testing::device(device)),
        database_((folder_.path / "a.db").string()),
        store_(db::Store::open(database_, db::Access::create)) {
    for (const std::string family : {"relu", "copy"}) {
      families_.emplace(family, parse_family(manifest_of(family)));
      const Variant& simt = *families_.at(family).variant("simt");
      store_.put(db::Template{family, "simt", simt.source_hash, families_.at(family).manifest, simt.source});
    }
    run_ = db::testing::run(device_);
    db::testing::prepare(store_, run_, device_);
  }

  /// Goes on with another, newer run.
  void next_run() { next_run(device_); }
  void next_run(const db::Device& device) {
    device_ = device;
    run_ = db::testing::run(device_, run_.started_us + 1'000'000);
    db::testing::prepare(store_, run_, device_);
  }

  /// A measurement of the default configuration with `changes`, each sample of which took `nanoseconds`.
  db::Id add(const std::string& family, std::int64_t numel, const db::Values& changes, double nanoseconds,
             db::Stage stage = db::Stage::race, db::Outcome outcome = db::Outcome::ok) {
    const Variant& simt = *families_.at(family).variant("simt");
    const db::Problem problem{family, "f16", "", {{"numel", numel}}};
    db::Configuration configuration{family, "simt", simt.defaults};
    for (const auto& [name, value] : changes) configuration.parameters[name] = value;
    store_.put(problem);
    store_.put(configuration);
    db::Measurement m =
        db::testing::measurement(run_, problem, configuration, simt.source_hash, {nanoseconds, nanoseconds});
    m.stage = stage;
    m.outcome = outcome;
    m.taken_us = run_.started_us + ++taken_;
    store_.put(m);
    return m.id;
  }

  /// Makes the measurement its problem's winner.
  void win(const db::Id& measurement) {
    store_.put(db::testing::decision(*store_.measurement(measurement), run_.started_us + ++taken_));
    store_.rebuild_derived();
  }

  /// From now on the database's newest source of the family's variant is another one.
  void change_source(const std::string& family) {
    const Family& changed = families_.at(family);
    store_.put(db::Template{family, "simt", db::testing::id_of("changed"), changed.manifest, "changed"});
    store_.rebuild_derived();
  }

  db::Store& store() { return store_; }
  const db::Run& run() const { return run_; }
  const std::filesystem::path& folder() const { return folder_.path; }
  const std::string& database() const { return database_; }

  void add_sweep_point(std::int64_t numel, const db::Id& measurement) {
    db::SweepPoint point;
    point.run = run_.id;
    point.problem = db::Problem{"relu", "f16", "", {{"numel", numel}}}.id();
    point.working_set = 4 * numel;
    point.measurements = {measurement};
    store_.put(point);
  }

  Ended hone(Words words, const std::map<std::string, std::string>& variables = {}) const {
    words.insert(words.end(), {"--db", database_});
    return run_hone(words, folder_.path, variables);
  }

  /// The columns of a query as CSV.
  std::string csv(Words words, const std::string& columns) const {
    words.insert(words.begin(), "query");
    words.insert(words.end(), {"--format", "csv"});
    if (!columns.empty()) words.insert(words.end(), {"--columns", columns});
    const Ended ended = hone(words);
    INFO(ended.err);
    CHECK(ended.code == 0);
    return ended.out;
  }

 private:
  static std::filesystem::path manifest_of(const std::string& family) {
    return std::filesystem::path(HONE_SOURCE_DIR) / "kernel_templates" / family / (family + ".toml");
  }

  TemporaryFolder folder_;
  db::Device device_;
  std::string database_;
  db::Store store_;
  db::Run run_;
  std::map<std::string, Family> families_;
  std::int64_t taken_ = 0;
};

/// Tunes a problem of relu on the host a little, and gives the words that ask how it is answered.
inline Words explain_what_is_tuned(const TemporaryFolder& folder, const std::string& database) {
  const Ended tuned = run_hone({"tune", "relu", "--device", "host", "--dtype", "f32", "--shape",
                                "numel=65536", "--budget", "12", "--quiet", "--db", database},
                               folder.path);
  REQUIRE(tuned.code == 0);
  return {"explain", "relu",    "--device",    "host", "--dtype",
          "f32",     "--shape", "numel=65536", "--db", database};
}

}  // namespace hone::test
