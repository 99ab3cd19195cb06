// hone report: what it gathers, how it is written, and the page in a browser.
#include <rapidcheck/catch.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "db/sqlite.hpp"
#include "hone/error.hpp"
#include "runtime/family.hpp"
#include "tests/db/sample_database.hpp"
#include "tests/tools/command.hpp"
#include "tools/output_file.hpp"
#include "tools/report_page.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;
using Words = std::vector<std::string>;

constexpr std::int64_t kibi = 1 << 10, mebi = 1 << 20;

/// A database of relu, as it is in this source, on one device.
class Measured {
 public:
  explicit Measured(const std::string& device = "Test CPU", const std::string& command = "hone tune relu")
      : file((folder.path / "a.db").string()),
        store(db::Store::open(file, db::Access::create)),
        device_(db::testing::device(device)),
        family_(parse_family(std::filesystem::path(HONE_SOURCE_DIR) / "kernel_templates/relu/relu.toml")),
        simt_(*family_.variant("simt")) {
    put_template();
    next_run(command);
  }

  void next_run(const std::string& command = "hone tune relu") {
    run = db::testing::run(device_, run.started_us == 0 ? 1'700'000'000'000'000 : run.started_us + 1'000'000);
    run.command = command;
    db::testing::prepare(store, run, device_);
  }

  /// The default with `changes`.
  db::Configuration with(const db::Values& changes) const {
    db::Configuration configuration{"relu", "simt", simt_.defaults};
    for (const auto& [name, value] : changes) configuration.parameters[name] = value;
    return configuration;
  }

  db::Problem problem(std::int64_t numel, const std::string& type = "f16") const {
    return {"relu", type, "", {{"numel", numel}}};
  }

  db::Measurement make(const db::Problem& on, const db::Configuration& configuration,
                       std::vector<double> samples, db::Stage stage = db::Stage::race) {
    store.put(on);
    store.put(configuration);
    db::Measurement m =
        db::testing::measurement(run, on, configuration, simt_.source_hash, std::move(samples));
    m.stage = stage;
    m.taken_us = run.started_us + ++taken_;
    return m;
  }

  db::Measurement add(std::int64_t numel, const db::Values& changes, double nanoseconds,
                      db::Stage stage = db::Stage::race) {
    const db::Measurement m = make(problem(numel), with(changes), {nanoseconds, nanoseconds}, stage);
    store.put(m);
    return m;
  }

  void fail(std::int64_t numel, const db::Values& changes, db::Outcome outcome, const std::string& reason) {
    db::Measurement m = make(problem(numel), with(changes), {}, db::Stage::first_look);
    m.outcome = outcome;
    m.reason = reason;
    store.put(m);
  }

  /// Each point of the simt variant's product, whether legal or not; they repeat after the last.
  db::Configuration point(std::int64_t number) const {
    db::Configuration configuration{"relu", "simt", {}};
    for (const db::Parameter& parameter : simt_.parameters) {
      const auto values = static_cast<std::int64_t>(parameter.values.size());
      configuration.parameters[parameter.name] = parameter.values[static_cast<std::size_t>(number % values)];
      number /= values;
    }
    return configuration;
  }

  tools::Report gather(const Words& arguments = {}) {
    tools::Options options("report", "[FAMILY]", "", "");
    tools::add_filter_flags(options);
    tools::add_bounds_flag(options);
    REQUIRE(options.parse(arguments, 0, 1));
    return tools::gather_report(store, tools::Filters(options, store));
  }

  Ended report(Words words, const std::filesystem::path& output) const {
    words.insert(words.begin(), "report");
    words.insert(words.end(), {"-o", output.string(), "--db", file});
    return run_hone(words, folder.path);
  }

  void put_template(const std::string& source_hash = "") {
    db::Template record{"relu", "simt", simt_.source_hash, family_.manifest, simt_.source};
    if (!source_hash.empty()) record.source_hash = db::testing::id_of(source_hash);
    store.put(record);
  }

  TemporaryFolder folder;
  std::string file;
  db::Store store;
  db::Run run;

 private:
  db::Device device_;
  Family family_;
  const Variant& simt_;
  std::int64_t taken_ = 0;
};

/// A sweep over 64 KiB to 64 MiB of traffic, and winners at its points.
void add_sweep(Measured& measured) {
  db::Sweep sweep;
  sweep.run = measured.run.id;
  sweep.family = "relu";
  sweep.element_type = "f16";
  sweep.resolution = 2;
  sweep.swept_us = 10;
  for (std::int64_t numel = 16 * kibi; numel <= 16 * mebi; numel *= 2) {
    const double base = 1000 + static_cast<double>(numel) / 1000;
    const db::Measurement narrow = measured.add(numel, {}, numel < mebi ? base : 1.2 * base);
    const db::Measurement wide = measured.add(numel, {{"store", "nt"}}, numel < mebi ? 1.3 * base : base);
    db::SweepPoint point;
    point.run = measured.run.id;
    point.problem = narrow.problem;
    point.working_set = 4 * numel;
    point.measurements = {narrow.id, wide.id};
    point.taken_us = 10;
    measured.store.put(point);
    sweep.points.push_back(point.id);
    measured.store.put(db::testing::decision(numel < mebi ? narrow : wide, 20));
  }
  measured.store.put(sweep);
}

/// `count` first looks, as many a problem as the problem's share is, with all sorts of noise.
void add_looks(Measured& measured, std::int64_t count, std::int64_t problems) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> noise(0.8, 1.2), slower(1, 8);
  measured.store.transaction([&] {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t numel = (64 * kibi) << (i % problems);
      const double median = slower(random) * (2000 + static_cast<double>(numel) / 1000);
      std::vector<double> samples;
      for (int sample = 0; sample < 5; ++sample) samples.push_back(median * noise(random));
      const db::Measurement m = measured.make(measured.problem(numel), measured.point(i / problems), samples,
                                              db::Stage::first_look);
      measured.store.put(m);
    }
  });
}

