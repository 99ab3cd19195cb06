// Tables, JSON, units and the progress line.
#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <sstream>

#include "hone/error.hpp"
#include "runtime/bytes.hpp"
#include "tools/json.hpp"
#include "tools/layout.hpp"
#include "tools/progress.hpp"
#include "tools/table.hpp"
#include "tools/text.hpp"
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

TEST_CASE("what is marked is coloured on a terminal, and takes no more room") {
  Table table("marks", {{"change", "change"}, {"median_ns", "median", Unit::nanoseconds}});
  table.add({{"change", std::string("slower")}, {"median_ns", 12.5}}, {{"change", Mark::bad}});
  table.add({{"change", std::string("same")}, {"median_ns", 1500.0}},
            {{"change", Mark::none}, {"median_ns", Mark::best}});
  CHECK(table.text({}, 80, false) ==
        "change   median\n"
        "slower  12.5 ns\n"
        "same    1.50 us\n");
  CHECK(table.text({}, 80, true) ==
        "\x1b[1mchange\x1b[0m   \x1b[1mmedian\x1b[0m\n"
        "\x1b[31mslower\x1b[0m  12.5 ns\n"
        "same    \x1b[1;32m1.50 us\x1b[0m\n");
  TableStyle json;
  json.format = TableStyle::Format::json;
  CHECK_THAT(table.text(json, 80, true), !Contains("\x1b"));
}

