// hone query portfolio on a sweep across problems that the test writes itself.
#include <nlohmann/json.hpp>

#include "tests/runtime/tuned_database.hpp"
#include "tests/tools/study.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;

const db::Values few{{"fault", std::string("none")}}, many{{"fault", std::string("into_gap")}},
    never{{"fault", std::string("left_out_row_nan")}};

std::vector<std::pair<std::string, std::int64_t>> shape(std::int64_t rows, std::int64_t columns) {
  return {{"rows", rows}, {"columns", columns}, {"ldy", columns + 3}};
}

/// One configuration is the best for few rows, another for many, a third for none.
TEST_CASE("a portfolio shows where its members are the fastest or tie, and how they are predicted") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path / "a.db";
  const auto query = [&](Words words) {
    words.insert(words.begin(), {"query", "portfolio"});
    words.insert(words.end(), {"--db", file.string()});
    return run_hone(words, folder.path);
  };
  TunedDatabase database(file, parse_family(HONE_SOURCE_DIR "/tests/templates/strided/strided.toml"));
  CHECK_THAT(query({}).notes(), Contains("no portfolio matches; `hone tune FAMILY --portfolio` races one"));
  database.sweep(TunedDatabase::Across{"f32",
                                       {few, many, never},
                                       {{shape(128, 64), {100, 101, 300}},
                                        {shape(64, 128), {100, 150, 300}},
                                        {shape(256, 512), {110, 130, 0}},
                                        {shape(4096, 64), {400, 200, 900}},
                                        {shape(8192, 512), {900, 400, 0}}}});
  const Ended csv = query({"strided", "--format", "csv", "--columns", "problems,fastest,ties,configuration"});
  INFO(csv.out << csv.err);
  CHECK(csv.code == 0);
  CHECK_THAT(csv.out, Catch::StartsWith("problems,fastest,ties,configuration\n5,3,0,") &&
                          Contains("fault=none") && Contains("\n5,2,1,") && Contains("fault=into_gap"));
  const auto rows = nlohmann::json::parse(query({"--format", "json"}).out).at("rows");
  REQUIRE(rows.size() == 2);
  for (const auto& row : rows) {
    CHECK(row.at("regret") == 0);
    CHECK(row.at("fit_error").get<double>() > 0);
    CHECK(row.at("fit_error").get<double>() < 1);
    CHECK(row.at("parameters").at("fault").is_string());
  }
  CHECK_THAT(query({"strided"}).out, Contains("fit error") && Contains(" %"));
  CHECK(nlohmann::json::parse(query({"--dtype", "f16", "--format", "json"}).out).at("rows").empty());
}

/// A time that follows from the bytes is predicted from other problems' times.
TEST_CASE("times that follow the model are predicted from the others, and one alone from nothing") {
  const auto errors = [](std::size_t problems) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path / "a.db";
    TunedDatabase database(file, parse_family(HONE_SOURCE_DIR "/tests/templates/strided/strided.toml"));
    TunedDatabase::Across across{"f32", {few}, {}};
    for (std::int64_t rows = 1 << 10; across.points.size() < problems; rows *= 2)
      across.points.push_back({shape(rows, 1 << 10), {static_cast<double>(rows)}});
    database.sweep(across);
    return nlohmann::json::parse(
               run_hone({"query", "portfolio", "--db", file.string(), "--format", "json"}, folder.path).out)
        .at("rows")
        .at(0)
        .at("fit_error");
  };
  CHECK(errors(6).get<double>() < 0.02);
  CHECK(errors(1).is_null());
}

}  // namespace
}  // namespace hone::test