std::int64_t integer(const std::string& json, const std::string& path) {
  db::sqlite::Connection connection("", db::sqlite::Mode::memory);
  db::sqlite::Query query(connection, "SELECT CAST(json_extract(?1, ?2) AS INTEGER)");
  query->bind(1, std::string_view(json)).bind(2, std::string_view(path));
  REQUIRE(query->step());
  return query->integer(0);
}

std::string text(const std::string& json, const std::string& path) {
  db::sqlite::Connection connection("", db::sqlite::Mode::memory);
  db::sqlite::Query query(connection, "SELECT CAST(json_extract(?1, ?2) AS TEXT)");
  query->bind(1, std::string_view(json)).bind(2, std::string_view(path));
  REQUIRE(query->step());
  return std::string(query->text(0));
}

/// What packed() wrote, read by the rules that its comment gives.
std::vector<std::int64_t> unpacked(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::int64_t> numbers;
  std::uint64_t bits = 0, number = 0;
  int held = 0, shift = 0;
  for (const char digit : text) {
    bits = bits << 6 | digits.find(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    const std::uint64_t byte = bits >> held & 0xFF;
    number |= (byte & 0x7F) << shift;
    shift += 7;
    if (byte >= 0x80) continue;
    numbers.push_back(static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1));
    number = 0;
    shift = 0;
  }
  return numbers;
}

const std::string attack = "</script><script>window.injected=1</script><img src=x onerror=window.injected=1>";

TEST_CASE("packed numbers are read back") {
  const auto one = [](std::int64_t number) { return tools::packed(std::vector{number}); };
  CHECK(one(0) == "AA");
  CHECK(one(-1) == "AQ");
  CHECK(one(300) == "2AQ");
  CHECK(tools::packed({}).empty());
  rc::prop("whatever they are", [](const std::vector<std::int64_t>& numbers) {
    RC_ASSERT(unpacked(tools::packed(numbers)) == numbers);
  });
}

