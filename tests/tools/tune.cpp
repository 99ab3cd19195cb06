// From hone tune to the answers, on the host: what is committed stays, what is done is not done again.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>

#include "db/store.hpp"
#include "hone/hone.hpp"
#include "runtime/host_device.hpp"
#include "runtime/misses.hpp"
#include "tests/tools/command.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;
using Words = std::vector<std::string>;

/// A small tuning of relu into `database`.
Words small_tune(const std::string& database, const std::string& shape = "numel=4096",
                 const std::string& budget = "3") {
  return {"tune",    "relu", "--device", "host", "--dtype", "f32",
          "--shape", shape,  "--budget", budget, "--db",    database};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string winners(const std::string& database, const std::filesystem::path& folder,
                    const std::string& columns = "measurement") {
  const Ended ended =
      run_hone({"query", "winners", "--db", database, "--format", "csv", "--columns", columns}, folder);
  CHECK(ended.code == 0);
  return ended.out;
}

void copy_saxpy(const std::filesystem::path& to) {
  std::filesystem::create_directories(to.parent_path());
  std::filesystem::copy(HONE_SOURCE_DIR "/tests/templates/saxpy", to,
                        std::filesystem::copy_options::recursive);
}

std::size_t runs(const std::string& database, const std::filesystem::path& folder) {
  return lines_of(
             run_hone({"query", "runs", "--db", database, "--format", "csv", "--columns", "run"}, folder).out)
             .size() -
         1;
}

TEST_CASE("relu is tuned, queried, explained and checked") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const Ended tuned = run_hone(small_tune(database), folder.path);
  INFO(tuned.out << tuned.err);
  REQUIRE(tuned.code == 0);
  CHECK_THAT(tuned.out, Contains("numel=4096") && Contains("f32") && Contains("GB/s"));
  CHECK_THAT(tuned.notes(), Contains("1 problem, "));

  const Ended query =
      run_hone({"query", "winners", "relu", "--db", database, "--format", "json"}, folder.path);
  CHECK(query.code == 0);
  CHECK_THAT(query.out, Contains("\"format\": \"hone/winners\"") &&
                            Contains("\"shape\": {\"numel\": 4096}") &&
                            Contains("\"working_set_bytes\": 32768"));
  const Ended spread =
      run_hone({"query", "winners", "relu", "--db", database, "--show", "spread"}, folder.path);
  CHECK_THAT(spread.out, Contains("bound") && Contains("q1") && Contains("q3"));
  CHECK(lines_of(winners(database, folder.path)).size() >= 2);
  const Ended other =
      run_hone({"query", "winners", "relu", "--db", database, "--shape", "numel=1:4095", "--format", "csv"},
               folder.path);
  CHECK(lines_of(other.out).size() == 1);

  const Ended exact = run_hone(
      {"explain", "relu", "--db", database, "--device", "host", "--dtype", "f32", "--shape", "numel=4096"},
      folder.path);
  INFO(exact.out << exact.err);
  CHECK(exact.code == 0);
  CHECK_THAT(exact.out, Contains("exact"));
  const Ended nearest = run_hone(
      {"explain", "relu", "--db", database, "--device", "host", "--dtype", "f32", "--shape", "numel=5000"},
      folder.path);
  CHECK(nearest.code == 0);
  CHECK_THAT(nearest.out, Contains("nearest") && Contains("hone tune relu"));
  // A time is said to be another problem's where it is.
  CHECK_THAT(exact.out, !Contains(") on relu f32") && Contains("measured: "));
  CHECK_THAT(nearest.out, Contains(") on relu f32") && Contains("numel=4096\n"));

  const Ended check = run_hone({"db", "check", database}, folder.path);
  CHECK(check.code == 0);
  CHECK_THAT(check.out, Contains("sound"));
  const std::string copy = (folder.path / "copy.db").string();
  CHECK(run_hone({"db", "backup", copy, "--db", database}, folder.path).code == 0);
  CHECK(winners(copy, folder.path) == winners(database, folder.path));
}

