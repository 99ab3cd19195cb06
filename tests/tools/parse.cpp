// The texts of the command line.
#include "tools/parse.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>

namespace hone::tools {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("bytes are read with binary and decimal units") {
  CHECK(parse_bytes("--x", "1048576") == 1048576);
  CHECK(parse_bytes("--x", "1MiB") == 1048576);
  CHECK(parse_bytes("--x", "64M") == 67108864);
  CHECK(parse_bytes("--x", "64MB") == 64000000);
  CHECK(parse_bytes("--x", "1.5K") == 1536);
  CHECK(parse_bytes("--x", "4GiB") == 4294967296);
  CHECK(parse_bytes("--x", "9223372036854775807") == INT64_MAX);
  for (const char* bad :
       {"", "abc", "-1", "1 MiB", "1XiB", "1.2.3M", "M", "9223372036854775808", "8388608TiB", "0x10"}) {
    INFO(bad);
    CHECK_THROWS_WITH(parse_bytes("--x", bad), Contains("--x"));
  }
}

TEST_CASE("rates are bytes a second, above zero") {
  CHECK(parse_rate("RATE", "4800GB/s") == 4'800'000'000'000);
  CHECK(parse_rate("RATE", "1.5GiB/s") == 1'610'612'736);
  for (const char* bad : {"", "4800", "4800GB", "0GB/s", "GB/s", "/s", "-1GB/s", "9e9TB/s", "99999999TB/s"}) {
    INFO(bad);
    CHECK_THROWS_WITH(parse_rate("RATE", bad), Contains("RATE"));
  }
}

TEST_CASE("whole numbers are held against their range") {
  CHECK(parse_integer("--n", "-5", -5, 5) == -5);
  CHECK_THROWS_WITH(parse_integer("--n", "6", -5, 5), Contains("at most 5"));
  CHECK_THROWS_WITH(parse_integer("--n", "-6", -5, 5), Contains("at least -5"));
  CHECK_THROWS_WITH(parse_integer("--n", "9223372036854775808"), Contains("out of range"));
  for (const char* bad : {"", "1.5", "1e3", " 1", "1 ", "+1", "abc"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_integer("--n", bad), Error);
  }
}

TEST_CASE("every whole number reads back") {
  rc::prop("decimal text",
           [](std::int64_t number) { RC_ASSERT(parse_integer("--n", std::to_string(number)) == number); });
}

TEST_CASE("budgets are time, configurations or both") {
  CHECK(parse_budget("--budget", "60s").seconds == 60);
  CHECK(parse_budget("--budget", "5m").seconds == 300);
  CHECK_FALSE(parse_budget("--budget", "5m").configurations);
  CHECK(parse_budget("--budget", "500").configurations == 500);
  CHECK_FALSE(parse_budget("--budget", "500").seconds);
  const tuner::Budget both = parse_budget("--budget", "90s,12");
  CHECK(both.seconds == 90);
  CHECK(both.configurations == 12);
  for (const char* bad : {"", "0", "-3", "0s", "5x", "abc", "5,6", "1s,2s", ",", "1.5"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_budget("--budget", bad), Error);
  }
}

TEST_CASE("shapes are names with whole numbers") {
  CHECK(parse_shape("--shape", "M=1024,N=64") == tuner::Shape{{"M", 1024}, {"N", 64}});
  for (const char* bad :
       {"", "M", "M=", "=4", "M=abc", "M=-1", "M=1,M=2", "M=1,,N=2", "M=9223372036854775808", "M=1.5"}) {
    INFO(bad);
    CHECK_THROWS_WITH(parse_shape("--shape", bad), Contains("--shape"));
  }
}

TEST_CASE("sweeps go from the smaller to the larger") {
  CHECK(parse_sweep("--sweep", "1MiB:4GiB") ==
        std::pair<std::int64_t, std::int64_t>{1 << 20, std::int64_t{4} << 30});
  for (const char* bad : {"1MiB", "4M:1M", "0:1M", "1M:2M:3M", ":", "a:b"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_sweep("--sweep", bad), Error);
  }
}

TEST_CASE("a resolution is a ratio above one") {
  CHECK(parse_ratio("--resolution", "1.25") == 1.25);
  CHECK(parse_ratio("--resolution", "2") == 2);
  for (const char* bad : {"", "1", "0.5", "2.1", "-2", "1.1x", "6%", "nan", "1e400"}) {
    INFO(bad);
    CHECK_THROWS_WITH(parse_ratio("--resolution", bad), Contains("--resolution"));
  }
}

TEST_CASE("bounds hold one value or a range") {
  const auto bounds = parse_bounds("--shape", "M=8,N=16:64");
  REQUIRE(bounds.size() == 2);
  CHECK((bounds[0].lowest == 8 && bounds[0].highest == 8));
  CHECK((bounds[1].lowest == 16 && bounds[1].highest == 64));
  CHECK_THROWS_AS(parse_bounds("--shape", "N=64:16"), Error);
  CHECK_THROWS_AS(parse_bounds("--shape", "N=:"), Error);
}

TEST_CASE("a choice that is mistyped is suggested") {
  CHECK(parse_choice("--search", "random", {"auto", "random"}) == "random");
  CHECK_THROWS_WITH(parse_choice("--search", "randon", {"auto", "random"}), Contains("`random`"));
  CHECK(parse_regime("--regime", "cold") == db::Regime::cold);
  CHECK_THROWS_WITH(parse_regime("--regime", "hot"), Contains("cold"));
}

TEST_CASE("lists are split at commas, without blanks, and have no empty parts") {
  CHECK(split_list("--x", {"a, b", "c"}) == std::vector<std::string>{"a", "b", "c"});
  CHECK(parse_shape("--shape", "M=1024, N=64") == tuner::Shape{{"M", 1024}, {"N", 64}});
  for (const char* bad : {"", ",", "a,", ",a", "a,,b", " , "})
    CHECK_THROWS_WITH(split_list("--x", {bad}), Contains("--x"));
}

TEST_CASE("of numbers none is suggested, and all that there are are listed") {
  CHECK_THROWS_WITH(parse_choice("--where vector", "99", {"1", "16"}),
                    Contains("no `99`; there are 1, 16") && !Contains("did you mean"));
}

TEST_CASE("moments are dates, or how long ago") {
  constexpr std::int64_t now = 1'800'000'000'000'000;
  CHECK(parse_moment("--since", "2h", now) == now - 2 * 3'600'000'000LL);
  CHECK(parse_moment("--since", "3d", now) == now - 3 * 86'400'000'000LL);
  const std::int64_t day = parse_moment("--since", "2026-11-30", now);
  CHECK(parse_moment("--since", "2026-11-30 01:30", now) - day == 90 * 60'000'000LL);
  CHECK(parse_moment("--since", "2026-11-30 00:00:07", now) - day == 7'000'000);
  for (const char* bad :
       {"", "yesterday", "2026-13-01", "2026-02-31", "2026-11-30 25:00", "7", "-2h", "2026-11-30x"})
    CHECK_THROWS_WITH(parse_moment("--since", bad, now), Catch::Contains("--since"));
}

}  // namespace
}  // namespace hone::tools