TEST_CASE("a report has marks of each configuration's newest race and newest first look at a problem") {
  Measured measured;
  measured.add(mebi, {}, 3000);
  measured.add(mebi, {}, 2000, db::Stage::race);
  measured.add(mebi, {}, 100, db::Stage::first_look);
  measured.add(mebi, {{"store", "nt"}}, 2000, db::Stage::first_look);
  measured.add(kibi, {{"store", "nt"}}, 500, db::Stage::first_look);
  measured.store.put(measured.make(measured.problem(mebi, "f32"), measured.with({}), {700, 800, 900, 1000}));
  const tools::Report report = measured.gather();
  CHECK(report.measurements == 6);
  CHECK(report.pairs == 4);
  REQUIRE(report.groups.size() == 2);
  const tools::ReportGroup& f16 = report.groups[0];
  CHECK(f16.element_type == "f16");
  REQUIRE(f16.problems.size() == 2);
  CHECK(f16.problems[0].working_set == 4 * kibi);
  CHECK(f16.problems[1].work == mebi);
  REQUIRE(f16.problems[1].marks.size() == 3);
  std::vector<std::pair<bool, double>> marks;
  for (const tools::ReportMark& mark : f16.problems[1].marks)
    marks.emplace_back(mark.race > 0, mark.statistics.median);
  std::sort(marks.begin(), marks.end());
  CHECK(marks == std::vector<std::pair<bool, double>>{{false, 100}, {false, 2000}, {true, 2000}});
  CHECK(report.groups[1].problems[0].marks[0].statistics.n == 4);
}

TEST_CASE("configurations are numbered by their values, which a report spells once") {
  Measured measured;
  measured.add(mebi, {{"store", "nt"}, {"block", std::int64_t{1024}}}, 1);
  measured.add(mebi, {{"block", std::int64_t{64}}}, 1);
  const tools::Report report = measured.gather();
  REQUIRE(report.families.size() == 1);
  const tools::ReportFamily& family = report.families[0];
  CHECK(family.parameters[0].name == "variant");
  REQUIRE(family.configurations.size() == 2);
  const auto value = [&](std::size_t configuration, const std::string& name) {
    for (std::size_t i = 0; i < family.parameters.size(); ++i)
      if (family.parameters[i].name == name)
        return db::to_string(family.parameters[i].values.at(family.configurations[configuration][i] - 1));
    return std::string("no such parameter");
  };
  CHECK(value(0, "block") == "64");
  CHECK(value(1, "block") == "1024");
  CHECK(value(0, "variant") == "simt");
  CHECK(value(1, "store") == "nt");
}

TEST_CASE("a roofline has the ceilings of operations that were given") {
  Measured measured;
  measured.add(mebi, {}, 3000);
  const auto peaks = [&] { return measured.gather().devices.at(0).work_peaks; };
  CHECK(peaks().empty());
  for (const char* type : {"f16", "f32"})  // nothing of f32 was measured
    CHECK(run_hone({"db", "peak", "Test CPU", "2TFLOP/s", "--dtype", type, "--db", measured.file},
                   measured.folder.path)
              .code == 0);
  CHECK(peaks() == std::map<std::string, double>{{"f16", 2e12}});
  CHECK(text(tools::report_json(measured.gather()), "$.devices[0].work_peaks.f16") == "2000");
  CHECK(run_hone({"db", "peak", "Test CPU", "none", "--dtype", "f16", "--db", measured.file},
                 measured.folder.path)
            .code == 0);
  CHECK(peaks().empty());
}

TEST_CASE("winners, bands and ladders of a report are the database's") {
  Measured measured;
  add_sweep(measured);
  measured.next_run();
  measured.add(mebi, {}, 2000);
  measured.add(mebi, {{"store", "nt"}}, 1000);
  const tools::Report report = measured.gather();
  REQUIRE(report.groups.size() == 1);
  const tools::ReportGroup& group = report.groups[0];
  CHECK(group.problems.size() == 11);
  for (const tools::ReportProblem& problem : group.problems) CHECK(problem.winners.size() == 1);
  const std::vector<db::Band> bands = measured.store.bands({});
  REQUIRE(group.bands.size() == bands.size());
  CHECK(bands.size() == 2);
  CHECK(group.bands[0].band.hi == group.bands[1].band.lo);
  CHECK(group.bands[0].configuration == group.problems.front().winners[0].mark.configuration);
  CHECK(group.bands[1].configuration == group.problems.back().winners[0].mark.configuration);

  const tools::ReportFamily& family = report.families[0];
  const auto& at_mebi = group.problems[6];
  REQUIRE(at_mebi.working_set == 4 * mebi);
  REQUIRE(at_mebi.ladder.size() == family.ladder.size());
  std::map<std::string, double> ladder;
  for (std::size_t i = 0; i < family.ladder.size(); ++i)
    if (at_mebi.ladder[i]) ladder[family.ladder[i]] = at_mebi.ladder[i]->statistics.median;
  CHECK(ladder.at("16-byte accesses") == 2000);
  CHECK(ladder.at("streaming stores") == 1000);
  CHECK(group.problems[0].ladder.empty());  // a sweep's race is no ladder's
  REQUIRE(report.runs.size() == 2);
  CHECK(report.runs[0].measurements == 2);
  CHECK(report.runs[1].measurements == 22);
}

