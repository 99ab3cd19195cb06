// Records as text and back, to the last bit; and what is not as it must be is refused by file, line and
// column.
#include "db/text_format.hpp"

#include <fmt/format.h>
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <functional>
#include <set>

#include "contents.hpp"
#include "db/base64.hpp"
#include "db/utf8.hpp"
#include "sample_database.hpp"

namespace hone::db {
namespace {

using namespace testing;
using Catch::Matchers::Contains;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

/// With texts and numbers that are hard to write down.
void write_hard(const std::filesystem::path& file) {
  Store store = Store::open(file, Access::create);
  populate(store);
  store.put(Environment{{{"base64", "a, \"b\"\r\n\t\x01"}, {"not UTF-8", "\xff\xfe"}}});
  store.put(Configuration{"relu", "simt", {{"text", std::string("a,b \"c\"\n")}, {"number", INT64_MIN}}});
  store.put(Problem{"relu", "f16", "", {{"z", 1}, {"a", INT64_MAX}}});
  const Template simt = source("simt", std::string("nul \0 and \xc3\x28 and ,\"", 20));
  store.put(simt);
  const Run of = run();
  prepare(store, of);
  Measurement m =
      measurement(of, problem(), configuration(), simt.source_hash,
                  {0.1 + 0.2, 5e-324, 1.7976931348623157e308, 1.0 / 3, 1e22, 123456789012345680.0});
  m.reason = "\"quotes\", a comma,\r\nlines and \xf0\x9f\x98\x80";
  m.build_key = {};
  store.put(m);
  Measurement zero = measurement(of, problem(), configuration(), simt.source_hash, {-0.0, 1});
  zero.statistics.minimum = 0;
  store.put(zero);
}

TEST_CASE("JSON Lines and CSV make the same database again, to the last bit") {
  Folder folder;
  const auto original = folder.file("a.db");
  write_hard(original);
  const std::string all = everything(original);
  for (const auto& [format, name] :
       {std::pair{TextFormat::json_lines, "a.jsonl"}, std::pair{TextFormat::csv, "a.csv"}}) {
    INFO(name);
    const auto text = folder.file(name), copy = folder.file(std::string(name) + ".db");
    const std::int64_t rows = export_records(original, format, text);
    CHECK((everything(original) == all));
    const ImportReport report = import_records({text}, copy);
    CHECK(report.rows == rows);
    CHECK(report.added == rows);
    CHECK((everything(copy) == all));
    CHECK(Store::open(copy, Access::read_only).check().faults == std::vector<std::string>{});
    // Again it adds nothing, and what is exported of the copy is the same text.
    CHECK(import_records({text, text}, copy).added == 0);
    CHECK((everything(copy) == all));
    if (format == TextFormat::json_lines) {
      export_records(copy, format, folder.file("again.jsonl"));
      CHECK((text_of(text) == text_of(folder.file("again.jsonl"))));
      CHECK(is_utf8(text_of(text)));
    }
  }
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.insert(entry.path().filename().string());
  CHECK(names == std::set<std::string>{"a.csv", "a.csv.db", "a.db", "a.jsonl", "a.jsonl.db", "again.jsonl"});
}

TEST_CASE("an import adds to what there is, and packs are exported too") {
  Folder folder;
  const auto a = folder.file("a.db"), b = folder.file("b.db");
  populate(*std::make_unique<Store>(Store::open(a, Access::create)));
  populate(*std::make_unique<Store>(Store::open(b, Access::create)));
  export_records(a, TextFormat::json_lines, folder.file("a.jsonl"));
  import_records({folder.file("a.jsonl")}, b);
  Store::merge({a, b}, folder.file("merged.db"));
  const auto recorded = [&](const char* name) {
    std::string text;
    sqlite::Connection connection(folder.file(name), sqlite::Mode::read_only);
    for (const Table* table : {&tables::measurement, &tables::decision, &tables::winner, &tables::band})
      text += contents_of(connection, *table);
    return text;
  };
  CHECK((recorded("b.db") == recorded("merged.db")));

  Store::open(a, Access::read_only).pack({device().id()}, folder.file("a.hone"));
  CHECK(export_records(folder.file("a.hone"), TextFormat::json_lines, folder.file("pack.jsonl")) > 100);
  CHECK(import_records({folder.file("pack.jsonl")}, a).added == 0);
}

/// A small database as lines, of which one is changed.
class Changed {
 public:
  Changed() {
    Store store = Store::open(folder_.file("a.db"), Access::create);
    const Run of = run();
    prepare(store, of);
    const Template simt = source("simt", "kernel");
    store.put(simt);
    decide(store, of, problem(), configuration(), simt.source_hash, 100);
    export_records(folder_.file("a.db"), TextFormat::json_lines, folder_.file("a.jsonl"));
    export_records(folder_.file("a.db"), TextFormat::csv, folder_.file("csv"));
  }

