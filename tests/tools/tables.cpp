// hone query ladder, pivot and gain, and the peak that ladders compare with, on records that the test writes.
#include <catch2/catch.hpp>

#include "runtime/device.hpp"
#include "tests/tools/study.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
constexpr std::int64_t mebi = 1 << 20;
constexpr db::Stage look = db::Stage::first_look;

/// The value of a parameter.
db::Values with(const std::string& name, const db::Value& value) {
  return {{name, value}};
}

TEST_CASE("a ladder shows the points of the newest race in the manifest's order") {
  Study study;
  study.add("relu", mebi, with("vector", std::int64_t{2}), 9000);
  study.next_run();
  study.add("relu", mebi, {}, 100, look);
  study.add("relu", mebi, with("store", "nt"), 1000);
  study.add("relu", mebi, {}, 2000);
  study.add("relu", mebi, with("vector", std::int64_t{2}), 4000);
  study.add("relu", mebi, with("block", std::int64_t{64}), 100, db::Stage::race, db::Outcome::wrong_result);
  study.add("relu", mebi, {{"block", std::int64_t{128}}, {"unroll", std::int64_t{2}}}, 1600);
  study.add_sweep_point(mebi, study.add("relu", mebi, with("vector", std::int64_t{2}), 10));
  const std::string csv =
      study.csv({"ladder", "relu"}, "point,median_ns,gb_per_s,of_peak,times_baseline,times_previous,peak");
  CHECK(csv ==
        "point,median_ns,gb_per_s,of_peak,times_baseline,times_previous,peak\n"
        "1-byte accesses,,,,,,\n"
        "2-byte accesses,4000,1048.576,,1,,\n"
        "4-byte accesses,,,,,,\n"
        "8-byte accesses,,,,,,\n"
        "16-byte accesses,2000,2097.152,,2,2,\n"
        "block and unroll swept,1600,2621.44,,2.5,1.25,\n"
        "grid stride,,,,,,\n"
        "overlapping launches,,,,,,\n"
        "streaming stores,1000,4194.304,,4,1.6,\n"
        "streaming loads and stores,,,,,,\n"
        "\"overlapping launches, the input kept, the output let go\",,,,,,\n");
  const std::string table = study.hone({"query", "ladder", "relu"}).out;
  CHECK_THAT(table, StartsWith("device: Test CPU, ") && Contains("run: ") && Contains("x previous"));
  CHECK_THAT(study.hone({"query", "ladder", "relu", "--dtype", "f32"}).notes(), Contains("`hone tune relu`"));
}

TEST_CASE("a ladder without a peak says how the device gets one") {
  Study study;
  study.add("relu", mebi, {}, 4000);
  const auto notes = [&] { return study.hone({"query", "ladder", "relu"}).notes(); };
  const std::string db = " --db " + study.database() + "`";
  CHECK_THAT(notes(), Contains("the peak of the memory of Test CPU is not known: `hone tune copy --device "
                               "'Test CPU' --sweep 268435456:268435456" +
                               db + " measures it, `hone db peak 'Test CPU' RATE" + db + " gives it"));
  study.store().put_peak({study.run().device, "memory", 4'800'000'000'000});
  CHECK_THAT(notes(), !Contains("peak"));
}

TEST_CASE("a digit is the index of a device of this machine, wherever devices are chosen") {
  Study study("Device 0 of another machine");
  study.win(study.add("relu", 1024, {}, 1000));
  const auto listed = list_devices().devices;
  const std::string last = std::to_string(listed.size() - 1), beyond = std::to_string(listed.size());
  const Ended other = study.hone({"query", "winners", "--device", last});
  CHECK(other.code == 2);
  CHECK_THAT(other.notes(), Contains("holds nothing of device " + last + ", " + listed.back().record().name));
  const Ended none = study.hone({"query", "winners", "--device", beyond});
  CHECK(none.code == 3);
  CHECK_THAT(none.notes(), Contains("there is no device " + beyond));
  study.next_run(listed.back().record());
  study.win(study.add("relu", 1024, {}, 1000));
  CHECK(study.csv({"winners", "--device", last, "--limit", "1"}, "device") ==
        "device\n" + listed.back().record().name + "\n");
  CHECK_THAT(study.csv({"winners", "--device", "device 0"}, "device"), Contains("Device 0 of another"));
}

