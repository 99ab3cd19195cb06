// hone db export and import: the command around them, T4, and other tuners' caches.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "db/schema.hpp"
#include "tests/tools/study.hpp"
#include "tuner/kernel_tuner_cache.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;
using Json = nlohmann::json;

const std::string sample = HONE_SOURCE_DIR "/tests/data/convolution_A100.json";

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

TEST_CASE("an export is imported again by the command, and says how much it was") {
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return (folder.path / name).string(); };
  {
    db::Store store = db::Store::open(path("a.db"), db::Access::create);
    db::testing::populate(store);
  }
  for (const std::string text : {"a.jsonl", "a.csv"}) {
    const std::string copy = path((text + ".db").c_str());
    const Ended out = run_hone({"db", "export", path(text.c_str()), "--db", path("a.db")}, folder.path);
    INFO(out.err);
    CHECK(out.code == 0);
    CHECK_THAT(out.out, Contains(" records"));
    const Ended in = run_hone({"db", "import", path(text.c_str()), "--db", copy}, folder.path);
    INFO(in.err);
    CHECK(in.code == 0);
    CHECK_THAT(in.out, Contains("records read"));
    const auto winners = [&](const std::string& database) {
      return run_hone({"query", "winners", "--format", "csv", "--db", database}, folder.path).out;
    };
    CHECK(winners(copy) == winners(path("a.db")));
    CHECK(run_hone({"db", "check", copy}, folder.path).code == 0);
  }
  const auto refused = [&](const Words& words, int code, const std::string& told) {
    const Ended ended = run_hone(words, folder.path);
    CHECK(ended.code == code);
    CHECK_THAT(ended.notes(), Contains(told));
    CHECK(ended.error_lines() == 1);
  };
  refused({"db", "export", path("a.jsonl"), "--db", path("a.db")}, 2, "exists already");
  refused({"db", "export", path("b"), "--db", path("a.db")}, 2, "csv, t4 or t1");
  refused({"db", "export", path("b"), "--as", "xml", "--db", path("a.db")}, 2, "xml");
  refused({"db", "export", path("b.jsonl"), "--family", "relu", "--db", path("a.db")}, 2, "--family");
  refused({"db", "export", path("b.jsonl"), "--db", path("none.db")}, 3, "none.db");
  refused({"db", "import", path("none.jsonl"), "--db", path("c.db")}, 2, "none.jsonl: cannot be read");
  write(path("bad.jsonl"),
        fmt::format("{{\"format\":\"hone/records\",\"version\":1,\"schema\":{}}}\n{{\"table\":\"device\"}}\n",
                    db::schema::steps().back().version));
  refused({"db", "import", path("bad.jsonl"), "--db", path("c.db")}, 2, "bad.jsonl:2: device.id: is missing");
  refused({"db", "import", path("bad.jsonl"), "--dtype", "f32", "--db", path("c.db")}, 2, "--dtype");
  CHECK_FALSE(std::filesystem::exists(path("c.db")));
}

/// Whether a value has one of the types, as JSON Schema calls them.
bool is_of(const Json& value, const std::string& types) {
  const std::string type = value.is_number() ? "number" : value.type_name();
  return (" " + types + " ").find(" " + type + " ") != std::string::npos;
}

TEST_CASE(
    "results as T4 are as its schema asks, with device and shape, and failures have a kind and no time") {
  const Json schema = Json::parse(read_file(HONE_SOURCE_DIR "/tests/data/t4_results.json"));
  Study study;
  study.add("relu", 1 << 20, {}, 2000);
  study.add("relu", 1 << 20, {{"store", "nt"}}, 1000);
  const auto& outcomes = schema.at("invalidity");
  const std::vector<db::Outcome> failures{db::Outcome::compile_failed, db::Outcome::timed_out,
                                          db::Outcome::wrong_result,   db::Outcome::crashed,
                                          db::Outcome::pruned,         db::Outcome::resources_exceeded};
  for (const db::Outcome outcome : failures)
    study.add("relu", 1 << 21, {}, 1000, db::Stage::first_look, outcome);
  study.add("copy", 1 << 20, {}, 2000);
  const TemporaryFolder folder;
  const std::string file = (folder.path / "relu.json").string();
  const Ended ended = study.hone({"db", "export", file, "--as", "t4", "--family", "relu"});
  INFO(ended.err);
  REQUIRE(ended.code == 0);
  CHECK_THAT(ended.out, Contains("8 results"));
  const Json document = Json::parse(read_file(file));
  for (const auto& [key, types] : schema.at("document").items()) CHECK(is_of(document.at(key), types));
  CHECK(document.at("schema_version") == "1.0.0");
  REQUIRE(document.at("results").size() == 8);
  std::map<std::string, int> kinds;
  for (const Json& result : document.at("results")) {
    INFO(result.dump());
    for (const Json& key : schema.at("required")) CHECK(result.contains(key.get<std::string>()));
    for (const auto& [key, types] : schema.at("result").items())
      if (result.contains(key)) CHECK(is_of(result.at(key), types));
    for (const auto& [key, value] : result.at("times").items())
      CHECK(is_of(value, schema.at("times").at(key).get<std::string>()));
    for (const Json& measurement : result.at("measurements"))
      for (const auto& [key, types] : schema.at("measurement").items())
        CHECK(is_of(measurement.at(key), types.get<std::string>()));
    CHECK(std::find(outcomes.begin(), outcomes.end(), result.at("invalidity")) != outcomes.end());
    ++kinds[result.at("invalidity").get<std::string>()];
    CHECK(result.at("device").at("name") == db::testing::device().name);
    CHECK(result.at("problem").at("shape").at("numel").get<int>() >= 1 << 20);
    const bool failed = result.at("correctness") == 0;
    CHECK(failed == (result.at("invalidity") != "correct"));
    if (failed) {
      CHECK(result.at("times").at("runtimes").empty());
      CHECK(result.at("measurements").empty());
    }
  }
  CHECK(kinds == std::map<std::string, int>{{"correct", 2},
                                            {"compile", 1},
                                            {"timeout", 1},
                                            {"correctness", 1},
                                            {"runtime", 1},
                                            {"constraints", 2}});
  const Json& first = document.at("results").at(0);
  CHECK(first.at("times").at("runtimes") == Json::array({0.002, 0.002}));
  CHECK(first.at("measurements").at(0) == Json({{"name", "time"}, {"value", 2000}, {"unit", "ns"}}));
  CHECK(study
            .hone({"db", "export", (folder.path / "none.json").string(), "--as", "t4", "--family", "relu",
                   "--shape", "numel=3"})
            .code == 1);
}