TEST_CASE("on a terminal the live line has the best with its configuration, and is wiped away whole") {
  const TemporaryFolder folder;
  const std::string text =
      output_of("env NO_COLOR=1 TERM=xterm XDG_DATA_HOME=" + folder.path.string() +
                " script -qec 'stty cols 60; " HONE_BINARY_DIR
                "/bin/hone tune relu --device host --dtype f32 --shape numel=4096 --budget 3 --db " +
                (folder.path / "a.db").string() + "' /dev/null </dev/null");
  INFO(text);
  const std::size_t end = text.find("device: ");
  REQUIRE(end != std::string::npos);
  const std::string live = text.substr(0, end);
  const auto count = [&](const std::string& part) {
    std::size_t times = 0;
    for (std::size_t at = 0; (at = live.find(part, at)) != std::string::npos; at += part.size()) ++times;
    return times;
  };
  CHECK(count(" % ") >= 3);
  CHECK(count("best simt ") >= 1);
  CHECK(count(" us") + count(" ns") >= 1);
  CHECK(count("\n") >= 1);
  CHECK(count("\n") == count("\x1b[A\x1b[K"));  // as many lines up as down
  CHECK(count("\x1b[1m") + count("\x1b[36m") == 0);
}

TEST_CASE("a sweep finds bands, which serve what lies between") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const Words sweep{"tune",    "relu",         "--device", "host", "--dtype", "f32",
                    "--sweep", "64KiB:256KiB", "--budget", "2",    "--db",    database};
  const Ended tuned = run_hone(sweep, folder.path);
  INFO(tuned.out << tuned.err);
  REQUIRE(tuned.code == 0);
  CHECK_THAT(tuned.notes(), Contains("3 problems, ") && Contains("bands of f32: "));
  const Words query{"query", "bands",     "relu",
                    "--db",  database,    "--format",
                    "csv",   "--columns", "lo_bytes,hi_bytes,first_bytes,last_bytes,regret"};
  const std::string bands = run_hone(query, folder.path).out;
  INFO(bands);
  CHECK_THAT(bands, Contains("\n0,") && Contains("no end,") && Contains(",65536,") && Contains(",262144,"));
  const Ended explained = run_hone(
      {"explain", "relu", "--db", database, "--device", "host", "--dtype", "f32", "--shape", "numel=12345"},
      folder.path);
  INFO(explained.out);
  CHECK(explained.code == 0);
  CHECK_THAT(explained.out, Contains("answer:         band") && Contains("at worst:"));
  const Ended again = run_hone(sweep, folder.path);
  CHECK_THAT(again.notes(), Contains(", 0 races"));
  CHECK(run_hone(query, folder.path).out == bands);
  CHECK(run_hone({"db", "check", database}, folder.path).code == 0);
}

TEST_CASE("the database is found by flag, then HONE_DB, then the user's data folder") {
  const TemporaryFolder folder;
  const std::string named = (folder.path / "named.db").string();
  Words words = small_tune(named);
  words.resize(words.size() - 2);
  REQUIRE(run_hone(words, folder.path, {{"HONE_DB", named}}).code == 0);
  CHECK(std::filesystem::exists(named));
  CHECK_FALSE(std::filesystem::exists(folder.path / "hone" / "hone.db"));
  REQUIRE(run_hone(words, folder.path).code == 0);
  CHECK(std::filesystem::exists(folder.path / "hone" / "hone.db"));
}

TEST_CASE("explain tells the workspace that a launch is lent") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const std::string templates = HONE_SOURCE_DIR "/tests/templates";
  const Ended tuned = run_hone({"tune", "lent", "--device", "host", "--dtype", "i32", "--shape", "n=1000",
                                "--budget", "5", "--templates", templates, "--trust", "--db", database},
                               folder.path);
  INFO(tuned.out << tuned.err);
  REQUIRE(tuned.code == 0);
  const Words call{"explain", "lent",   "--device", "host",   "--dtype",     "i32",
                   "--shape", "n=1000", "--db",     database, "--templates", templates};
  const Ended shown = run_hone(call, folder.path);
  INFO(shown.out << shown.err);
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out, Contains("workspace:      20384 bytes, lent by the caller") && !Contains("cluster:"));
  Words json = call;
  json.insert(json.end(), {"--format", "json"});
  CHECK_THAT(run_hone(json, folder.path).out,
             Contains("\"cluster\": \"1x1x1\"") && Contains("\"workspace_bytes\": 20384"));
}