TEST_CASE("failures are counted by kind, the most frequent first") {
  Measured measured;
  measured.add(mebi, {}, 1000);
  measured.fail(mebi, {{"block", std::int64_t{64}}}, db::Outcome::wrong_result, "element 3");
  for (const std::int64_t block : {64, 128, 256})
    measured.fail(kibi, {{"block", block}}, db::Outcome::crashed, "signal 11");
  measured.fail(kibi, {{"block", std::int64_t{512}}}, db::Outcome::pruned, "too many registers");
  const tools::Report report = measured.gather();
  CHECK(report.pruned == 1);
  REQUIRE(report.failures.size() == 2);
  CHECK(report.failures[0].count == 3);
  CHECK(report.failures[0].outcome == db::Outcome::crashed);
  CHECK_THAT(report.failures[0].example, Contains("numel=1024") && Contains("block=64"));
  CHECK(report.failures[1].reason == "element 3");
}

TEST_CASE("measurements of sources that have changed are counted and left out") {
  Measured measured;
  measured.add(mebi, {}, 1000);
  measured.fail(mebi, {{"block", std::int64_t{64}}}, db::Outcome::crashed, "signal 11");
  measured.put_template("another source");
  const tools::Report report = measured.gather();
  CHECK(report.measurements == 2);
  CHECK(report.older == 2);
  CHECK(report.groups.empty());
  CHECK(report.failures.empty());
}

TEST_CASE("a family whose stored manifest cannot be read is told and left out") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path / "a.db", page = folder.path / "report.html";
  db::Store store = db::Store::open(file, db::Access::create);
  db::testing::populate(store);
  const Ended ended = run_hone({"report", "-o", page, "--db", file}, folder.path);
  CHECK(ended.code == 0);
  CHECK(ended.error_lines() == 1);
  CHECK_THAT(ended.notes(), Contains("left out: relu"));
  CHECK_THAT(read_file(page), Contains("\"unreadable\":[\"relu: ") && Contains("Other CPU"));
}

TEST_CASE("filters choose what a report holds") {
  Measured measured;
  measured.add(mebi, {}, 1000);
  measured.next_run("hone tune relu --dtype f32");
  measured.store.put(measured.make(measured.problem(mebi, "f32"), measured.with({}), {1000}));
  CHECK(measured.gather({"relu"}).pairs == 2);
  CHECK_THROWS_WITH(measured.gather({"copy"}), Contains("family `copy` was never tuned here"));
  const tools::Report f32 = measured.gather({"--dtype", "f32"});
  REQUIRE(f32.groups.size() == 1);
  CHECK(f32.groups[0].element_type == "f32");
  REQUIRE(f32.runs.size() == 1);
  CHECK(f32.runs[0].run.command == "hone tune relu --dtype f32");
  CHECK(measured.gather({"--regime", "cold"}).measurements == 0);
  CHECK(measured.gather({"--shape", "numel=1:1024"}).measurements == 0);
  CHECK(measured.gather({"--device", "test"}).pairs == 2);
  CHECK(measured.gather({"--run", measured.run.id.hex()}).pairs == 1);
  CHECK(measured.gather({"--since", "1h"}).measurements == 0);
}

TEST_CASE("whatever a database holds stays text") {
  Measured measured("CPU " + attack, "hone tune '" + attack + "' & \xff \xe2\x80\xa8");
  measured.add(mebi, {{"store", attack}}, 1000);
  measured.fail(mebi, {}, db::Outcome::crashed, "<!--<script>" + attack);
  const tools::Report report = measured.gather();
  const std::string json = tools::report_json(report);
  CHECK(json.find_first_of("<>&") == std::string::npos);
  CHECK(text(json, "$.devices[0].name") == "CPU " + attack);
  CHECK_THAT(text(json, "$.runs[0].command"), Contains(attack) && Contains("\xef\xbf\xbd"));
  CHECK(text(json, "$.failures[0].reason") == "<!--<script>" + attack);
  CHECK(text(json, "$.families[0].parameters[5].values[3]") == attack);
  CHECK(tools::report_page(report).find(attack) == std::string::npos);
}