TEST_CASE("an element type that nothing is recorded of is told beside others") {
  Study study;
  study.win(study.add("relu", 1024, {}, 1000));
  const auto notes = [&](const char* types) {
    return study.hone({"query", "winners", "relu", "--dtype", types}).notes();
  };
  CHECK(notes("f16,i64") == "--dtype: " + study.database() + " has nothing of relu i64\n");
  CHECK(notes("f16") == "");
}

TEST_CASE("on a terminal, and there alone, what matters is coloured") {
  Study study;
  study.add("relu", 1024, {}, 1000, db::Stage::first_look, db::Outcome::wrong_result);
  study.add("relu", 1024, {{"unroll", std::int64_t{1}}}, 1000);
  study.add("relu", 1024, {{"unroll", std::int64_t{2}}}, 3000);
  const auto on_terminal = [&](const std::string& words, const std::string& variables = "") {
    return output_of("env TERM=xterm " + variables +
                     " script -qec 'stty cols 80; " HONE_BINARY_DIR "/bin/hone " + words + " --db " +
                     study.database() + "' /dev/null");
  };
  const std::string failures = "query failures", pivot = "query pivot relu --rows block --cols unroll";
  CHECK_THAT(on_terminal(failures), Contains("\x1b[31mwrong_result\x1b[0m"));
  CHECK_THAT(on_terminal(pivot), Contains("*\x1b[0m") && Contains("\x1b[1;32m"));
  CHECK_THAT(on_terminal(pivot, "NO_COLOR=1"), Contains(" *") && !Contains("\x1b"));
  CHECK_THAT(study.hone({"query", "failures"}).out, Contains("wrong_result") && !Contains("\x1b"));
}

TEST_CASE("a ladder compares with the peak that copy reached or that was given") {
  Study study;
  const std::int64_t large = 128 * mebi;  // 16 times the cache, both ways
  study.add("relu", large, {}, 1048576);
  study.add("copy", mebi, {}, 1);
  study.add("copy", large, with("unroll", std::int64_t{2}), 1, look);
  const auto ladder = [&] {
    const std::string csv = study.csv({"ladder", "relu"}, "point,of_peak,peak");
    return csv.substr(csv.find("16-byte"), csv.find("\nblock") - csv.find("16-byte"));
  };
  CHECK(ladder() == "16-byte accesses,,");
  study.add("copy", large, {}, 524288);
  CHECK(ladder() == "16-byte accesses,0.5,1024 GB/s measured by copy");
  const Ended given = study.hone({"db", "peak", "test", "2.048TB/s"});
  INFO(given.err);
  CHECK(given.code == 0);
  CHECK(given.out == "Test CPU x86-64-v3: 2048 GB/s\n");
  CHECK(ladder() == "16-byte accesses,0.25,2048 GB/s given");
  study.hone({"db", "peak", "Test CPU", "512GB/s"});
  CHECK(ladder() == "16-byte accesses,1,512.0 GB/s given");
  const Ended operations = study.hone({"db", "peak", "test", "1.5TFLOP/s", "--dtype", "f32"});
  INFO(operations.err);
  CHECK(operations.out == "Test CPU x86-64-v3 f32: 1.50 TFLOP/s\n");
  CHECK(study.hone({"db", "peak", "test", "512GB/s", "--dtype", "f32"}).code == 2);
  CHECK(ladder() == "16-byte accesses,1,512.0 GB/s given");
  CHECK_THAT(study.hone({"db", "peak", "test", "512GB/s"}).err,
             Contains("1024 GB/s measured by copy is more than this peak"));
  CHECK(study.hone({"db", "peak", "test", "none"}).out == "Test CPU x86-64-v3: none given any more\n");
  CHECK(ladder() == "16-byte accesses,0.5,1024 GB/s measured by copy");
  CHECK(study.hone({"db", "check"}).code == 0);
}

