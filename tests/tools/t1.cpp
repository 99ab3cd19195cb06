// Problems in the autotuning community's T1 format: out, valid against its schema, and in again.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/compiler.hpp"
#include "runtime/plan.hpp"
#include "tests/tools/study.hpp"
#include "tuner/space.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;
using Json = nlohmann::json;

const db::Device h200{"cuda", "NVIDIA H200", "sm_90a", 132, std::int64_t{141} << 30, 60 << 20, ""};

bool is_of(const Json& value, const std::string& types) {
  const std::string type = value.is_number_integer() ? "integer"
                           : value.is_number()       ? "number"
                                                     : value.type_name();
  return (" " + types + " ").find(" " + type + " ") != std::string::npos ||
         (type == "integer" && types == "number");
}

/// Against tests/data/t1_problem.json.
void check_valid(const Json& value, const Json& schema, const std::string& where) {
  INFO(where);
  REQUIRE(is_of(value, schema.at("is").get<std::string>()));
  if (schema.contains("words"))
    CHECK(std::find(schema.at("words").begin(), schema.at("words").end(), value) != schema.at("words").end());
  if (schema.contains("needs"))
    for (const Json& key : schema.at("needs")) CHECK(value.contains(key.get<std::string>()));
  if (schema.contains("has"))
    for (const auto& [key, of] : schema.at("has").items())
      if (value.contains(key)) check_valid(value.at(key), of, where + "." + key);
  if (schema.contains("each"))
    for (const Json& item : value) check_valid(item, schema.at("each"), where + "[]");
}

class T1Study : public Study {
 public:
  T1Study() {
    next_run(h200);
    add("relu", 1 << 20, {}, 2000);
    add("relu", 1 << 22, {}, 2000);
  }
  std::string path(const std::string& name) const { return (folder() / name).string(); }
  Ended save(const Words& more) const {
    Words words{"db", "export", path("relu_t1"), "--as", "t1"};
    words.insert(words.end(), more.begin(), more.end());
    return hone(words);
  }
};

const Words one{"--family", "relu", "--shape", "numel=1048576", "--device", "H200"};

/// What the constraints leave of a family's first variant.
std::set<db::Values> space_of(const Family& family, const db::Values& names) {
  db::Evaluator evaluator;
  std::set<db::Values> points;
  evaluator.enumerate(family.variants[0].parameters, family.variants[0].constraints, names,
                      [&](const db::Values& point) { return points.insert(point).second; });
  return points;
}

TEST_CASE("a problem as T1 is as its schema asks, and its conditions leave the same space") {
  T1Study study;
  const Ended out = study.save(one);
  INFO(out.err);
  REQUIRE(out.code == 0);
  CHECK_THAT(out.out, Contains("simt of relu f16 numel=1048576 on NVIDIA H200: 8 parameters"));
  const Json t1 = Json::parse(read_file(study.path("relu_t1/problem.json")));
  check_valid(t1, Json::parse(read_file(HONE_SOURCE_DIR "/tests/data/t1_problem.json")).at("problem"),
              "problem");
  const Json& parameters = t1.at("ConfigurationSpace").at("TuningParameters");
  CHECK(
      parameters.at(0) ==
      Json({{"Name", "block"}, {"Type", "int"}, {"Values", "[64, 128, 256, 512, 1024]"}, {"Default", 256}}));
  CHECK(parameters.at(3) == Json({{"Name", "load"},
                                  {"Type", "string"},
                                  {"Values", "['default', 'nt', 'evict_last']"},
                                  {"Default", "default"}}));
  const Json& kernel = t1.at("KernelSpecification");
  CHECK(kernel.at("LocalSize") == Json({{"X", "block"}, {"Y", "1"}, {"Z", "1"}}));
  CHECK(kernel.at("KernelName") == "elementwise");
  CHECK(kernel.at("Arguments").size() == 3);
  CHECK(kernel.at("Arguments").at(1) == Json({{"Name", "y"},
                                              {"Type", "half"},
                                              {"TypeSize", 2},
                                              {"MemoryType", "Vector"},
                                              {"FillType", "Random"},
                                              {"FillValue", 1.0},
                                              {"Size", 1048576},
                                              {"AccessType", "WriteOnly"}}));
  CHECK(kernel.at("Arguments").at(2).at("FillValue") == 1048576);
  CHECK(t1.at("shape") == Json({{"numel", 1048576}}));
  CHECK(t1.at("working_set_bytes") == 4 << 20);

  const Ended in =
      study.hone({"db", "import", study.path("relu_t1/problem.json"), "--as", "t1", "--family", "again"});
  INFO(in.err);
  REQUIRE(in.code == 0);
  CHECK_THAT(in.out, Contains("again f16 numel=1048576: 8 parameters"));
  CHECK(study.hone({"db", "check"}).code == 0);
  const Family again = family_from_records(study.store().templates("again"));
  CHECK(again.working_set.find("4194304") != std::string::npos);
  DeviceInfo device = nominal_device("sm_90a");
  device.compute_units = 132;
  device.last_level_cache_bytes = 60 << 20;
  db::Evaluator evaluator;
  const db::Problem problem{"relu", "f16", "", {{"numel", 1 << 20}}};
  std::set<db::Values> space;
  const Family relu = family_from_records(study.store().templates("relu"));
  for (const tuner::Point& point : tuner::space(evaluator, relu, problem, device))
    if (point.excess.empty()) space.insert(point.configuration.parameters);
  CHECK(space.size() > 1000);
  CHECK(space_of(again, {{"numel", std::int64_t{1} << 20}}) == space);
}