TEST_CASE("of several databases the better rung answers, then the order, and explain names the file",
          "[processes]") {
  const TemporaryFolder folder;
  const std::string user = (folder.path / "user.db").string(), site = (folder.path / "site.db").string();
  REQUIRE(run_hone(small_tune(user), folder.path).code == 0);
  REQUIRE(run_hone(small_tune(site, "numel=70000"), folder.path).code == 0);
  REQUIRE(run_hone(small_tune(site), folder.path).code == 0);
  const std::string none = (folder.path / "none.db").string();
  /// The rung and the file that answer.
  const auto answer = [&](const std::string& shape, const std::string& list) -> std::string {
    const Ended ended = run_hone(
        {"explain", "relu", "--device", "host", "--dtype", "f32", "--shape", shape, "--format", "csv"},
        folder.path, {{"HONE_DB", list}});
    INFO(ended.out << ended.err);
    CHECK(ended.code == 0);
    for (const std::string& line : lines_of(ended.out)) {
      const std::string rung = line.substr(0, line.find(','));
      if (line.starts_with(rung + ",yes,")) return line.substr(0, line.find(".db,"));
    }
    return "";
  };
  CHECK(answer("numel=70000", user + ":" + site) + ".db" == "exact,yes," + site);
  CHECK(answer("numel=4096", user + ":" + site) + ".db" == "exact,yes," + user);
  CHECK(answer("numel=4096", site + ":" + user) + ".db" == "exact,yes," + site);
  CHECK(answer("numel=70000", none + "::" + user) + ".db" == "nearest,yes," + user);
  // Writing goes to the first of the list.
  Words words = small_tune("", "numel=5000");
  words.resize(words.size() - 2);
  REQUIRE(run_hone(words, folder.path, {{"HONE_DB", user + ":" + site}}).code == 0);
  CHECK_THAT(winners(user, folder.path, "shape"), Contains("numel=5000"));
  CHECK(winners(site, folder.path, "shape").find("numel=5000") == std::string::npos);
}

TEST_CASE("the same command again measures nothing new") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  REQUIRE(run_hone(small_tune(database), folder.path).code == 0);
  const std::string before = winners(database, folder.path);
  const Ended again = run_hone(small_tune(database), folder.path);
  INFO(again.out << again.err);
  CHECK(again.code == 0);
  CHECK_THAT(again.notes(), Contains("had fresh winners") && Contains(" 0 configurations tried"));
  CHECK(winners(database, folder.path) == before);
}

TEST_CASE("tuning again says how the winners changed against those there were") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const Ended first = run_hone(small_tune(database), folder.path);
  CHECK_THAT(first.notes(), Contains("3 winners: 3 new, 0 kept, 0 changed; ") &&
                                Contains("next: `hone query ladder relu --db " + database + "` and `"));
  Words again = small_tune(database);
  again.push_back("--again");
  const Ended second = run_hone(again, folder.path);
  INFO(second.err);
  CHECK_THAT(second.notes(), Contains("3 winners: 0 new, ") && Contains(" with others"));
}

TEST_CASE("every search finds the fastest, which no measuring can mistake", "[processes]") {
  for (const char* search : {"local", "evolutionary", "guided"}) {
    INFO(search);
    const TemporaryFolder folder;
    const Words words{"tune",
                      "steps",
                      "--device",
                      "host",
                      "--templates",
                      HONE_SOURCE_DIR "/tests/templates",
                      "--trust",
                      "--shape",
                      "n=20000",
                      "--search",
                      search,
                      "--db",
                      (folder.path / "hone.db").string(),
                      "--format",
                      "csv",
                      "--columns",
                      "configuration"};
    const Ended ended = run_hone(words, folder.path);
    CHECK(ended.code == 0);
    CHECK_THAT(ended.out, Contains("work=1"));
    CHECK_THAT(ended.notes(), Contains("6 configurations tried"));
  }
}

TEST_CASE("a portfolio is of families of several dimensions, and of winners there are") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const auto tuned = [&](const Words& more) {
    Words words{"tune", "--device", "host", "--db", database, "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return run_hone(words, folder.path);
  };
  const Ended one = tuned({"relu", "--portfolio"});
  CHECK(one.code == 2);
  CHECK_THAT(one.notes(), Contains("relu has one dimension") && Contains("--sweep"));
  const Ended none = tuned({"addmm_glu", "--portfolio", "--dtype", "f16"});
  CHECK(none.code == 1);
  CHECK_THAT(none.notes(), Contains("no winners on this device to make a portfolio of"));
  const Ended dry = tuned({"addmm_glu", "--portfolio", "--dry-run"});
  CHECK(dry.code == 2);
  CHECK_THAT(dry.notes(), Contains("--portfolio without --shape tunes no problem"));
}