TEST_CASE("a cache of Kernel Tuner becomes a family that can be queried, with failures by their kind") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const auto hone = [&](Words words) {
    words.insert(words.end(), {"--db", database});
    return run_hone(words, folder.path);
  };
  const Words import{"db",      "import", sample,          "--as", "kernel-tuner",
                     "--dtype", "f32",    "--working-set", "134M"};
  const Ended first = hone(import);
  INFO(first.err);
  REQUIRE(first.code == 0);
  CHECK_THAT(first.out, Contains("convolution_kernel on NVIDIA A100-PCIE-40GB: 29 configurations, 5 failed"));
  CHECK_THAT(hone(import).out, Contains("all there already"));
  CHECK(hone({"db", "check"}).code == 0);

  const Ended failures = hone({"query", "failures", "convolution_kernel", "--format", "csv", "--columns",
                               "device,backend,shape,outcome,reason"});
  INFO(failures.err);
  CHECK(std::count(failures.out.begin(), failures.out.end(), '\n') == 6);
  CHECK_THAT(failures.out,
             Contains("NVIDIA A100-PCIE-40GB,external,\"size_x=4096,size_y=4096\",launch_failed,"
                      "RuntimeFailedConfig") &&
                 Contains("compile_failed,CompilationFailedConfig"));
  const Ended pivot = hone({"query", "pivot", "convolution_kernel", "--rows", "block_size_x", "--cols",
                            "tile_size_x", "--format", "csv"});
  INFO(pivot.err);
  CHECK(pivot.code == 0);
  CHECK_THAT(pivot.out, Contains("first_look"));
  // The medians of what the cache holds.
  const tuner::KernelTunerCache cache(sample);
  CHECK(cache.evaluations().size() == 29);
  CHECK(cache.problem_size() == std::vector<std::int64_t>{4096, 4096});
  db::Store store = db::Store::open(database, db::Access::read_only);
  CHECK(store.winners({}).empty());
  std::size_t timed = 0;
  for (const db::MeasuredRow& row : store.measurements({})) {
    const db::Measurement& m = row.measurement;
    CHECK(m.statistics.median < 1e9);
    if (db::is_failure(m.outcome)) {
      CHECK(m.statistics.n == 0);
      continue;
    }
    ++timed;
    CHECK(m.statistics.n == 5);
    CHECK(m.taken_us > 1'700'000'000'000'000);
  }
  CHECK(timed == 24);
}

TEST_CASE("a cache that is not valid is refused by file, entry and key") {
  const TemporaryFolder folder;
  const std::string text = read_file(sample);
  const auto file = folder.path / "cache.json";
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& told) {
    INFO(from << " -> " << to);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    write(file, text.substr(0, at) + to + text.substr(at + from.size()));
    const Ended ended = run_hone({"db", "import", file.string(), "--as", "kernel-tuner", "--dtype", "f32",
                                  "--db", (folder.path / "a.db").string()},
                                 folder.path);
    CHECK(ended.code == 2);
    CHECK(ended.error_lines() == 1);
    CHECK_THAT(ended.notes(), Contains("cache.json: ") && Contains(told));
  };
  refused("\"device_name\"", "\"device\"", "device_name: is missing");
  refused("\"convolution_kernel\"", "[]", "kernel_name: is not a text");
  refused("4096", "-4096", "problem_size");
  refused("\"tune_params\"", "\"params\"", "tune_params: is missing");
  refused("\"time\": ", "\"time\": null, \"t\": ", "`time` is neither");
  refused("\"time\": ", "\"time\": -1, \"t\": ", "`time` is not above zero");
  refused("\"RuntimeFailedConfig\"", "\"SomethingElse\"", "which is no kind of failure");
  refused("\"times\": [", "\"times\": [1e20, ", "`times` has what is no time");
  refused("\"cache\": {", "\"cache\": {\"x\": 7, ", "cache.x: is not an object");
  refused("\"cache\": {", "\"cache\": [{", "is not JSON");

  // What older versions wrote for a failure is one.
  const std::size_t at = text.find("\"time\": ");
  write(file, text.substr(0, at) + "\"time\": 1e20, \"t\": " + text.substr(at + 8));
  const tuner::KernelTunerCache old(file);
  CHECK(std::count_if(old.evaluations().begin(), old.evaluations().end(), [](const auto& each) {
          return each.outcome == db::Outcome::launch_failed && !each.nanoseconds;
        }) == 4);
  // One that is still being written is read as far as it goes.
  const std::size_t end = text.rfind("},") + 2;
  write(file, text.substr(0, end));
  CHECK(tuner::KernelTunerCache(file).evaluations().size() == 28);
}

}  // namespace
}  // namespace hone::test