TEST_CASE("a pivot has the fastest of what was measured with each pair of values") {
  Study study;
  study.add("relu", mebi, {}, 2000);
  study.add("relu", mebi, {}, 100, look);  // it raced
  study.add("relu", mebi, with("vector", std::int64_t{4}), 1000, look);
  study.add("relu", mebi, with("store", "nt"), 500);
  study.add("relu", mebi, {{"store", "nt"}, {"block", std::int64_t{64}}, {"unroll", std::int64_t{2}}}, 400);
  const Words pivot{"pivot", "relu", "--rows", "block", "--cols", "unroll"};
  const auto pivot_with = [&](Words more) {
    more.insert(more.begin(), {"query", "pivot", "relu"});
    return study.hone(more).out;
  };
  CHECK(pivot_with({"--rows", "block", "--cols", "unroll", "--where", "store=default"}) ==
        "relu f16 numel=1048576, steady, 4 MiB of traffic, on Test CPU\n"
        "GB/s of the fastest over vector, load, mode, waves, overlap, where store=default\n"
        "samples: race; * fastest, = ties\n"
        "block \\ unroll     1       2     4\n"
        "            64\n"
        "           128\n"
        "           256  2097 *\n"
        "           512\n"
        "          1024\n");
  CHECK_THAT(pivot_with({"--rows", "load", "--cols", "store", "--where", "load=default,nt", "--where",
                         "store=default,nt"}),
             Contains("load \\ store  default     nt\n"
                      "default        2097    10486 *\n"
                      "nt\n"));
  CHECK_THAT(study.csv(pivot, ""),
             Contains(",block,64,unroll,2,10485.76,400,race,") && Contains(",block,512,unroll,4,,,,"));
  CHECK_THAT(
      study.hone({"query", "pivot", "relu", "--rows", "variant", "--cols", "mode", "--format", "json"}).out,
      Contains("\"format\": \"hone/pivot\"") && Contains("\"row\": \"simt\"") &&
          Contains("\"column\": \"one_shot\"") && Contains("\"gb_per_s\": null"));
}

TEST_CASE("a pivot shows the slice at one value, and its rows sorted and cut for programs") {
  Study study;
  study.add("relu", mebi, {}, 2000);
  study.add("relu", mebi, {{"store", "nt"}, {"unroll", std::int64_t{2}}}, 500);
  study.add("relu", mebi, with("unroll", std::int64_t{2}), 1000);
  Words pivot{"pivot", "relu", "--rows", "block", "--cols", "unroll", "--sort", "median_ns", "--limit", "1"};
  CHECK(study.csv(pivot, "column,median_ns") == "column,median_ns\n2,500\n");
  pivot.insert(pivot.end(), {"--at", "store=default"});
  CHECK(study.csv(pivot, "column,median_ns") == "column,median_ns\n2,1000\n");
}

TEST_CASE("runs are those that measured what matches") {
  Study study;
  study.add("relu", mebi, {}, 2000);
  study.next_run(db::testing::device("Other CPU"));
  study.add("copy", 2 * mebi, {}, 2000);
  const auto devices = [&](Words more) {
    more.insert(more.begin(), "runs");
    return study.csv(more, "device");
  };
  CHECK(devices({}) == "device\nOther CPU\nTest CPU\n");
  CHECK(devices({"copy"}) == "device\nOther CPU\n");
  CHECK(devices({"--shape", "numel=1048576"}) == "device\nTest CPU\n");
  CHECK(devices({"--device", "test"}) == "device\nTest CPU\n");
  CHECK(devices({"--regime", "cold"}) == "device\n");
  CHECK(devices({"--since", "1h"}) == "device\n");
}