TEST_CASE("the figures of a report are the measured ones") {
  Measured measured;
  measured.add(mebi, {}, 5);
  measured.store.put(measured.make(measured.problem(mebi), measured.with({{"store", "nt"}}),
                                   {12345.67, 12000, 13000, 12345.67, 14000, 12345.67, 11000}));
  const std::string json = tools::report_json(measured.gather());
  CHECK(integer(json, "$.version") == 1);
  CHECK(integer(json, "$.groups[0].problems[0].marks") == 2);
  const auto column = [&](const std::string& name) {
    return unpacked(text(json, "$.groups[0].marks." + name));
  };
  CHECK(column("n") == std::vector<std::int64_t>{2, 7});
  CHECK(column("median") == std::vector<std::int64_t>{500, 1234567});
  CHECK(column("minimum") == std::vector<std::int64_t>{0, 1090});
  CHECK(column("q1") == std::vector<std::int64_t>{0, 280});
  CHECK(column("q3") == std::vector<std::int64_t>{0, 530});
  CHECK(column("configuration") == std::vector<std::int64_t>{0, 1});
  CHECK(column("race") == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("a page is one file with Chart.js and its licence, and a measurement adds few bytes to it") {
  Measured measured;
  measured.add(kibi, {}, 1000);
  const std::string page = tools::report_page(measured.gather());
  CHECK_THAT(page, Contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'"));
  CHECK_THAT(page, Contains("Chart.js v3") && Contains("Permission is hereby granted"));
  CHECK(page.find("src=") == std::string::npos);
  constexpr std::int64_t more = 5000;
  add_looks(measured, more, 6);
  const tools::Report report = measured.gather();
  CHECK(report.pairs == more + 1);
  const std::size_t added = tools::report_page(report).size() - page.size();
  INFO(page.size() << " and " << added);
  CHECK(page.size() + 10 * added < 2'000'000);
}

TEST_CASE("hone report writes the page or says in one line why not") {
  Measured measured;
  const std::filesystem::path page = measured.folder.path / "report.html";
  const auto refused = [&](const Ended& ended, int code, const std::string& told) {
    INFO(ended.out << ended.err);
    CHECK(ended.code == code);
    CHECK(ended.error_lines() == 1);
    CHECK_THAT(ended.notes(), Contains(told));
  };
  const std::string kept = "<!DOCTYPE html>kept";
  write_file(page, kept);
  refused(measured.report({}, page), 1, "no measurement matches");
  CHECK(read_file(page) == kept);
  measured.add(mebi, {}, 1000);
  refused(measured.report({"--dtype", "f32"}, page), 1, "no measurement matches");
  refused(measured.report({"--device", "H200"}, page), 2, "no device `H200`");
  refused(measured.report({}, measured.folder.path / "none" / "report.html"), 3, "there is no folder");
  refused(measured.report({}, measured.folder.path), 3, "not a regular file");
  refused(measured.report({}, "/dev/null"), 3, "not a regular file");
  refused(run_hone({"report", "-o", page, "--db", measured.folder.path / "none.db"}, measured.folder.path), 3,
          "none.db");
  CHECK(read_file(page) == kept);
  const std::string database = read_file(measured.file);
  refused(measured.report({}, measured.file), 2, "is no page of a report");
  CHECK(read_file(measured.file) == database);
  const Ended written = measured.report({"relu"}, page);
  INFO(written.err);
  CHECK(written.code == 0);
  CHECK_THAT(written.out, Contains("measurements: 1, "));
  CHECK_THAT(read_file(page), Contains("<!DOCTYPE html>") && Contains("hone/report"));
  for (const auto& entry : std::filesystem::directory_iterator(measured.folder.path))
    CHECK(entry.path().extension() != ".part");
}

TEST_CASE("a page that cannot be written whole leaves the one before") {
  const TemporaryFolder folder;
  const std::filesystem::path page = folder.path / "report.html";
  write_file(page, "<!DOCTYPE html>the one before");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto signal_before = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string told;
  try {
    tools::PageFile(page).publish(std::string(100'000, 'x'));
  } catch (const Error& error) {
    told = error.what();
    CHECK(error.code() == ErrorCode::environment);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, signal_before);
  CHECK_THAT(told, Contains("report.html") && Contains("cannot be written"));
  CHECK(read_file(page) == "<!DOCTYPE html>the one before");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
  tools::PageFile(page).publish("new");
  CHECK(read_file(page) == "new");
}

/// Opens the page in Chromium, where there is one; screenshots stay in the build folder.
void check_in_browser(const std::filesystem::path& page, const std::string& name, const std::string& counts) {
  const std::filesystem::path screenshots = std::filesystem::path(HONE_BINARY_DIR) / "report" / name;
  const std::filesystem::path told = page.string() + ".told";
  std::filesystem::create_directories(screenshots);
  // Debian's own Python, which Debian's Selenium is for.
  const std::string command = "/usr/bin/python3 " HONE_SOURCE_DIR "/tests/tools/report_in_browser.py " +
                              page.string() + ' ' + screenshots.string() + ' ' + counts + " >" +
                              told.string() + " 2>&1";
  const int status = std::system(command.c_str());
  const std::string output = read_file(told);
  constexpr int skipped = 77;
  if (WIFEXITED(status) && WEXITSTATUS(status) == skipped) {
    WARN("NOT TESTED in a browser: " << output);
    return;
  }
  INFO(output);
  CHECK(status == 0);
}

TEST_CASE("50,000 measurements with hostile texts make under 2 MB, which Chromium draws", "[long]") {
  Measured measured("CPU " + attack, "hone tune '" + attack + '\'');
  add_sweep(measured);
  add_looks(measured, 50'000, 6);
  measured.fail(mebi, {}, db::Outcome::crashed, "<b>signal</b> " + attack);
  measured.store.put_peak({measured.run.device, "memory", 40'000'000'000});
  measured.store.put_peak({measured.run.device, "work f16", 2'000'000'000'000});
  const std::filesystem::path page = measured.folder.path / "report.html";
  const Ended written = measured.report({}, page);
  INFO(written.err);
  REQUIRE(written.code == 0);
  CHECK(std::filesystem::file_size(page) < 2'000'000);
  const tools::Report report = measured.gather();
  CHECK(report.measurements == 50'023);
  std::int64_t races = 0, looks = 0;
  for (const tools::ReportProblem& problem : report.groups.at(0).problems)
    for (const tools::ReportMark& mark : problem.marks) (mark.race > 0 ? races : looks)++;
  CHECK(races == 22);
  check_in_browser(page, "generated",
                   "winners=11 bands=11 peak=2 ceiling=2 workf16=2 series0=11 races=" +
                       std::to_string(races) + " looks=" + std::to_string(looks));
}

TEST_CASE("a page without a winner opens in Chromium, and shows what there is", "[long]") {
  Measured measured("CPU", "hone tune relu");
  add_looks(measured, 60, 2);
  measured.fail(mebi, {}, db::Outcome::crashed, "signal 11");
  const std::filesystem::path page = measured.folder.path / "report.html";
  const Ended written = measured.report({}, page);
  INFO(written.err);
  REQUIRE(written.code == 0);
  check_in_browser(page, "no-winner", "winners=0 bands=0 races=0 looks=60");
}

TEST_CASE("what was tuned here opens in Chromium", "[long]") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const Ended tuned = run_hone({"tune", "relu", "--device", "host", "--dtype", "f32", "--sweep",
                                "64KiB:512KiB", "--budget", "24", "--quiet", "--db", database},
                               folder.path);
  INFO(tuned.out << tuned.err);
  REQUIRE(tuned.code == 0);
  const std::filesystem::path page = folder.path / "report.html";
  const Ended written = run_hone({"report", "--output", page.string(), "--db", database}, folder.path);
  INFO(written.err);
  REQUIRE(written.code == 0);
  check_in_browser(page, "tuned", "");
}

}  // namespace
}  // namespace hone::test
