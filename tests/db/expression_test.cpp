// Expressions: what they give, what is refused, and that spaces are enumerated as a plain loop would.
#include "db/expression.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <ctime>
#include <limits>

#include "db/error.hpp"

namespace hone::db {
namespace {

using Catch::Matchers::Contains;

Value text(const char* value) {
  return std::string(value);
}
Value number(std::int64_t value) {
  return value;
}

std::string refusal(Evaluator& evaluator, const std::string& expression, const Values& names = {}) {
  try {
    const std::int64_t value = evaluator.evaluate(expression, names);
    return "gave " + std::to_string(value);
  } catch (const Error& error) {
    CHECK(error.kind() == Error::Kind::expression);
    const std::string line = error.what();
    CHECK(line.find('\n') == std::string::npos);
    return line;
  }
}

TEST_CASE("an expression gives its integer") {
  Evaluator evaluator;
  const Values names{{"a", number(7)}, {"b", number(2)}, {"load", text("cs")}, {"group", number(5)}};
  CHECK(evaluator.evaluate("a / b", names) == 3);
  CHECK(evaluator.evaluate("(a + b - 1) / b", names) == 4);
  CHECK(evaluator.evaluate("a % b = 1 and load = 'cs'", names) == 1);
  CHECK(evaluator.evaluate("load in ('ca', 'cg')", names) == 0);
  CHECK(evaluator.evaluate("max(a, b, 9) - min(a, b)", names) == 7);
  CHECK(evaluator.evaluate("case when a > b then 10 else 20 end", names) == 10);
  CHECK(evaluator.evaluate("iif(a & (a - 1), 0, 1)", names) == 0);
  CHECK(evaluator.evaluate("1 << 40", names) == std::int64_t{1} << 40);
  CHECK(evaluator.evaluate("0x10", {}) == 16);
  CHECK(evaluator.evaluate("group * 2", names) == 10);  // a word that SQL reserves
  CHECK(evaluator.evaluate("load = 'it''s' or length(load) = 2", names) == 1);
  CHECK(evaluator.evaluate("-9223372036854775807 - 1", {}) == std::numeric_limits<std::int64_t>::min());
  CHECK(evaluator.evaluate("9223372036854775807", {}) == std::numeric_limits<std::int64_t>::max());
  CHECK(evaluator.evaluate(" \n a between 1\tand 7", names) == 1);
  CHECK(evaluator.evaluate("a is not null", names) == 1);
}

TEST_CASE("the same expression serves other names' values and types") {
  Evaluator evaluator;
  CHECK(evaluator.evaluate("a = 12", {{"a", number(12)}}) == 1);
  CHECK(evaluator.evaluate("a = 12", {{"a", text("12")}}) == 0);
  CHECK(evaluator.evaluate("a = 12", {{"a", number(12)}, {"b", number(1)}}) == 1);
  CHECK_THAT(refusal(evaluator, "a = 12", {{"b", number(12)}}), Contains("unknown name `a`"));
  CHECK(evaluator.evaluate("a = 12", {{"a", number(12)}}) == 1);
}

TEST_CASE("several expressions give what each gives, and none where it would fail") {
  Evaluator evaluator;
  const std::vector<std::string> expressions{"M + 1", "M / N", "12", "CASE layout WHEN 'nn' THEN 3 END",
                                             "M * 1.5"};
  const Values names{{"M", std::int64_t{7}}, {"N", std::int64_t{0}}, {"layout", std::string("nn")}};
  using Each = std::vector<std::optional<std::int64_t>>;
  CHECK(evaluator.evaluate_each(expressions, names) == Each{8, std::nullopt, 12, 3, std::nullopt});
  // The same list again, with other values.
  CHECK(evaluator.evaluate_each(
            expressions, {{"M", std::int64_t{8}}, {"N", std::int64_t{2}}, {"layout", std::string("nt")}}) ==
        Each{9, 4, 12, std::nullopt, std::nullopt});
  CHECK(evaluator.evaluate_each({}, names).empty());
  // What fails as a whole is told by evaluate() of each.
  CHECK(evaluator.evaluate_each(expressions, {{"M", std::int64_t{7}}}) == Each(5));
  const std::vector<std::string> not_all_expressions{"M", "M) , (M"};
  CHECK(evaluator.evaluate_each(not_all_expressions, names) == Each(2));
  CHECK(evaluator.evaluate("M", names) == 7);
}

TEST_CASE("what is no integer is an error that shows the values") {
  Evaluator evaluator;
  const Values names{{"a", number(7)}, {"zero", number(0)}, {"big", number(INT64_MAX)}, {"t", text("x")}};
  CHECK_THAT(refusal(evaluator, "a / zero", names),
             Contains("`a / zero`") && Contains("NULL") && Contains("a=7 zero=0"));
  CHECK_THAT(refusal(evaluator, "a % zero", names), Contains("NULL"));
  CHECK_THAT(refusal(evaluator, "big + 1", names), Contains("64 bits"));
  CHECK_THAT(refusal(evaluator, "big * big", names), Contains("64 bits"));
  CHECK_THAT(refusal(evaluator, "a * 0.5", names), Contains("fraction"));
  CHECK_THAT(refusal(evaluator, "t", names), Contains("text"));
  CHECK_THAT(refusal(evaluator, "null", names), Contains("NULL"));
  CHECK_THAT(refusal(evaluator, "abs(-9223372036854775807 - 1)", names), Contains("overflow"));
  CHECK_THAT(refusal(evaluator, "9223372036854775808", names), Contains("64 bits"));
  CHECK(evaluator.evaluate("a", names) == 7);
}

TEST_CASE("only one plain expression is allowed") {
  Evaluator evaluator;
  const Values names{{"a", number(1)}, {"Block", number(2)}};
  const char* const refused[] = {
      "",
      " ",
      "1); drop table x",
      "1; select 1",
      "1;",
      "a, a",
      "1) , (2",
      "(1",
      "1)",
      ")(",
      "1 -- rest",
      "1 /* c */",
      "(1 -- \n)",
      "(select 1)",
      "exists(select 1)",
      "with recursive t(n) as (select 1) select n from t",
      "(with recursive t(n) as (values(1) union all select n + 1 from t) select count(*) from t)",
      "values(1)",
      "random()",
      "randomblob(9)",
      "zeroblob(1000000000)",
      "printf('%d', 1)",
      "load_extension('x')",
      "sum(a)",
      "count(*)",
      "max(a)",
      "min(1)",
      "a over (order by a)",
      "cast(1.5 as integer)",
      "a collate nocase",
      "a like 'x'",
      "a glob 'x'",
      "'x' || 'y'",
      "\"a\"",
      "\"unknown\"",
      "[a]",
      "`a`",
      "?1",
      ":a",
      "@a",
      "$a",
      "x'00'",
      "a.b",
      "main.a",
      "a -> 1",
      "a ->> 1",
      "'open",
      "1 2",
      "a a",
      "a +",
      "+",
      "not",
      "1e",
      "0x",
      "12abc",
      "1.2.3",
      "raise(abort, 'x')",
      "pragma user_version",
      "(1, 2)",
      "block",
      "BLOCK",
      "A",
      "sqlite_schema",
      "a in sqlite_schema",
      "\xc3\xa9",
      "a\x01",
      "99999999999999999999",
      "in",
      "case",
      "length()",
      "abs(1, 2)"};
  for (const char* expression : refused) {
    INFO(expression);
    const std::string line = refusal(evaluator, expression, names);
    CHECK_THAT(line, !Contains("gave "));
  }
  CHECK_THAT(refusal(evaluator, "block = 2", names), Contains("did you mean `Block`?"));
  CHECK_THAT(refusal(evaluator, "a; a", names), Contains("`;`"));
  CHECK_THAT(refusal(evaluator, "frob(a)", names), Contains("no function `frob`"));
}

TEST_CASE("size and depth of an expression are bounded") {
  Evaluator evaluator;
  CHECK_THAT(refusal(evaluator, std::string(20000, '1')), Contains("longer than"));
  CHECK_THAT(refusal(evaluator, std::string(500, '(') + "1" + std::string(500, ')')),
             Contains("nested too deeply"));
  std::string chain = "1";
  while (chain.size() < 9000) chain += "+1";
  CHECK(refusal(evaluator, chain).find('\n') == std::string::npos);  // an answer or a refusal, no crash
  std::string negations;
  while (negations.size() < 9000) negations += "- ";
  CHECK_THAT(refusal(evaluator, negations + "1"), !Contains("gave "));
}

TEST_CASE("names() tells what an expression reads") {
  Evaluator evaluator;
  const std::set<std::string> known{"a", "b", "max", "Case_"};
  CHECK(evaluator.names("a + max(a, 1)", known) == std::set<std::string>{"a"});
  CHECK(evaluator.names("max + b", known) == std::set<std::string>{"b", "max"});
  CHECK(evaluator.names("'a' = 'b'", known).empty());
  CHECK_THROWS_WITH(evaluator.names("a + c", known), Contains("unknown name `c`"));
  CHECK_THROWS_WITH(evaluator.names("a + case_", known), Contains("did you mean `Case_`?"));
  CHECK_THROWS_AS(evaluator.names("a +", known), Error);
}

std::vector<Values> points(Evaluator& evaluator, const std::vector<Parameter>& parameters,
                           const std::vector<std::string>& constraints, const Values& constants = {}) {
  std::vector<Values> found;
  evaluator.enumerate(parameters, constraints, constants, [&](const Values& point) {
    found.push_back(point);
    return true;
  });
  return found;
}

TEST_CASE("a space is enumerated in order, the last parameter fastest") {
  Evaluator evaluator;
  const std::vector<Parameter> parameters{
      {"z", {number(2), number(1)}}, {"one", {text("x")}}, {"load", {text("cs"), text("ca"), number(3)}}};
  const auto all = points(evaluator, parameters, {});
  REQUIRE(all.size() == 6);
  CHECK(all[0] == Values{{"z", number(2)}, {"one", text("x")}, {"load", text("cs")}});
  CHECK(all[1] == Values{{"z", number(2)}, {"one", text("x")}, {"load", text("ca")}});
  CHECK(all[5] == Values{{"z", number(1)}, {"one", text("x")}, {"load", number(3)}});
  const auto some =
      points(evaluator, parameters, {"z = limit_ or load = 'ca'", "one = 'x'"}, {{"limit_", number(1)}});
  REQUIRE(some.size() == 4);
  CHECK(some[0].at("load") == text("ca"));
  CHECK(some[1].at("z") == number(1));
}

TEST_CASE("spaces without points or parameters") {
  Evaluator evaluator;
  CHECK(points(evaluator, {}, {}).size() == 1);
  CHECK(points(evaluator, {}, {"n > 1"}, {{"n", number(1)}}).empty());
  CHECK(points(evaluator, {{"a", {}}}, {"a > 0"}).empty());
  CHECK(points(evaluator, {{"a", {number(1)}}}, {"a > 1"}).empty());
  CHECK(points(evaluator, {{"a", {number(1), number(2)}}}, {"0"}).empty());
  CHECK(points(evaluator, {{"a", {number(1), number(2)}}}, {"-3"}).size() == 2);
}

TEST_CASE("visit stops the enumeration, may evaluate, and its exceptions pass") {
  Evaluator evaluator;
  const std::vector<Parameter> parameters{{"a", {number(1), number(2), number(3)}},
                                          {"b", {number(1), number(2)}}};
  int visited = 0;
  std::int64_t sum = 0;
  evaluator.enumerate(parameters, {"a + b > 2"}, {}, [&](const Values& point) {
    sum += evaluator.evaluate("a * b", point);
    return ++visited < 3;
  });
  CHECK(visited == 3);
  CHECK(sum == 2 + 2 + 4);
  const auto failing = [](const Values&) -> bool { throw Error(Error::Kind::full, "mine"); };
  CHECK_THROWS_WITH(evaluator.enumerate(parameters, {}, {}, failing), "mine");
  CHECK(points(evaluator, parameters, {}).size() == 6);
}

TEST_CASE("an enumeration that is given few steps says that points are missing") {
  Evaluator evaluator;
  std::vector<Parameter> parameters;
  for (const char* name : {"a", "b", "c"}) {
    parameters.push_back({name, {}});
    for (std::int64_t v = 0; v < 60; ++v) parameters.back().values.emplace_back(v);
  }
  const auto all = points(evaluator, parameters, {"a + b + c > 3"});
  const auto within = [&](std::int64_t steps, const std::vector<std::string>& constraints) {
    std::vector<Values> found;
    const bool complete = evaluator.enumerate(
        parameters, constraints, {},
        [&](const Values& point) {
          found.push_back(point);
          // What is evaluated meanwhile counts for itself.
          return evaluator.evaluate("a + b", point) >= 0;
        },
        steps);
    return std::pair(complete, std::move(found));
  };
  const auto [complete, found] = within(100'000, {"a + b + c > 3"});
  CHECK_FALSE(complete);
  CHECK(found.size() > 100);
  REQUIRE(found.size() < all.size());
  CHECK(std::equal(found.begin(), found.end(), all.begin()));
  const auto whole = within(100'000'000, {"a + b + c > 3"});
  CHECK(whole.first);
  CHECK(whole.second == all);
  CHECK_FALSE(within(0, {"a + b + c > 3"}).first);

  // Steps are those of the whole, not from one point to the next.
  CHECK_FALSE(within(100'000, {"a + b + c > 500"}).first);
  CHECK(within(100'000'000, {"a + b + c > 500"}).first);
  // Who stops by himself misses none.
  CHECK(evaluator.enumerate(
      parameters, {}, {}, [](const Values&) { return false; }, 100'000));
  CHECK_THROWS_WITH(within(100'000, {"a / (b - 59 * (c > 0))"}), Contains("a / (b - 59 * (c > 0))"));
}

TEST_CASE("a constraint that is no integer names the point") {
  Evaluator evaluator;
  const std::vector<Parameter> parameters{{"a", {number(4), number(8)}},
                                          {"b", {number(1), number(0)}},
                                          {"c", {number(1), number(2)}},
                                          {"s", {number(9)}}};
  const auto failure = [&](const std::string& constraint, const Values& constants = {}) {
    try {
      points(evaluator, parameters, {"a > 4", constraint}, constants);
    } catch (const Error& error) {
      CHECK(error.kind() == Error::Kind::expression);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(failure("a / b > 1"), Contains("`a / b > 1`") && Contains("NULL") && Contains("a=8 b=0"));
  CHECK_THAT(failure("s / b > k", {{"k", number(3)}}), Contains("b=0 k=3 s=9"));
  CHECK_THAT(failure("c * 9223372036854775807"), Contains("64 bits") && Contains("c=2"));
  CHECK_THAT(failure("'yes'"), Contains("text"));
  CHECK_THAT(failure("b <> 0 and a / b"), Contains("no error"));
  CHECK_THAT(failure("d > 1"), Contains("unknown name `d`"));
  CHECK_THAT(failure("a > 1; a"), Contains("`a > 1; a`"));
  CHECK_THAT(failure("a", {{"a", number(1)}}), Contains("taken"));
  CHECK(points(evaluator, parameters, {"b", "a / b > 1"}).size() ==
        4);  // an earlier constraint guards a later one
  const std::vector<Parameter> twice{{"a", {number(1)}}, {"a", {number(2)}}};
  CHECK_THROWS_WITH(points(evaluator, twice, {}), Contains("taken"));
  std::vector<Parameter> many;
  for (int i = 0; i < 70; ++i) many.push_back({"p" + std::to_string(i), {number(0), number(1)}});
  CHECK_THROWS_WITH(points(evaluator, many, {}), Contains("64 is the most"));
}

TEST_CASE("loops are refused at once, in constraints too") {
  Evaluator evaluator;
  const std::clock_t start = std::clock();
  const std::string loop =
      "(with recursive t(n) as (values(1) union all select n + 1 from t) select max(n) from t)";
  CHECK_THROWS_AS(evaluator.evaluate(loop, {}), Error);
  CHECK_THROWS_AS(evaluator.names(loop, {}), Error);
  CHECK_THROWS_AS(points(evaluator, {{"a", {number(1)}}}, {loop}), Error);
  CHECK(std::clock() - start < CLOCKS_PER_SEC);
}

TEST_CASE("a space that is ruled out point by point ends", "[long]") {
  Evaluator evaluator;
  std::vector<Value> values;
  for (std::int64_t i = 0; i < 1000; ++i) values.push_back(i);
  std::vector<Parameter> parameters;
  for (const char* name : {"a", "b", "c", "d", "e"}) parameters.push_back({name, values});
#ifndef HONE_SANITIZED
  CHECK_THROWS_WITH(points(evaluator, parameters, {"a + b + c + d + e < 0"}), Contains("no point found"));
#endif
}

TEST_CASE("a large space takes well under a second") {
  Evaluator evaluator;
  const auto range = [](const char* name, int n) {
    Parameter parameter{name, {}};
    for (int i = 0; i < n; ++i) parameter.values.push_back(std::int64_t{1} << i);
    return parameter;
  };
  const std::vector<Parameter> parameters{range("a", 7), range("b", 7), range("c", 7), range("d", 6),
                                          range("e", 6), range("f", 6), range("g", 4), range("h", 2)};
  const std::clock_t start = std::clock();
  std::int64_t count = 0;
  evaluator.enumerate(
      parameters,
      {"a * b <= 1024", "a * c <= 2048", "d <= a * b", "(a * b * d + c * d) * 2 <= 262144", "e * f <= 512"},
      {}, [&](const Values&) { return ++count > 0; });
  const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::int64_t wanted = 0;
  for (const auto& a : parameters[0].values)
    for (const auto& b : parameters[1].values)
      for (const auto& c : parameters[2].values)
        for (const auto& d : parameters[3].values)
          for (const auto& e : parameters[4].values)
            for (const auto& f : parameters[5].values) {
              const auto n = [](const Value& v) { return std::get<std::int64_t>(v); };
              if (n(a) * n(b) <= 1024 && n(a) * n(c) <= 2048 && n(d) <= n(a) * n(b) &&
                  (n(a) * n(b) * n(d) + n(c) * n(d)) * 2 <= 262144 && n(e) * n(f) <= 512) {
                wanted += 8;
              }
            }
  CHECK(count == wanted);
  WARN("enumerated " << count << " points of 592704 in " << took << " s");
#if !defined(HONE_SANITIZED)
  CHECK(took < 2);
#endif
}

TEST_CASE("enumerate equals brute force") {
  rc::prop("random spaces and constraints", [] {
    const auto sizes = *rc::gen::container<std::vector<int>>(3, rc::gen::inRange(0, 5));
    const char* const names[] = {"a", "b", "c"};
    std::vector<Parameter> parameters;
    for (int i = 0; i < 3; ++i) {
      Parameter parameter{names[i], {}};
      for (int k = 0; k < sizes[static_cast<std::size_t>(i)]; ++k) {
        parameter.values.emplace_back(*rc::gen::inRange<std::int64_t>(-8, 9));
      }
      parameters.push_back(std::move(parameter));
    }
    const std::int64_t k = *rc::gen::inRange<std::int64_t>(-5, 6);
    struct Known {
      const char* sql;
      bool (*holds)(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t k);
    };
    static const Known all[] = {
        {"a < b + k", [](auto a, auto b, auto, auto n) { return a < b + n; }},
        {"c % 3 <> 0 or k > 0", [](auto, auto, auto c, auto n) { return c % 3 != 0 || n > 0; }},
        {"a * b * c - k", [](auto a, auto b, auto c, auto n) { return a * b * c - n != 0; }},
        {"not (a = c)", [](auto a, auto, auto c, auto) { return a != c; }},
        {"b between -k and 6", [](auto, auto b, auto, auto n) { return -n <= b && b <= 6; }},
        {"max(a, b, c) > 0", [](auto a, auto b, auto c, auto) { return a > 0 || b > 0 || c > 0; }},
    };
    std::vector<Known> chosen;
    std::vector<std::string> constraints;
    for (const Known& known : all) {
      if (*rc::gen::arbitrary<bool>()) {
        chosen.push_back(known);
        constraints.emplace_back(known.sql);
      }
    }
    std::vector<Values> wanted;
    for (const Value& a : parameters[0].values) {
      for (const Value& b : parameters[1].values) {
        for (const Value& c : parameters[2].values) {
          const auto n = [](const Value& v) { return std::get<std::int64_t>(v); };
          const bool kept = std::all_of(chosen.begin(), chosen.end(),
                                        [&](const Known& known) { return known.holds(n(a), n(b), n(c), k); });
          if (kept) wanted.push_back({{"a", a}, {"b", b}, {"c", c}});
        }
      }
    }
    Evaluator evaluator;
    RC_ASSERT(points(evaluator, parameters, constraints, {{"k", k}}) == wanted);
  });
}

}  // namespace
}  // namespace hone::db