TEST_CASE("a pivot marks what ties among figures taken alike, in the order of the values") {
  Study study;
  study.add("relu", mebi, {}, 2000, look);
  study.add("relu", mebi, with("block", std::int64_t{64}), 2020, look);
  study.add("relu", mebi, with("block", std::int64_t{1024}), 2300, look);
  study.add("relu", mebi, with("block", std::int64_t{512}), 1900);  // never looked at
  study.add("relu", mebi, {}, 1880);
  const Words pivot{"query", "pivot", "relu", "--rows", "block", "--cols", "vector"};
  CHECK_THAT(study.hone(pivot).out,
             Contains("samples: looks; * fastest, = ties, ( ) taken otherwise: not compared\n"
                      "block \\ vector      1      2      4      8     16\n"
                      "            64                               2076 =\n"
                      "           128\n"
                      "           256                               2097 *\n"
                      "           512                              (2208)\n"
                      "          1024                               1824\n"));
  CHECK(study.csv({"pivot", "relu", "--rows", "block", "--cols", "vector", "--at", "vector=16"},
                  "row,median_ns,best,ties,alike,stage") ==
        "row,median_ns,best,ties,alike,stage\n"
        "64,2020,no,yes,yes,first_look\n"
        "128,,,,,\n"
        "256,2000,yes,yes,yes,first_look\n"
        "512,1900,,,no,race\n"
        "1024,2300,no,no,yes,first_look\n");
}

TEST_CASE("a pivot too wide for the terminal goes on below, under its own heading") {
  Study study;
  study.add("relu", mebi, {}, 2000);
  study.add("relu", mebi, with("vector", std::int64_t{1}), 4000);
  const Words pivot{"query",  "pivot",  "relu",    "--rows",      "load",
                    "--cols", "vector", "--where", "load=default"};
  const std::string out = study.hone(pivot, {{"COLUMNS", "42"}}).out;
  CHECK_THAT(out, Contains("\nload \\ vector     1       2     4\n"
                           "default        1049\n"
                           "\n"
                           "load \\ vector     8    16\n"
                           "default              2097 *\n"));
  Words wide = pivot;
  wide.push_back("--wide");
  CHECK_THAT(study.hone(wide, {{"COLUMNS", "42"}}).out, Contains("     4     8    16\n"));
}

TEST_CASE("a gain compares the fastest of each value, in one race where there is one") {
  Study study;
  study.add("relu", mebi, {}, 2000);
  study.add("relu", mebi, with("vector", std::int64_t{8}), 1000, look);
  study.add("relu", mebi, with("store", "nt"), 1600);
  study.add("relu", 2 * mebi, {}, 2000);
  study.add("relu", 2 * mebi, with("store", "nt"), 2500, look);
  study.add("relu", 4 * mebi, with("store", "nt"), 5000);
  const Words gain{"gain", "relu", "--parameter", "store", "--from", "default", "--to", "nt"};
  CHECK(study.csv(gain, "working_set_bytes,from_median_ns,to_median_ns,gain,samples") ==
        "working_set_bytes,from_median_ns,to_median_ns,gain,samples\n"
        "4194304,2000,1600,0.25,race\n"
        "8388608,2000,2500,,not alike\n"
        "16777216,,5000,,not alike\n");
  Words table = gain;
  table.insert(table.begin(), "query");
  table.insert(table.end(), {"--where", "vector=16"});
  CHECK_THAT(study.hone(table).out, Contains("parameter: store") && Contains("where: vector=16") &&
                                        Contains("nt GB/s") && Contains("25.0 %"));
  table.insert(table.end(), {"--format", "json"});
  CHECK_THAT(study.hone(table).out, Contains("\"over\": [\"block\", "));
}

TEST_CASE("a gain is of first looks where a race had only some of the fastest at first look") {
  Study study;
  study.add("relu", mebi, {}, 2000, look);
  study.add("relu", mebi, with("vector", std::int64_t{8}), 1700, look);  // the faster one did not race
  study.add("relu", mebi, with("store", "nt"), 1600, look);
  study.add("relu", mebi, {}, 1900);
  study.add("relu", mebi, with("store", "nt"), 1000);
  const Words gain{"gain", "relu", "--parameter", "store", "--from", "default", "--to", "nt"};
  CHECK(study.csv(gain, "from_median_ns,to_median_ns,gain,samples") ==
        "from_median_ns,to_median_ns,gain,samples\n"
        "1700,1600,0.0625,looks\n");
}