TEST_CASE("the kernel of a T1 problem takes its parameters as such tuners give them") {
  T1Study study;
  REQUIRE(study.save(one).code == 0);
  const std::string listing = study.path("macros");
  const std::string command =
      "c++ -E -dM -x c++ -Dblock=128 -Dvector=8 -Dunroll=2 -Dload=evict_last -Dstore=nt "
      "-Dmode=one_shot -Dwaves=1 -Doverlap=0 '" +
      study.path("relu_t1/kernel.cu") + "' > '" + listing + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string macros = read_file(listing);
  for (const char* macro : {"#define HONE_BLOCK 128\n", "#define HONE_LOAD HONE_LOAD_EVICT_LAST\n",
                            "#define HONE_LOAD_EVICT_LAST 2\n", "#define HONE_STORE HONE_STORE_NT\n",
                            "#define HONE_MODE HONE_MODE_ONE_SHOT\n", "#define HONE_BACKEND_CUDA 1\n",
                            "#define HONE_ELEMENT_SIZE 2\n"})
    CHECK_THAT(macros, Contains(macro));
  CHECK_THAT(macros, !Contains("#define block "));
}

TEST_CASE("what T1 has no word for, or what does not say which problem, is refused in one line") {
  T1Study study;
  const auto refused = [&](const Words& words, const std::string& told) {
    const Ended ended = study.save(words);
    INFO(ended.err);
    CHECK(ended.code == 2);
    CHECK(ended.error_lines() == 1);
    CHECK_THAT(ended.notes(), Contains(told));
    CHECK_FALSE(std::filesystem::exists(study.path("relu_t1")));
  };
  refused({}, "--family relu");
  refused({"--family", "relu", "--device", "H200"}, "2 problems of relu match; choose one");
  refused({"--family", "relu", "--shape", "numel=3", "--device", "H200"}, "no problem of relu matches");
  refused({"--family", "relu", "--shape", "numel=1048576"}, "2 devices match");
  refused({"--family", "relu", "--shape", "numel=1048576", "--device", "Test CPU"}, "is a device of host");
  refused({"--family", "relu", "--shape", "numel=1048576", "--device", "H200", "--variant", "buffer"},
          "choose one of relu's variants with --variant: simt");
  refused({"--family", "relu", "--run", "0"}, "a T1 problem has no measurements");

  const Family glu = parse_family(HONE_SOURCE_DIR "/kernel_templates/addmm_glu/addmm_glu.toml");
  const Variant& wgmma = *glu.variant("wgmma");
  study.store().put(db::Template{"addmm_glu", "wgmma", wgmma.source_hash, glu.manifest, wgmma.source});
  db::Evaluator evaluator;
  study.store().put(make_problem(evaluator, glu, "f16", "nn", {{"M", 1024}, {"N", 1024}, {"K", 512}}));
  refused({"--family", "addmm_glu", "--device", "H200"}, "T1 has no");
}