TEST_CASE("what is asked of winners where there is nothing to do leaves nothing behind") {
  const TemporaryFolder folder;
  const std::filesystem::path database = folder.path / "a.db";
  const auto tuned = [&](const char* family, const char* flag) {
    return run_hone({"tune", family, "--device", "host", flag, "--db", database.string()}, folder.path);
  };
  const auto runs = [&] {
    return run_hone({"query", "runs", "--db", database.string(), "--format", "csv", "--columns", "command"},
                    folder.path)
        .out;
  };
  const auto check = [&] {
    const Ended portfolio = tuned("addmm_glu", "--portfolio");
    CHECK(portfolio.code == 1);
    CHECK_THAT(portfolio.notes(), Contains("no winners on this device to make a portfolio of"));
    const Ended refresh = tuned("relu", "--refresh");
    CHECK(refresh.code == 0);
    CHECK_THAT(refresh.notes(), Contains("nothing is stale that has a winner here"));
  };
  check();
  CHECK_FALSE(std::filesystem::exists(database));
  REQUIRE(run_hone(small_tune(database.string()), folder.path).code == 0);
  const std::string before = runs();
  CHECK(std::count(before.begin(), before.end(), '\n') == 2);
  check();
  CHECK(runs() == before);
  REQUIRE(run_hone(small_tune(database.string()), folder.path).code == 0);
  CHECK(runs() == before);
}

TEST_CASE("a budget that ends before anything was measured is no success") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const Ended ended = run_hone(small_tune(database, "numel=4096", "1ms"), folder.path);
  INFO(ended.out << ended.err);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.notes(), Contains("the budget is spent, overrun by ") &&
                                Contains("--budget 1ms ended before anything was measured"));
  Words quiet = small_tune(database, "numel=4096", "1ms");
  quiet.push_back("--quiet");
  const Ended silent = run_hone(quiet, folder.path);
  CHECK(silent.code == 1);
  CHECK(silent.err == "hone: --budget 1ms ended before anything was measured; give more time\n");
}

TEST_CASE("what is tried beyond a budget is told") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const Ended ended = run_hone(small_tune(database, "numel=4096", "1"), folder.path);
  INFO(ended.err);
  CHECK(ended.code == 0);
  CHECK_THAT(ended.notes(),
             Contains("the default, earlier winners and the ladder's points are tried whatever"));
}

TEST_CASE("a dry run shows what would be tuned, and does nothing") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  Words words = small_tune(database, "numel=4096", "3");
  words.insert(words.end(), {"--shape", "numel=0", "--shape", "numel=4096", "--dry-run", "--format", "csv",
                             "--columns", "shape,working_set_bytes,sampled,has_winners"});
  const auto plan = [&] {
    const Ended ended = run_hone(words, folder.path);
    INFO(ended.err);
    CHECK(ended.code == 0);
    return ended.out;
  };
  CHECK(plan() == "shape,working_set_bytes,sampled,has_winners\nnumel=4096,32768,no,no\n");
  CHECK_FALSE(std::filesystem::exists(database));
  REQUIRE(run_hone(small_tune(database), folder.path).code == 0);
  CHECK(plan() == "shape,working_set_bytes,sampled,has_winners\nnumel=4096,32768,no,yes\n");
  CHECK(runs(database, folder.path) == 1);
}

TEST_CASE("an empty problem is not tuned, and said to be empty") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const Ended ended = run_hone(small_tune(database, "numel=0"), folder.path);
  CHECK(ended.code == 0);
  CHECK_THAT(ended.notes(), Contains("relu f32 numel=0 is empty: nothing is launched for it"));
  CHECK(winners(database, folder.path) == "measurement\n");
  REQUIRE(run_hone(small_tune(database), folder.path).code == 0);
  // That the others are empty does not mean that all there is is tuned again.
  const Ended again = run_hone(small_tune(database, "numel=0"), folder.path);
  CHECK_THAT(again.notes(), Contains("0 problems, "));
}