TEST_CASE("tables that cannot be made are told in one line") {
  Study study;
  study.add("relu", mebi, {}, 2000);
  study.add("copy", mebi, {}, 2000);
  const auto refused = [&](const Words& words, const std::string& told) {
    const Ended ended = study.hone(words);
    INFO(ended.out << ended.err);
    CHECK(ended.code == 2);
    CHECK(ended.out.empty());
    CHECK(ended.error_lines() == 1);
    CHECK_THAT(ended.notes(), Contains(told));
  };
  refused({"query", "ladder"}, "FAMILY");
  refused({"query", "ladder", "rellu"}, "never tuned");
  refused({"query", "pivot", "relu", "--rows", "block"}, "--cols");
  refused({"query", "pivot", "relu", "--rows", "blok", "--cols", "unroll"}, "did you mean `block`");
  refused({"query", "pivot", "relu", "--rows", "block", "--cols", "block"}, "--cols");
  const Words pivot{"query", "pivot", "relu", "--rows", "load", "--cols", "store", "--where"};
  const auto where = [&](const std::string& condition, const std::string& told) {
    Words words = pivot;
    words.push_back(condition);
    refused(words, told);
  };
  where("load", "write store=nt");
  where("lod=nt", "did you mean `load`");
  where("load=default,ntt", "did you mean `nt`");
  where("vector=99", "no `99`; there are 1, 2, 4, 8, 16");
  refused({"query", "pivot", "relu", "--rows", "load", "--cols", "store", "--at", "vector=1,2"},
          "several values");
  refused({"query", "pivot", "relu", "--rows", "load", "--cols", "store", "--limit", "1"},
          "--format json and csv");
  refused({"query", "gain", "relu", "--parameter", "store", "--from", "nt", "--to", "nt"}, "are both `nt`");
  for (const char* verb : {"winners", "failures", "runs", "stale"})
    refused({"query", verb, "--shape", "nume=1"}, "did you mean `numel`");
  refused({"query", "ladder", "relu", "--shape", "foo=1"}, "no problem of relu has a dimension `foo`");
  refused({"query", "gain", "relu", "--parameter", "store"}, "--from");
  refused({"query", "gain", "relu", "--parameter", "store", "--from", "default", "--to", "n"}, "--to");
  refused({"db", "peak", "H200", "4800GB/s"}, "no device `H200`");
  refused({"db", "peak", "test", "4800GB"}, "4800GB/s");
  refused({"db", "peak", "test", "0GB/s"}, "above zero");
  refused({"db", "peak", "test", "99999TB/s"}, "no device does that");
  refused({"db", "peak", "test", "4800B/s"}, "no device does that");
  refused({"db", "peak", "test", "200PFLOP/s", "--dtype", "f16"}, "no device does that");
}

TEST_CASE("what the tuner raced makes a ladder, the best of a swept point among it") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const Ended tuned = run_hone({"tune", "relu", "--device", "host", "--dtype", "f32", "--shape", "numel=4096",
                                "--budget", "8", "--quiet", "--db", database},
                               folder.path);
  INFO(tuned.out << tuned.err);
  REQUIRE(tuned.code == 0);
  const Ended ladder = run_hone({"query", "ladder", "relu", "--format", "csv", "--columns",
                                 "point,best_of,times_previous", "--db", database},
                                folder.path);
  INFO(ladder.out << ladder.err);
  CHECK_THAT(ladder.out, Contains("4-byte accesses,,\n") &&
                             Contains("block and unroll swept,block unroll,") &&
                             !Contains("16-byte accesses,,\n") && !Contains("buffer"));
}

}  // namespace
}  // namespace hone::test