TEST_CASE("a text that does not tell what it is keeps its title below its row") {
  Table table("failures", {{"outcome", "outcome"}, {"reason", "reason", Unit::none, false, true, true}});
  table.add({{"outcome", std::string("crashed")}, {"reason", std::string("signal 11 in the kernel")}});
  CHECK(table.text({}, 30, false) ==
        "outcome\n"
        "crashed\n"
        "    reason: signal 11 in the\n"
        "    kernel\n");
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

TEST_CASE("what rows next to each other share becomes a heading where a table is too wide") {
  Table table("points", {{"shape", "shape", Unit::none, true},
                         {"run", "run", Unit::id, true},
                         {"point", "point"},
                         {"times", "x baseline"},
                         {"gb_per_s", "GB/s"}});
  const std::string run(32, 'a');
  for (const char* shape : {"numel=64", "numel=1024"}) {
    for (const char* point : {"plain", "wide accesses, block and unroll swept"})
      table.add({{"shape", std::string(shape)},
                 {"run", run},
                 {"point", std::string(point)},
                 {"times", 1.5},
                 {"gb_per_s", 4000.0}});
  }
  CHECK(table.text({}, 80, false) ==
        "run: aaaaaaaa\n"
        "shape       point                                  x baseline  GB/s\n"
        "numel=64    plain                                        1.50  4000\n"
        "numel=64    wide accesses, block and unroll swept        1.50  4000\n"
        "numel=1024  plain                                        1.50  4000\n"
        "numel=1024  wide accesses, block and unroll swept        1.50  4000\n");
  CHECK(table.text({}, 40, false) ==
        "run: aaaaaaaa\n"
        "point                   x baseline  GB/s\n"
        "\n"
        "shape: numel=64\n"
        "plain                         1.50  4000\n"
        "wide accesses, block          1.50  4000\n"
        "  and unroll swept\n"
        "\n"
        "shape: numel=1024\n"
        "plain                         1.50  4000\n"
        "wide accesses, block          1.50  4000\n"
        "  and unroll swept\n");
}

TEST_CASE("the last columns go below their rows where nothing else makes a table fit") {
  Table table("numbers",
              {{"first", "first"}, {"second", "second"}, {"third", "third"}, {"fourth", "fourth"}});
  table.add({{"first", 1000001.0}, {"second", 1000002.0}, {"third", 1000003.0}, {"fourth", 1000004.0}});
  CHECK(table.text({}, 20, false) ==
        "  first   second\n"
        "1000001  1000002\n"
        "    third: 1000003,\n"
        "    fourth: 1000004\n");
  TableStyle wide;
  wide.wide = true;
  CHECK(table.text(wide, width_for_people(wide), false) ==
        "  first   second    third   fourth\n"
        "1000001  1000002  1000003  1000004\n");
}

TEST_CASE("texts are broken at spaces, and words that are too long behind their marks") {
  using Lines = std::vector<std::string>;
  CHECK(wrapped("", 5) == Lines{""});
  CHECK(wrapped("a text of words", 6) == Lines{"a text", "of", "words"});
  CHECK(wrapped("M=4096,N=1024 x", 8) == Lines{"M=4096,", "N=1024 x"});
  CHECK(wrapped("abcdefgh", 3) == Lines{"abc", "def", "gh"});
  CHECK(wrapped("µµµµ", 2) == Lines{"µµ", "µµ"});
  CHECK(wrapped("see `a b c` now", 9) == Lines{"see", "`a b c`", "now"});
  CHECK(wrapped("see `a long one`", 9) == Lines{"see `a", "long one`"});
  CHECK(wrapped("an odd ` one", 8) == Lines{"an odd `", "one"});
  CHECK(folded("short\na text of several words", 14) == "short\na text of\n  several\n  words");
  CHECK(folded("hone a b c d", 10, " +") == "hone a +\n  b c d");
  CHECK(folded(" kept  as it is", 20) == " kept  as it is");
  CHECK(labelled("to do:", "one two", 22, " +") == "to do:          one +\n                two\n");
}

TEST_CASE("whatever is in a table, no line is too long and no text is lost") {
  rc::prop("tables of any texts", [] {
    const auto width = *rc::gen::inRange<std::size_t>(40, 100);
    const auto rows = *rc::gen::inRange<std::size_t>(1, 6);
    std::vector<TextColumn> columns(*rc::gen::inRange<std::size_t>(1, 12));
    const auto text = [](int most) {
      const auto of = rc::gen::elementOf(std::string("abcdefgh=,: "));
      return *rc::gen::resize(most, rc::gen::container<std::string>(of));
    };
    for (TextColumn& column : columns) {
      column.title = "T" + text(6);
      column.right = *rc::gen::arbitrary<bool>();
      column.lifts = *rc::gen::arbitrary<bool>();
      column.yields = *rc::gen::arbitrary<bool>();
      for (std::size_t row = 0; row < rows; ++row) column.texts.push_back(text(column.right ? 10 : 60));
    }
    const auto letters = [](const std::string& from) {
      std::map<char, std::ptrdiff_t> counts;
      for (const char c : from)
        if (c >= 'a' && c <= 'h') ++counts[c];
      return counts;
    };
    std::string all;
    for (const TextColumn& column : columns) {
      const bool same = std::all_of(column.texts.begin(), column.texts.end(),
                                    [&](const std::string& each) { return each == column.texts[0]; });
      for (std::size_t row = 0; row < (column.lifts ? std::size_t{same} : rows); ++row)
        all += column.texts[row];
    }
    const std::string out = lines_of(columns, width, false);
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) RC_ASSERT(line.size() <= width);
    for (const auto& [letter, count] : letters(all)) RC_ASSERT(letters(out)[letter] >= count);
  });
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
  style.sort = "median";                                              // the heading that people see
  CHECK(sample().text(style, 80, false) == "shape\nn=1024\nn=64\n");
  style.sort = "shap";
  CHECK_THROWS_WITH(sample().text(style, 80, false), Contains("`shape`") && Contains("median_ns, median,"));
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

TEST_CASE("the progress line tells") {
  const tuner::Progress progress{"relu f16 numel=1048576", "look", 25, 100, 2, "simt block=256 12.3 us"};
  const std::string text = progress_text(progress, 5, false);
  CHECK(
      text ==
      " 25 % 25/100  5.00/s  0:15 left  2 failed  look  relu f16 numel=1048576  best simt block=256 12.3 us");
  CHECK(progress_text({}, 0, false) == "  0 % 0/0");
}

}  // namespace
}  // namespace hone::tools