  /// The line that importing gives once `from` has become `to` in the first line that has it.
  std::string refusal(const std::string& from, const std::string& to) {
    const std::string text = text_of(folder_.file("a.jsonl"));
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    line_ = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
    write(folder_.file("b.jsonl"), text.substr(0, at) + to + text.substr(at + from.size()));
    return refused(folder_.file("b.jsonl"));
  }

  std::string refusal_of_csv(const std::string& table, const std::string& from, const std::string& to) {
    std::filesystem::remove_all(folder_.file("changed"));
    std::filesystem::copy(folder_.file("csv"), folder_.file("changed"));
    const auto file = folder_.file("changed") / (table + ".csv");
    const std::string text = text_of(file);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    write(file, text.substr(0, at) + to + text.substr(at + from.size()));
    return refused(folder_.file("changed"));
  }

  std::string refused(const std::filesystem::path& file) {
    std::string line;
    try {
      import_records({file}, folder_.file("b.db"));
    } catch (const Error& error) {
      CHECK(error.kind() == Error::Kind::invalid);
      line = error.what();
    }
    CHECK(line.find('\n') == std::string::npos);
    CHECK_THAT(line, Contains(file.string()));
    CHECK_FALSE(std::filesystem::exists(folder_.file("b.db")));
    return line;
  }

  std::int64_t line() const { return line_; }
  std::filesystem::path file(const std::string& name) const { return folder_.file(name); }