/// As Kernel Tuner and KTT write theirs, in short.
const char* const convolution = R"json({
  "ConfigurationSpace": {
    "TuningParameters": [{"Name": "block_size_x", "Type": "int", "Values": "[1, 2, 4, 8, 16, 32]"},
                         {"Name": "tile", "Type": "uint", "Values": "list(range(1, 9))"},
                         {"Name": "hint", "Type": "string", "Values": "['none', 'ldg']"}],
    "Conditions": [{"Expression": "(block_size_x * tile) >= 16 and tile < 7", "Parameters": ["block_size_x", "tile"]},
                   {"Expression": "hint == 'none' or tile in (1, 2)", "Parameters": ["hint", "tile"]}]},
  "KernelSpecification": {
    "Language": "CUDA", "KernelName": "convolution_kernel", "KernelFile": "convolution.cu",
    "GlobalSize": {"X": "4096 // block_size_x"}, "LocalSize": {"X": "block_size_x"}, "ProblemSize": [4096, 4096],
    "Arguments": [
      {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 16777216},
      {"Name": "in", "Type": "half2", "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": 100},
      {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillType": "Constant", "FillValue": 7}]}})json";

TEST_CASE("a T1 problem becomes a family, of which a cache's measurements can be") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "t1.json").string(), database = (folder.path / "a.db").string();
  std::ofstream(file) << convolution;
  const Ended in = run_hone({"db", "import", file, "--as", "t1", "--db", database}, folder.path);
  INFO(in.err);
  REQUIRE(in.code == 0);
  CHECK_THAT(in.out, Contains("convolution_kernel f32 size_x=4096 size_y=4096: 3 parameters, 2 conditions"));
  db::Store store = db::Store::open(database, db::Access::read_only);
  const Family family = family_from_records(store.templates("convolution_kernel"));
  CHECK_THAT(family.working_set, Contains("67109264"));  // 4 * 16777216 + 4 * 100
  const std::set<db::Values> space = space_of(family, {});
  std::size_t expected = 0;
  for (const int block : {1, 2, 4, 8, 16, 32})
    for (int tile = 1; tile < 9; ++tile) expected += block * tile >= 16 && tile < 7 ? (tile <= 2 ? 2 : 1) : 0;
  CHECK(space.size() == expected);
  CHECK(run_hone({"db", "check", database}, folder.path).code == 0);
  // Once more adds nothing, and what differs is told.
  CHECK(run_hone({"db", "import", file, "--as", "t1", "--db", database}, folder.path).code == 0);
  std::string other = convolution;
  other.replace(other.find("tile < 7"), 8, "tile < 6");
  std::ofstream(file, std::ios::trunc) << other;
  const Ended differs = run_hone({"db", "import", file, "--as", "t1", "--db", database}, folder.path);
  CHECK(differs.code == 2);
  CHECK_THAT(differs.notes(), Contains("has other parameters, conditions or dimensions"));
}

TEST_CASE("integers that a kernel takes are the dimensions of a problem that has no size") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "t1.json").string(), database = (folder.path / "a.db").string();
  std::string text = convolution;
  const std::string size = ", \"ProblemSize\": [4096, 4096]";
  text.erase(text.find(size), size.size());
  std::ofstream(file) << text;
  const Ended in =
      run_hone({"db", "import", file, "--as", "t1", "--family", "mine", "--dtype", "f16", "--db", database},
               folder.path);
  INFO(in.err);
  CHECK(in.code == 0);
  CHECK_THAT(in.out, Contains("mine f16 n=7: "));
}

TEST_CASE("a T1 problem that hone has no words for is refused by file and key") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "t1.json").string(), text = convolution;
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& told) {
    INFO(from << " -> " << to);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    std::ofstream(file, std::ios::trunc) << text.substr(0, at) + to + text.substr(at + from.size());
    const Ended ended =
        run_hone({"db", "import", file, "--as", "t1", "--db", (folder.path / "a.db").string()}, folder.path);
    INFO(ended.err);
    CHECK(ended.code == 2);
    CHECK(ended.error_lines() == 1);
    CHECK_THAT(ended.notes(), Contains("t1.json: ") && Contains(told));
    CHECK_FALSE(std::filesystem::exists(folder.path / "a.db"));
  };
  refused("\"ConfigurationSpace\"", "\"Space\"", "ConfigurationSpace: is missing; is it a problem in T1?");
  refused("\"KernelName\"", "\"Kernel\"", "KernelSpecification.KernelName: is missing");
  refused("\"int\"", "\"float\"", "TuningParameters[0].Type: is `float`");
  refused("[1, 2, 4, 8, 16, 32]", "[1.5]", "TuningParameters[0].Values: `[1.5]`");
  refused("tile < 7", "tile / 2 < 7",
          "Conditions[0].Expression: `(block_size_x * tile) >= 16 and tile / 2 < 7`");
  refused("tile in (1, 2)", "blocks", "`blocks` is not understood; there are block_size_x, hint, tile");
  refused("[4096, 4096]", "[4096, -1]", "ProblemSize: has an extent");
  refused("{\n", "{\n]", "is not JSON");
}

}  // namespace
}  // namespace hone::test