TEST_CASE("an empty problem is nobody's neighbour") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  REQUIRE(run_hone(small_tune(database, "numel=0"), folder.path).code == 0);
  REQUIRE(run_hone(small_tune(database, "numel=4096"), folder.path).code == 0);
  const Ended ended = run_hone({"explain", "relu", "--device", "host", "--dtype", "f32", "--shape",
                                "numel=5000", "--wide", "--db", database},
                               folder.path);
  INFO(ended.out << ended.err);
  CHECK(ended.code == 0);
  CHECK_THAT(ended.out, Contains("numel=4096 (1.22x away)"));
}

TEST_CASE("two tuners share one database") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  Command first(small_tune(database, "numel=4096"), folder.path);
  Command second(small_tune(database, "numel=8192"), folder.path);
  const Ended a = first.wait();
  const Ended b = second.wait();
  INFO(a.err << b.err);
  CHECK(a.code == 0);
  CHECK(b.code == 0);
  const std::string shapes = winners(database, folder.path, "shape");
  CHECK_THAT(shapes, Contains("numel=4096") && Contains("numel=8192"));
  CHECK(runs(database, folder.path) == 2);
  CHECK(run_hone({"db", "check", database}, folder.path).code == 0);
}

/// A tuning that takes many seconds.
Words long_tune(const std::string& database) {
  return {"tune",    "relu",         "--device", "host",         "--dtype", "f32",
          "--shape", "numel=65536",  "--shape",  "numel=100000", "--shape", "numel=200000",
          "--shape", "numel=400000", "--db",     database};
}

/// Until the tuner has begun and had time to measure something.
void wait_for_run(const std::string& database, const std::filesystem::path& folder) {
  for (int i = 0; i < 300; ++i) {
    if (std::filesystem::exists(database) && runs(database, folder) > 0) break;
    usleep(100'000);
  }
  sleep(1);
}

TEST_CASE("an interrupted tuner keeps what it has and goes on", "[processes]") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  Command tuner(long_tune(database), folder.path);
  wait_for_run(database, folder.path);
  tuner.signal(SIGINT);
  const Ended ended = tuner.wait();
  INFO(ended.out << ended.err);
  REQUIRE(ended.code == 130);
  CHECK_THAT(ended.notes(), Contains("interrupted"));
  CHECK(run_hone({"db", "check", database}, folder.path).code == 0);
  const Ended resumed = run_hone(long_tune(database), folder.path);
  INFO(resumed.out << resumed.err);
  CHECK(resumed.code == 0);
  CHECK_THAT(resumed.notes(), Contains("4 problems"));
}

TEST_CASE("the exit code tells the signal that interrupted a tuner") {
  for (const int signal : {SIGTERM, SIGHUP}) {
    const TemporaryFolder folder;
    const std::string database = (folder.path / "a.db").string();
    Command tuner(long_tune(database), folder.path);
    wait_for_run(database, folder.path);
    tuner.signal(signal);
    const Ended ended = tuner.wait();
    INFO(ended.err);
    CHECK(ended.code == 128 + signal);
    CHECK_THAT(ended.notes(), Contains("interrupted"));
  }
}

TEST_CASE("what takes long before anything is measured is told", "[long]") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  Command tuner(
      {"tune", "relu", "--device", "host", "--dtype", "i8", "--shape", "numel=600000000", "--db", database},
      folder.path);
  wait_for_run(database, folder.path);
  sleep(2);
  tuner.signal(SIGINT);
  const Ended ended = tuner.wait();
  INFO(ended.err);
  CHECK(ended.code == 130);
  CHECK_THAT(ended.notes(),
             Contains("relu i8 numel=600000000: inputs and reference of 1.2 GB are being made"));
}

TEST_CASE("a killed tuner loses nothing committed", "[processes]") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  {
    Command tuner(long_tune(database), folder.path);
    wait_for_run(database, folder.path);
    tuner.signal(SIGKILL);
    CHECK(tuner.wait().code == 128 + SIGKILL);
  }
  CHECK(run_hone({"db", "check", database}, folder.path).code == 0);
  const Ended resumed = run_hone(long_tune(database), folder.path);
  INFO(resumed.out << resumed.err);
  CHECK(resumed.code == 0);
  const std::string shapes = winners(database, folder.path, "shape");
  CHECK_THAT(shapes, Contains("numel=65536") && Contains("numel=400000"));
}

