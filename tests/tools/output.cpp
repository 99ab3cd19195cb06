// Tables, JSON, units and the progress line.
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "hone/error.hpp"
#include "runtime/bytes.hpp"
#include "tools/json.hpp"
#include "tools/progress.hpp"
#include "tools/table.hpp"
#include "tools/units.hpp"

namespace hone::tools {
namespace {

using Catch::Matchers::Contains;

Table sample() {
  Table table("samples", {{"device", "device", Unit::none, true},
                          {"shape", "shape"},
                          {"median_ns", "median", Unit::nanoseconds},
                          {"configuration", "configuration", Unit::none, false, true},
                          {"run", ""}});
  table.add({{"device", std::string("A")},
             {"shape", std::string("n=1024")},
             {"median_ns", 1500.0},
             {"configuration", std::string("simt block=256")},
             {"run", std::string("x,\"y\"")}});
  table.add({{"device", std::string("A")},
             {"shape", std::string("n=64")},
             {"median_ns", 12.5},
             {"configuration", std::string("simt block=64 vector=16")}});
  return table;
}

TEST_CASE("a table for people aligns, lifts what is the same and hides the rest") {
  CHECK(sample().text({}, 80, false) ==
        "device: A\n"
        "shape    median  configuration\n"
        "n=1024  1.50 us  simt block=256\n"
        "n=64    12.5 ns  simt block=64 vector=16\n");
}

TEST_CASE("a table too wide for the terminal gives its widest texts lines of their own") {
  const std::string text = sample().text({}, 30, false);
  CHECK(text ==
        "device: A\n"
        "shape    median\n"
        "n=1024  1.50 us\n"
        "    simt block=256\n"
        "n=64    12.5 ns\n"
        "    simt block=64 vector=16\n");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 30);
}

TEST_CASE("a long text wraps within its column where that stays readable") {
  Table table("reasons", {{"rung", "rung"}, {"why", "why", Unit::none, false, true}});
  table.add({{"rung", std::string("exact")},
             {"why", std::string("a text of several words that is longer than the terminal is wide")}});
  table.add({{"rung", std::string("none")}, {"why", std::string("short")}});
  CHECK(table.text({}, 50, false) ==
        "rung   why\n"
        "exact  a text of several words that is longer than\n"
        "       the terminal is wide\n"
        "none   short\n");
}

TEST_CASE("JSON has every column, plain numbers and null for what is absent") {
  TableStyle style;
  style.format = TableStyle::Format::json;
  CHECK(sample().text(style, 80, false) ==
        "{\"format\": \"hone/samples\", \"version\": 1, \"rows\": [\n"
        "  {\"device\": \"A\", \"shape\": \"n=1024\", \"median_ns\": 1500, \"configuration\": \"simt "
        "block=256\", "
        "\"run\": \"x,\\\"y\\\"\"},\n"
        "  {\"device\": \"A\", \"shape\": \"n=64\", \"median_ns\": 12.5, \"configuration\": \"simt block=64 "
        "vector=16\", \"run\": null}\n]}\n");
  CHECK(Table("none", {{"a", "a"}}).text(style, 80, false) ==
        "{\"format\": \"hone/none\", \"version\": 1, \"rows\": []}\n");
}

TEST_CASE("CSV quotes what needs it") {
  TableStyle style;
  style.format = TableStyle::Format::csv;
  style.columns = {"run", "median_ns"};
  CHECK(sample().text(style, 80, false) == "run,median_ns\n\"x,\"\"y\"\"\",1500\n,12.5\n");
}

TEST_CASE("rows are sorted as people expect and cut") {
  TableStyle style;
  style.format = TableStyle::Format::csv;
  style.columns = {"shape"};
  style.sort = "shape";
  CHECK(sample().text(style, 80, false) == "shape\nn=64\nn=1024\n");
  style.descending = true;
  style.limit = 1;
  CHECK(sample().text(style, 80, false) == "shape\nn=1024\n");
  style.sort = "run";
  style.limit.reset();
  CHECK(sample().text(style, 80, false) == "shape\nn=1024\nn=64\n");  // the absent one is last either way
  style.sort = "shap";
  CHECK_THROWS_WITH(sample().text(style, 80, false), Contains("`shape`"));
  style.sort.clear();
  style.columns = {"medium"};
  CHECK_THROWS_AS(sample().text(style, 80, false), Error);
}

TEST_CASE("JSON strings are escaped") {
  CHECK(json_string("a\"b\\c\n\t\x01") == "\"a\\\"b\\\\c\\n\\t\\u0001\"");
  CHECK(json_string("µ…") == "\"µ…\"");
  CHECK(json_string("\xff\xc0\xaf") == "\"\\ufffd\\ufffd\\ufffd\"");
  CHECK(json_string("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");  // a lone surrogate
  CHECK(json_string("\xe2\x82") == "\"\\ufffd\\ufffd\"");             // cut short
  CHECK(json_number(0.1) == "0.1");
  CHECK(json_number(1.0 / 0.0) == "null");
  rc::prop("no raw control characters or quotes", [](const std::string& text) {
    const std::string json = json_string(text);
    for (std::size_t i = 1; i + 1 < json.size(); ++i) {
      RC_ASSERT(static_cast<unsigned char>(json[i]) >= 0x20);
      if (json[i] == '\\') {
        ++i;
      } else {
        RC_ASSERT(json[i] != '"');
      }
    }
  });
}

TEST_CASE("numbers carry their units") {
  CHECK(bytes_text(512) == "512 B");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(67108864) == "64 MiB");
  CHECK(nanoseconds_text(840) == "840.0 ns");
  CHECK(nanoseconds_text(12345) == "12.35 us");
  CHECK(nanoseconds_text(2.5e9) == "2.50 s");
  CHECK(nanoseconds_text(999.96) == "1.00 us");
  CHECK(clock_text(7) == "0:07");
  CHECK(clock_text(3723) == "1:02:03");
  CHECK(duration_text(200) == "3 m 20 s");
}

TEST_CASE("the progress line tells and fits") {
  const tuner::Progress progress{"relu f16 numel=1048576", "look", 25, 100, 2, "simt block=256 12.3 us"};
  const std::string text = progress_text(progress, 5, 200, false);
  CHECK(
      text ==
      " 25 % 25/100  5.00/s  0:15 left  2 failed  look  relu f16 numel=1048576  best simt block=256 12.3 us");
  CHECK(progress_text(progress, 5, 20, false) == " 25 % 25/100  5.00/…");
  CHECK(progress_text({}, 0, 80, false) == "  0 % 0/0");
}

}  // namespace
}  // namespace hone::tools
