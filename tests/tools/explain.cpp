// What hone explain says of an answer, for programs, and of what is stale.
#include <nlohmann/json.hpp>

#include "runtime/host_device.hpp"
#include "tests/tools/study.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

json rows_of(Words call, const TemporaryFolder& folder,
             const std::map<std::string, std::string>& variables = {}) {
  call.insert(call.end(), {"--format", "json"});
  const Ended ended = run_hone(call, folder.path, variables);
  INFO(ended.out << ended.err);
  return json::parse(ended.out).at("rows");
}

TEST_CASE("an explanation has the record behind the answer for programs, too") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  Words call = explain_what_is_tuned(folder, database);
  const json exact = rows_of(call, folder).at(0);
  const json run = rows_of({"query", "runs", "--db", database}, folder).at(0);
  const json winner = rows_of({"query", "winners", "--db", database}, folder).back();
  for (const char* key : {"median_ns", "spread", "n", "minimum_ns", "q1_ns", "q3_ns", "measurement", "run"})
    CHECK(exact.at(key) == winner.at(key));
  CHECK(exact.at("run") == run.at("run"));
  CHECK(exact.at("command") == run.at("command"));
  CHECK(exact.at("taken_us") >= run.at("started_us"));
  CHECK(exact.at("stale") == json::array());
  CHECK(exact.at("to_be_exact").is_null());
  const json& rival = exact.at("rivals").at(0);
  CHECK(rival.at("behind").get<double>() ==
        Approx(rival.at("median_ns").get<double>() / exact.at("median_ns").get<double>() - 1));
  CHECK(rival.at("measurement").get<std::string>().size() == 32);

  call[7] = "numel=70000";
  const json nearest = rows_of(call, folder);
  CHECK(nearest.back().at("rung") == "nearest");
  CHECK(nearest.back().at("measurement") == exact.at("measurement"));
  for (const json& row : nearest)
    CHECK(row.at("to_be_exact") ==
          "hone tune relu --dtype f32 --shape numel=70000 --device host --db " + database);
}

TEST_CASE("explanations and the list of what is stale agree on whether it serves") {
  const TemporaryFolder folder;
  const auto mine = folder.path / "mine", own = folder.path / "hone" / "kernel_templates";
  const auto copy_to = [](const std::filesystem::path& to, bool changed) {
    std::filesystem::create_directories(to);
    std::filesystem::copy(HONE_SOURCE_DIR "/tests/templates/saxpy", to / "saxpy",
                          std::filesystem::copy_options::recursive);
    if (!changed) return;
    const auto source = to / "saxpy" / "saxpy.cpp";
    write_file(source, read_file(source) + "// changed\n");
  };
  copy_to(mine, false);
  const std::string database = (folder.path / "a.db").string();
  const Words call{"explain", "saxpy",   "--device", "host", "--dtype",
                   "f32",     "--shape", "n=4096",   "--db", database};
  const Words stale{"query", "stale", "saxpy", "--db", database};
  const Ended tuned = run_hone({"tune", "saxpy", "--device", "host", "--dtype", "f32", "--shape", "n=4096",
                                "--budget", "2", "--templates", mine.string(), "--trust", "--db", database},
                               folder.path);
  INFO(tuned.err);
  REQUIRE(tuned.code == 0);
  CHECK(rows_of(call, folder).back().at("stale") == json::array());

  // A folder that only the tuner takes families from: applications serve what the database has.
  copy_to(own, true);
  const json served = rows_of(call, folder).back();
  const json listed = rows_of(stale, folder).back();
  CHECK(served.at("rung") == "exact");
  REQUIRE(served.at("stale").size() == 1);
  for (const char* key : {"changed", "before", "now", "serves"})
    CHECK(served.at("stale").at(0).at(key) == listed.at(key));
  CHECK(listed.at("serves") == true);
  const Ended people = run_hone(call, folder.path);
  CHECK_THAT(people.out,
             Contains("changed since:  source, from " + listed.at("before").get<std::string>().substr(0, 8)));

  // A folder that is named is what is served from, however it is named.
  std::filesystem::remove_all(mine);
  copy_to(mine, true);
  const std::map<std::string, std::string> named{{"HONE_TEMPLATES", mine.string()}};
  CHECK(rows_of(stale, folder, named).back().at("serves") == false);
  for (const std::string& written :
       {mine.string(), mine.string() + "/", (folder.path / "." / "mine").string(),
        std::filesystem::relative(mine).string()}) {
    INFO(written);
    Words by_flag = call, stale_by_flag = stale;
    by_flag.insert(by_flag.end(), {"--templates", written});
    stale_by_flag.insert(stale_by_flag.end(), {"--templates", written});
    CHECK(rows_of(stale, folder, named) == rows_of(stale_by_flag, folder));
    const json rows = rows_of(by_flag, folder);
    CHECK_THAT(rows.at(0).at("why").get<std::string>(), Contains("saxpy.cpp has changed since"));
    CHECK_THAT(rows.back().at("why").get<std::string>(), Contains("all of saxpy f32 here is stale"));
  }
  const Ended ended = run_hone(call, folder.path, named);
  INFO(ended.out << ended.err);
  CHECK(ended.code == 1);
  const json none = rows_of(call, folder, named).back();
  CHECK(none.at("rung") == "none");
  CHECK_THAT(
      none.at("why").get<std::string>(),
      Contains("all of saxpy f32 here is stale, tuned with other sources than those of " + mine.string()) &&
          !Contains("legal"));
}