TEST_CASE("a template dropped into a folder is tuned with --trust and refused without") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  copy_saxpy(folder.path / "mine" / "saxpy");
  Words words{"tune",     "saxpy", "--device", "host",   "--shape",     "n=4096",
              "--budget", "3",     "--db",     database, "--templates", (folder.path / "mine").string()};
  const Ended refused = run_hone(words, folder.path);
  INFO(refused.out << refused.err);
  CHECK(refused.code == 2);
  CHECK_THAT(refused.notes(), Contains("--trust"));
  CHECK(refused.error_lines() == 1);
  words.emplace_back("--trust");
  const Ended tuned = run_hone(words, folder.path);
  INFO(tuned.out << tuned.err);
  CHECK(tuned.code == 0);
  CHECK_THAT(winners(database, folder.path, "family,shape"), Contains("saxpy,n=4096"));
}

TEST_CASE("misses are clustered, tuned and cleared while those of other families stay") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const auto misses = folder.path / "hone" / "misses";
  {
    MissWriter writer(misses);
    const auto note = [&](const std::string& family, std::int64_t numel, std::int64_t count) {
      Miss miss;
      miss.problem = {family, "f32", "", {{"numel", numel}}};
      miss.device = host_device_info().record().id();
      miss.count = count;
      writer.note(miss);
      if (family != "relu") return;
      miss.problem.dimensions = {{"numel", 9'000'000}};
      miss.device = db::KeyBuilder().add("a GPU elsewhere").id();
      writer.note(miss);
    };
    note("relu", 4000, 1);
    note("relu", 4001, 7);
    note("other", 4000, 1);
    REQUIRE(writer.flush());
  }
  const Ended listed =
      run_hone({"query", "misses", "relu", "--format", "csv", "--columns", "shape,count"}, folder.path);
  CHECK(listed.out == "shape,count\nnumel=9000000,8\nnumel=4001,7\nnumel=4000,1\n");
  const Words words{"tune", "relu", "--device", "host", "--misses", "--budget", "2", "--db", database};
  const Ended tuned = run_hone(words, folder.path);
  INFO(tuned.out << tuned.err);
  REQUIRE(tuned.code == 0);
  CHECK(winners(database, folder.path, "shape").find("numel=4000") == std::string::npos);
  CHECK_THAT(winners(database, folder.path, "shape"), Contains("numel=4001"));
  const MissesRead left = read_misses(misses);
  REQUIRE(left.misses.size() == 2);
  CHECK(left.misses[0].problem.dimensions[0].second == 9'000'000);
  CHECK(left.misses[1].problem.family == "other");
  const Ended again = run_hone(words, folder.path);
  CHECK(again.code == 0);
  CHECK_THAT(again.notes(), Contains("no misses"));
}