 private:
  Folder folder_;
  std::int64_t line_ = 0;
};

TEST_CASE("JSON Lines that are not valid are refused by file, line and column") {
  Changed lines;
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& told) {
    INFO(from << " -> " << to);
    const std::string line = lines.refusal(from, to);
    CHECK_THAT(line, Contains(told));
    CHECK_THAT(line, Contains(fmt::format("b.jsonl:{}: ", lines.line())));
  };
  refused("\"version\":1", "\"version\":2", "hone/records of version 1");
  refused("\"schema\":", "\"schema\":1", "schema: is not");
  refused("{\"table\":\"device\"", "{\"table\":\"devise\"", "there is none `devise`");
  refused("{\"table\":\"device\"", "{\"table\":\"winner\"", "there is none `winner`");
  refused("{\"table\":\"device\"", "{\"table\":7", "table: is missing or no text");
  refused("{\"table\":\"device\"", "{\"table\":\"device\",", "is not JSON");
  refused("\"compute_units\":2", "\"compute_units\":\"2\"", "device.compute_units: is not an integer");
  refused("\"compute_units\":2", "\"compute_units\":9223372036854775808", "device.compute_units");
  refused("\"compute_units\":2", "\"compute_units\":2.5", "device.compute_units");
  refused("\"compute_units\":2", "\"compute_units\":3",
          "device: the id of a device is not that of its content");
  refused("\"compute_units\":2", "\"units\":2", "device: has no column `units`");
  refused("\"compute_units\":2,", "", "device.compute_units: is missing");
  refused("\"backend\":\"host\"", "\"backend\":[\"host\"]", "device.backend");
  refused("\"backend\":\"host\"", "\"backend\":[\"base64\",\"?\"]", "device.backend: is not base64");
  refused("\"items\":{", "\"items\":{\"a\":1,", "environment.items: `a` is not a text");
  refused("\"items\":{", "\"items\":{\"z\":\"\",", "environment.items: `compiler` is not in the order");
  refused("\"dimensions\":{\"numel\":1024}", "\"dimensions\":{\"numel\":\"x\"}",
          "problem.dimensions: `numel`");
  refused("\"dimensions\":{\"numel\":1024}", "\"dimensions\":{\"numel\":1023}", "problem: the id");
  refused("\"seed\":-5", "\"seed\":null", "run.seed");
  refused("\"regime\":\"steady\"", "\"regime\":\"hot\"", "measurement.regime: `hot` is none of its words");
  refused("\"regime\":\"steady\"", "\"regime\":\"a\\nb\"", "measurement.regime: `a b` is none of its words");
  refused("\"outcome\":\"ok\"", "\"outcome\":\"fine\"", "measurement.outcome: `fine`");
  refused("\"alignment\":16", "\"alignment\":-16", "a measurement's alignment is not above zero");
  refused("\"median\":", "\"median\":1e999,\"median\":", "is not JSON");
  refused("\"median\":", "\"median\":1", "quartiles are out of order");
  refused("\"samples\":[", "\"samples\":[1,", "n is not the number of its samples");
  refused("\"samples\":[10.5", "\"samples\":[1", "the minimum is not that of its samples");
  refused("\"samples\":[10.5", "\"samples\":[\"1\"", "measurement.samples");
  refused("\"samples\":[", "\"samples\":7,\"x\":[", "measurement: has no column `x`");
  refused("\"tied\":[\"", "\"tied\":[\"0", "decision.tied: `0");
  refused("\"chosen\":\"", "\"chosen\":\"ffffffffffffffffffffffffffffffff\",\"x\":\"",
          "decision: has no column `x`");
  // Whatever the id there was.
  const std::string text = text_of(lines.file("a.jsonl"));
  const std::string chosen = text.substr(text.find("\"chosen\":"), 43);
  refused(chosen, "\"chosen\":\"" + std::string(32, 'f') + "\"",
          "decision.chosen: there is no such measurement before it");
  // All lines are right, but not together.
  CHECK_THAT(lines.refusal("\"outcome\":\"ok\"", "\"outcome\":\"raced_out\""),
             Contains("do not fit together") && Contains("decision"));
  CHECK_THAT(lines.refused(lines.file("none.jsonl")), Contains("cannot be read"));
  write(lines.file("empty.jsonl"), "");
  CHECK_THAT(lines.refused(lines.file("empty.jsonl")), Contains(":1: "));
  write(lines.file("deep.jsonl"), std::string(1'000'000, '['));
  CHECK_THAT(lines.refused(lines.file("deep.jsonl")), Contains("is not JSON"));
}

TEST_CASE("CSV that is not valid is refused by file, line and column") {
  Changed csv;
  const auto refused = [&](const std::string& table, const std::string& from, const std::string& to,
                           const std::string& told) {
    INFO(table << ": " << from << " -> " << to);
    CHECK_THAT(csv.refusal_of_csv(table, from, to), Contains(table + ".csv:") && Contains(told));
  };
  refused("device", "compute_units", "units", "device.csv:1: device: the column `compute_units` is missing");
  refused("device", "compute_units,", "compute_units,x,", "other columns");
  refused("device", ",2,", ",two,", "device.csv:2: device.compute_units: `two` is not an integer of 64 bits");
  refused("device", ",2,", ",2 ,", "device.compute_units");
  refused("device", ",2,", ",", "has 7 fields, not 8");
  refused("device", "host", "\"host", "ends within quotes");
  refused("device", "host", "ho\"st", "quotes within a field");
  refused("measurement", ",9.25,", ",nan,", "measurement.minimum");
  refused("measurement", "10.5 9.25", "10.5 9,25", "fields");
  refused("problem", "{\"\"numel\"\":1024}", "{\"\"numel\"\": 1024}", "problem.dimensions");
  std::filesystem::remove(csv.file("csv") / "run.csv");
  CHECK_THAT(csv.refused(csv.file("csv")), Contains("run.csv: cannot be read"));
}

TEST_CASE("what exists is not written over, and what fails leaves nothing") {
  Folder folder;
  const auto a = folder.file("a.db");
  populate(*std::make_unique<Store>(Store::open(a, Access::create)));
  write(folder.file("there"), "mine");
  CHECK_THROWS_WITH(export_records(a, TextFormat::json_lines, folder.file("there")),
                    Contains("exists already"));
  CHECK(text_of(folder.file("there")) == "mine");
  CHECK_THROWS_WITH(export_records(folder.file("none.db"), TextFormat::csv, folder.file("out")),
                    Contains("none.db"));
  CHECK_FALSE(std::filesystem::exists(folder.file("out")));
}

TEST_CASE("base64 is read back, and only in the one way it is written") {
  rc::prop("any bytes", [](const std::vector<std::uint8_t>& bytes) {
    const auto given = std::as_bytes(std::span(bytes));
    const auto read = parse_base64(base64(given));
    RC_ASSERT(read.has_value());
    RC_ASSERT(std::equal(read->begin(), read->end(), given.begin(), given.end()));
  });
  CHECK(base64(std::as_bytes(std::span("Man", 3))) == "TWFu");
  CHECK(base64(std::as_bytes(std::span("M", 1))) == "TQ==");
  for (const char* wrong : {"TQ=", "TQ", "TR==", "T===", "====", "TQ==TQ==", "T Q=", "TWF\xc3"})
    CHECK_FALSE(parse_base64(wrong).has_value());
}

}  // namespace
}  // namespace hone::db
