#include "tuner/python_expression.hpp"

#include <catch2/catch.hpp>

#include "db/expression.hpp"

namespace hone::tuner {
namespace {

using Catch::Matchers::Contains;

const std::set<std::string> names{"a", "b", "mode"};

std::int64_t value(const std::string& python, std::int64_t a, std::int64_t b) {
  db::Evaluator evaluator;
  return evaluator.evaluate(sql_of_python(python, names), {{"a", a}, {"b", b}, {"mode", std::string("x")}});
}

TEST_CASE("Python's conditions mean the same as SQL") {
  CHECK(value("a * b >= 64", 8, 8) == 1);
  CHECK(value("(a // b) * b == a", 12, 4) == 1);
  CHECK(value("(a // b) * b == a", 13, 4) == 0);
  CHECK(value("a % b == 0 and b != 3", 6, 3) == 0);
  CHECK(value("a in (1, 2) or b in [5]", 3, 5) == 1);
  CHECK(value("a in (1,)", 1, 0) == 1);
  CHECK(value("a not in (1, 2)", 1, 0) == 0);
  CHECK(value("not a == b", 1, 1) == 0);
  CHECK(value("not (a == b and a == 1)", 1, 1) == 0);
  CHECK(value("mode == 'x' and mode != \"y\"", 0, 0) == 1);
  CHECK(value("(a == 1) + (b == 1) == 2", 1, 1) == 1);
  CHECK(value("min(a, b) + max(a, b) + abs(a) == 9", 2, 5) == 1);
  CHECK(value("True and not False", 0, 0) == 1);
  CHECK(value("a - b < 0", 1, 2) == 1);
}

TEST_CASE("what the two languages write or calculate otherwise is refused") {
  const auto refused = [](const std::string& python, const std::string& why) {
    INFO(python);
    CHECK_THROWS_WITH(sql_of_python(python, names), Contains(why));
  };
  refused("1 < a < 3", "chains comparisons");
  refused("a == b in (1, 2)", "chains comparisons");
  refused("a / b == 2", "divided by //");
  refused("(a - 9) // b == 2", "has a difference");
  refused("-a % 4 == 3", "has a difference");
  refused("(a and b) == 2", "what `and` or `or` gives");
  refused("1 + (a or b)", "what `and` or `or` gives");
  refused("a ** 2 > 4", "`**` is not understood");
  refused("a & 1", "`&` is not understood");
  refused("a.b", "`.` is not understood");
  refused("1.5 < a", "`1.5` is no integer");
  refused("99999999999999999999 > a", "no integer of 64 bits");
  refused("c == 1", "`c` is not understood; there are a, b, mode");
  refused("__import__('os')", "`__import__` is not understood");
  refused("a[0] == 1", "`a` is not understood");
  refused("[a][0]", "after `in` alone");
  refused("a, b", "more than one expression");
  refused("(a", "not closed");
  refused("a)", "was not opened");
  refused("mode == 'x", "not closed");
  refused("mode == 'it\\'s'", "quotes or backslashes");
}

TEST_CASE("lists of values are read as Python writes them") {
  using Values = std::vector<db::Value>;
  const auto integers = [](std::vector<std::int64_t> list) { return Values(list.begin(), list.end()); };
  CHECK(values_of_python("[16, 32,64]") == integers({16, 32, 64}));
  CHECK(values_of_python("(-1, 0,)") == integers({-1, 0}));
  CHECK(values_of_python("list(range(1, 5))") == integers({1, 2, 3, 4}));
  CHECK(values_of_python("range(3)") == integers({0, 1, 2}));
  CHECK(values_of_python("range(10, 0, -4)") == integers({10, 6, 2}));
  CHECK(values_of_python("[True, False]") == integers({1, 0}));
  CHECK(values_of_python("['nt', \"default\"]") == Values{std::string("nt"), std::string("default")});
  CHECK(values_of_python("range(9223372036854775806, 9223372036854775807, 5)") ==
        integers({9223372036854775806}));
  for (const char* bad : {"", "[]", "[1", "[1, 2.5]", "[x]", "range(0, 1, 0)", "range(1, 2, 3, 4)",
                          "[1] + [2]", "range(1000000)", "[i for i in (1, 2)]"}) {
    INFO(bad);
    CHECK_THROWS_AS(values_of_python(bad), NotUnderstood);
  }
}

}  // namespace
}  // namespace hone::tuner