TEST_CASE("what an application missed becomes exact by tuning its misses") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  REQUIRE(run_hone(small_tune(database), folder.path).code == 0);
  OpenOptions options;
  options.databases = {database};
  options.device = "host";
  options.misses_folder = folder.path / "hone" / "misses";
  Runtime runtime = Runtime::open(options);
  const FamilyHandle relu = runtime.family("relu");
  const Problem missed = relu.problem(ElementType::f32, {100'000});
  CHECK(runtime.pick(relu.problem(ElementType::f32, {4096}), 256).rung() == Rung::exact);
  CHECK(runtime.pick(missed, 256).rung() == Rung::nearest);
  // Sizes of one doubling are one problem to the tuner.
  for (std::int64_t numel = 70'000; numel < 100'000; numel += 1000)
    CHECK(runtime.pick(relu.problem(ElementType::f32, {numel}), 256).rung() == Rung::nearest);
  Miss often;
  often.problem = {"relu", "f32", "", {{"numel", 100'000}}};
  often.alignment = 256;
  often.device = host_device_info().record().id();
  often.count = 5;
  {
    MissWriter another_process(options.misses_folder);
    another_process.note(often);
  }
  runtime.flush_misses();
  CHECK(read_misses(options.misses_folder).misses.size() == 31);

  const Ended tuned = run_hone(
      {"tune", "relu", "--device", "host", "--misses", "--budget", "3", "--db", database}, folder.path);
  INFO(tuned.out << tuned.err);
  REQUIRE(tuned.code == 0);
  CHECK(lines_of(winners(database, folder.path, "shape")).size() >= 3);
  CHECK(read_misses(options.misses_folder).misses.empty());
  CHECK(runtime.refresh());
  CHECK(runtime.pick(missed, 256).rung() == Rung::exact);
  CHECK(runtime.pick(relu.problem(ElementType::f32, {70'000}), 256).rung() == Rung::nearest);
}

/// Another version of the compiler.
std::string newer_compiler(const std::filesystem::path& file) {
  write_file(file, "#!/bin/sh\ncase \"$1\" in -dumpfullversion) echo 99.1.0;; *) exec c++ \"$@\";; esac\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file.string();
}

TEST_CASE("a refresh measures the finalists of stale winners alone, and says what that saved",
          "[processes]") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const Ended tuned = run_hone(small_tune(database, "numel=4096", "40"), folder.path);
  INFO(tuned.err);
  REQUIRE(tuned.code == 0);
  const Words refresh{"tune", "relu", "--device", "host", "--refresh", "--db", database};
  const Ended fresh = run_hone(refresh, folder.path);
  CHECK(fresh.code == 0);
  CHECK_THAT(fresh.notes(), Contains("nothing is stale that has a winner here"));

  const std::map<std::string, std::string> newer{{"HONE_CXX", newer_compiler(folder.path / "newer-c++")}};
  const auto hone = [&](const Words& words) { return run_hone(words, folder.path, newer); };
  const Words stale{
      "query", "stale", "relu", "--db", database, "--format", "csv", "--columns", "changed,serves,now"};
  CHECK_THAT(hone(stale).out, Contains("compiler,yes,") && Contains("99.1.0"));
  db::Store store = db::Store::open(database, db::Access::read_only);
  const auto measured = [&](const db::Id& run, bool finalists) {
    std::set<db::Id> found;
    db::Filter filter;
    filter.run = run;
    for (const db::MeasuredRow& row : store.measurements(filter))
      if (!finalists ||
          (row.measurement.stage == db::Stage::race && row.measurement.outcome == db::Outcome::ok))
        found.insert(row.measurement.configuration);
    return found;
  };
  const db::Id first = store.winners({}).front().run;
  const Ended refreshed = hone(refresh);
  INFO(refreshed.err);
  REQUIRE(refreshed.code == 0);
  CHECK_THAT(refreshed.notes(), Contains("refresh: 1 problem in ") && Contains("where tuning had taken"));
  for (const db::Winner& winner : store.winners({})) {
    CHECK(winner.run != first);
    CHECK_THAT(store.environment(winner.environment)->items.at("compiler"), Contains("99.1.0"));
  }
  CHECK(measured(first, false).size() > measured(first, true).size());
  CHECK(measured(store.winners({}).front().run, false) == measured(first, true));
  CHECK_THAT(hone(stale).notes(), Contains("nothing is stale"));
  CHECK_THAT(hone(refresh).notes(), Contains("nothing is stale that has a winner here"));
}

TEST_CASE("a winner is stale, and serves, once its space has grown, until what is new was tried",
          "[processes]") {
  const TemporaryFolder folder;
  const auto mine = folder.path / "mine";
  copy_saxpy(mine / "saxpy");
  const std::string database = (folder.path / "a.db").string();
  const std::string newer = newer_compiler(folder.path / "newer-c++");
  const auto hone = [&](Words words) {
    words.insert(words.end(), {"--templates", mine.string(), "--trust", "--db", database});
    return run_hone(words, folder.path, {{"HONE_CXX", newer}});
  };
  const Words tune{"tune", "saxpy", "--device", "host", "--shape", "n=4096", "--budget", "60s"};
  const Words refresh{"tune", "saxpy", "--device", "host", "--refresh"};
  const Words stale{"query",   "stale", "--format", "csv", "--columns", "changed,serves,before,now",
                    "--limit", "1"};
  const auto winner = [&] { return db::Store::open(database, db::Access::read_only).winners({}).at(0); };
  {
    Words words = tune;
    words.insert(words.end(), {"--templates", mine.string(), "--trust", "--db", database});
    REQUIRE(run_hone(words, folder.path).code == 0);
  }
  // A refresh searches nothing: the space is still that of the run before it.
  REQUIRE(hone(refresh).code == 0);
  CHECK_THAT(hone(stale).notes(), Contains("nothing is stale"));

  const auto manifest = mine / "saxpy" / "saxpy.toml";
  std::string text = read_file(manifest);
  const std::string values = "unroll = [1, 2]";
  text.replace(text.find(values), values.size(), "unroll = [1, 2, 4]");
  write_file(manifest, text);
  CHECK(hone(stale).out ==
        "changed,serves,before,now\nspace,yes,\"simt unroll=1,2\",\"simt unroll=1,2,4\"\n");
  CHECK_THAT(hone(refresh).notes(),
             Contains("nothing is stale that has a winner here; the space of 1 problem "
                      "has grown: `hone tune` without --refresh tries what is new"));
  const db::Id before = winner().run;
  REQUIRE(hone(tune).code == 0);
  CHECK(winner().run != before);
  CHECK_THAT(hone(stale).notes(), Contains("nothing is stale"));
  // The budget of time was spent on this space now.
  CHECK_THAT(hone(tune).notes(), Contains("1 had fresh winners"));
}

TEST_CASE("a pack of what was tuned answers alike, and is refused to the tuner") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string(), pack = (folder.path / "model.hone").string();
  REQUIRE(run_hone(small_tune(database), folder.path).code == 0);
  const Words words{"db", "pack", "--device", "host", "-o", pack, "--db", database};
  const Ended packed = run_hone(words, folder.path);
  INFO(packed.out << packed.err);
  REQUIRE(packed.code == 0);
  CHECK_THAT(packed.out,
             Contains("model.hone: ") && Contains(" winners, 0 bands, 0 portfolios, 1 default, "));
  CHECK(winners(pack, folder.path) == winners(database, folder.path));
  CHECK(run_hone({"db", "check", pack}, folder.path).code == 0);
  const auto explained = [&](const std::string& file, const std::string& shape) {
    const Ended ended = run_hone({"explain", "relu", "--db", file, "--device", "host", "--dtype", "f32",
                                  "--shape", shape, "--format", "csv"},
                                 folder.path);
    CHECK(ended.code == 0);
    // Without the last column, the rivals: those that lost a race are not packed.
    std::string text;
    for (const std::string& line : lines_of(ended.out)) text += line.substr(0, line.rfind(',')) + '\n';
    for (const std::string& name : {file, database})
      for (auto at = text.find(name); at != std::string::npos; at = text.find(name))
        text.erase(at, name.size());
    return text;
  };
  for (const char* shape : {"numel=4096", "numel=70000"})
    CHECK(explained(pack, shape) == explained(database, shape));
  const Ended exists = run_hone(words, folder.path);
  CHECK(exists.code == 2);
  CHECK_THAT(exists.notes(), Contains("exists already"));
  const Ended written = run_hone(small_tune(pack), folder.path);
  CHECK(written.code == 3);
  CHECK_THAT(written.notes(), Contains("is a pack, which nothing writes"));
  CHECK(
      run_hone({"db", "pack", "--device", "nothing", "-o", pack + "2", "--db", database}, folder.path).code ==
      2);
  CHECK(run_hone({"db", "pack", "--device", "host", "--db", database}, folder.path).code == 2);
}

TEST_CASE("a broken manifest is told with its file") {
  const TemporaryFolder folder;
  const auto mine = folder.path / "mine";
  copy_saxpy(mine / "saxpy");
  const auto manifest = mine / "saxpy" / "saxpy.toml";
  const std::string whole = read_file(manifest);
  const auto refuse = [&](const std::string& text) {
    write_file(manifest, text);
    const Ended ended =
        run_hone({"tune", "saxpy", "--device", "host", "--shape", "n=4096", "--budget", "2", "--trust",
                  "--templates", mine.string(), "--db", (folder.path / "a.db").string()},
                 folder.path);
    INFO(ended.out << ended.err);
    CHECK(ended.code == 2);
    CHECK(ended.error_lines() == 1);
    CHECK_THAT(ended.notes(), Contains("saxpy.toml"));
  };
  refuse("this is not toml");
  refuse(whole + "\nsurprise = 1\n");
  refuse("[family]\nname = \"saxpy\"\n");
}

}  // namespace
}  // namespace hone::test