TEST_CASE("pointers that no configuration can take are told, and no command that would not help") {
  const TemporaryFolder folder;
  Words call = explain_what_is_tuned(folder, (folder.path / "a.db").string());
  call.insert(call.end(), {"--alignment", "2"});
  const json none = rows_of(call, folder).back();
  CHECK(none.at("rung") == "none");
  CHECK(none.at("why") == "relu f32 needs pointers aligned to 4 bytes; these are aligned to 2");
  CHECK(none.at("to_be_exact").is_null());
  CHECK_THAT(run_hone(call, folder.path).out, !Contains("hone tune"));
}

TEST_CASE("a layout that is missing is asked for with what there is") {
  const TemporaryFolder folder;
  const Ended ended = run_hone({"tune", "addmm_glu", "--device", "host", "--dtype", "f16", "--shape",
                                "M=64,N=64,K=64", "--dry-run", "--db", (folder.path / "a.db").string()},
                               folder.path);
  CHECK(ended.code == 2);
  CHECK(ended.notes() == "hone: addmm_glu has layouts: give --layout nn or nt\n");
}

TEST_CASE("a device that is in the database alone is told, with how to ask for what it was tuned for") {
  Study study("Some GPU");
  study.win(study.add("relu", 1024, {}, 1000));
  const Ended ended =
      study.hone({"explain", "relu", "--device", "some gpu", "--dtype", "f16", "--shape", "numel=1024"});
  CHECK(ended.code == 3);
  CHECK_THAT(ended.notes(),
             Contains("no device matches 'some gpu'") &&
                 Contains("; " + study.database() +
                          " holds Some GPU (host x86-64-v3), which is not in this machine; `hone "
                          "query winners relu --device 'some gpu' --dtype f16 --shape "
                          "numel=1024 --db " +
                          study.database() + "` shows what it was tuned for"));
  const Ended unknown =
      study.hone({"explain", "relu", "--device", "nonesuch", "--dtype", "f16", "--shape", "numel=1024"});
  CHECK(unknown.code == 3);
  CHECK_THAT(unknown.notes(), !Contains("holds"));
}

TEST_CASE("what serves other devices is no matter of a call on this one") {
  Study study;
  study.win(study.add("relu", 1024, {}, 1000));
  study.change_source("relu");
  const Ended ended =
      study.hone({"explain", "relu", "--device", "host", "--dtype", "f16", "--shape", "numel=1024"});
  INFO(ended.out << ended.err);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.out,
             Contains("none       no       relu f16 has no winner on this device in the steady regime\n"));
  CHECK(ended.err.empty());
}

}  // namespace
}  // namespace hone::test
