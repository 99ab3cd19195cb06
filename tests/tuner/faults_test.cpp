// Every planted fault of the families in tests/templates costs its own configuration, with its own outcome,
// and nothing else.
#include <catch2/catch.hpp>
#include <filesystem>

#include "db/store.hpp"
#include "tuner/tune.hpp"
#include "tuner/verify.hpp"

using namespace hone;
using namespace hone::tuner;

namespace {

struct TemporaryFolder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("hone-test-" + db::Id::random().hex());
  TemporaryFolder() { std::filesystem::create_directories(path); }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

TuneSettings faulty_on(const std::string& device, const std::filesystem::path& database) {
  TuneSettings settings;
  settings.family = "faulty";
  settings.folders = template_folders({HONE_SOURCE_DIR "/tests/templates"});
  settings.trust = true;
  settings.device = device;
  settings.shapes = {{{"n", 100003}}};
  settings.database = database;
  settings.command = "hone tune faulty";
  settings.limits.worker = HONE_BINARY_DIR "/bin/hone";
  settings.limits.measure_seconds = 3;
  return settings;
}

/// The newest outcome of each value of `fault`.
std::map<std::string, db::Outcome> outcomes_by_fault(const std::filesystem::path& database) {
  std::map<std::string, db::Outcome> result;
  db::Store store = db::Store::open(database, db::Access::read_only);
  for (const db::MeasuredRow& row : store.measurements({})) {
    const std::string fault = db::to_string(row.configuration.parameters.at("fault"));
    if ((fault == "none" || fault.starts_with("too_many_")) &&
        row.measurement.outcome == db::Outcome::raced_out)
      continue;
    result[fault] = row.measurement.outcome;
    if (row.measurement.outcome != db::Outcome::ok) CHECK_FALSE(row.measurement.reason.empty());
  }
  return result;
}

/// `overlaps`: launches on the device can start before the kernel before them is done.
void check_faults(const std::string& device, bool overlaps) {
  const TemporaryFolder folder;
  const auto database = folder.path / "faulty.db";
  const std::atomic<bool> stop = false;
  Silent silent;
  const TuneSummary summary = tune(faulty_on(device, database), silent, stop);
  REQUIRE(summary.problems.size() == 1);
  CHECK(summary.problems[0].failure.empty());
  REQUIRE(summary.problems[0].winners.size() == 1);
  CHECK(db::to_string(summary.problems[0].winners[0].configuration.parameters.at("fault")) == "none");
  CHECK(summary.problems[0].tried == (overlaps ? 17 : 16));

  const auto outcomes = outcomes_by_fault(database);
  std::map<std::string, db::Outcome> expected{
      {"none", db::Outcome::ok},
      {"compile_error", db::Outcome::compile_failed},
      {"illegal_address", db::Outcome::crashed},
      {"endless", db::Outcome::timed_out},
      {"past_end", db::Outcome::wrote_outside},
      {"short_tail", db::Outcome::wrong_result},
      {"input_modified", db::Outcome::input_changed},
      {"over_launch", db::Outcome::over_launched},
      {"race", db::Outcome::wrong_result},
      {"unwritten", db::Outcome::wrong_result},
      {"too_many_threads", db::Outcome::resources_exceeded},
      {"too_much_shared", db::Outcome::resources_exceeded},
      // The host runs lanes one after the other: what the device allows every kernel can have.
      {"too_many_for_kernel", device == "host" ? db::Outcome::ok : db::Outcome::resources_exceeded},
      {"too_many_registers", device == "host" ? db::Outcome::ok : db::Outcome::resources_exceeded},
  };
  if (overlaps) expected.emplace("no_wait", db::Outcome::wrong_result);
  for (const auto& [fault, outcome] : expected) {
    INFO(fault);
    REQUIRE(outcomes.contains(fault));
    CHECK(std::string(db::name(outcomes.at(fault))) == db::name(outcome));
  }
}

/// What becomes of each fault of tests/templates/strided.
void check_marks(const std::string& device) {
  const std::string element_type = GENERATE("f32", "f16");
  const TemporaryFolder folder;
  TuneSettings settings = faulty_on(device, folder.path / "strided.db");
  settings.family = "strided";
  settings.element_types = {element_type};
  settings.shapes = {{{"rows", 1000}, {"columns", 64}, {"ldy", 70}}};
  settings.command = "hone tune strided";
  const std::atomic<bool> stop = false;
  Silent silent;
  const TuneSummary summary = tune(settings, silent, stop);
  REQUIRE(summary.problems.size() == 1);
  REQUIRE(summary.problems[0].winners.size() == 1);
  const auto outcomes = outcomes_by_fault(settings.database);
  const std::map<std::string, db::Outcome> expected{{"none", db::Outcome::ok},
                                                    {"into_gap", db::Outcome::wrote_outside},
                                                    {"left_out_row_unwritten", db::Outcome::wrong_result},
                                                    {"left_out_row_nan", db::Outcome::wrong_result},
                                                    {"other_row_wrong", db::Outcome::wrong_result}};
  REQUIRE(outcomes.size() == expected.size());
  for (const auto& [fault, outcome] : expected) {
    INFO(element_type << " " << fault);
    CHECK(std::string(db::name(outcomes.at(fault))) == db::name(outcome));
  }
}

/// What becomes of each fault of tests/templates/lent.
void check_workspaces(const std::string& device) {
  const TemporaryFolder folder;
  TuneSettings settings = faulty_on(device, folder.path / "lent.db");
  settings.family = "lent";
  settings.command = "hone tune lent";
  const std::atomic<bool> stop = false;
  Silent silent;
  const TuneSummary summary = tune(settings, silent, stop);
  REQUIRE(summary.problems.size() == 1);
  REQUIRE(summary.problems[0].winners.size() == 1);
  CHECK(db::to_string(summary.problems[0].winners[0].configuration.parameters.at("fault")) == "none");
  const auto outcomes = outcomes_by_fault(settings.database);
  const std::map<std::string, db::Outcome> expected{{"none", db::Outcome::ok},
                                                    {"counter_left", db::Outcome::wrong_result},
                                                    {"past_end", db::Outcome::wrote_outside},
                                                    {"before_start", db::Outcome::wrote_outside},
                                                    {"past_small", db::Outcome::wrote_outside},
                                                    {"rest_trusted", db::Outcome::wrong_result}};
  REQUIRE(outcomes.size() == expected.size());
  for (const auto& [fault, outcome] : expected) {
    INFO(fault);
    CHECK(std::string(db::name(outcomes.at(fault))) == db::name(outcome));
  }
  db::Store store = db::Store::open(settings.database, db::Access::read_only);
  for (const db::MeasuredRow& row : store.measurements({})) {
    const std::string fault = db::to_string(row.configuration.parameters.at("fault"));
    INFO(fault << ": " << row.measurement.reason);
    const auto told = [&](const char* what) {
      return row.measurement.reason.find(what) != std::string::npos;
    };
    if (fault == "counter_left")
      CHECK(told("of the workspace's first 16384 are not zero after the launch, the first at 0"));
    if (fault == "past_end" || fault == "past_small") CHECK(told("changed after the workspace"));
    if (fault == "before_start") CHECK(told("changed before the workspace"));
  }
}

}  // namespace

TEST_CASE("what a kernel does to a workspace that it must not is found on the host", "[faults]") {
  check_workspaces("host");
}

TEST_CASE("what a kernel does to a workspace that it must not is found on a GPU", "[gpu]") {
  if (list_devices().devices.front().backend == Backend::host) {
    WARN("skipped: no GPU here");
    return;
  }
  check_workspaces("0");
}

TEST_CASE("what a reference leaves alone is checked as it says on the host", "[faults]") {
  check_marks("host");
}

TEST_CASE("each planted fault ends as its own outcome on the host", "[faults]") {
  check_faults("host", false);
}

TEST_CASE("each planted fault ends as its own outcome on a GPU", "[gpu]") {
  const DeviceList list = list_devices();
  if (list.devices.front().backend == Backend::host) {
    WARN("skipped: no GPU here");
    return;
  }
  check_faults("0", std::get<std::int64_t>(list.devices.front().names().at("capability")) >= 90);
}

TEST_CASE("what a reference leaves alone is checked as it says on a GPU", "[gpu]") {
  if (list_devices().devices.front().backend == Backend::host) {
    WARN("skipped: no GPU here");
    return;
  }
  check_marks("0");
}
