#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <sstream>

#include "runtime/explain.hpp"
#include "tests/runtime/tuned_database.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

namespace {

const db::Values kWide{{"vector", std::int64_t{16}}}, kNarrow{{"vector", std::int64_t{4}}},
    kSmall{{"vector", std::int64_t{16}}, {"block", std::int64_t{64}}};

/// A database with winners of f32 for 4096 (aligned and not) and 65536 elements, and a default for f32 and
/// f16.
struct Rig {
  Rig() : database(scratch.path() / "hone.db") {
    wide =
        database.winner({.dimensions = {{"numel", 4096}}, .changes = kWide, .alignment = 16, .median = 500});
    narrow =
        database.winner({.dimensions = {{"numel", 4096}}, .changes = kNarrow, .alignment = 4, .median = 700});
    small = database.winner(
        {.dimensions = {{"numel", 65536}}, .changes = kSmall, .alignment = 16, .median = 9000});
    database.checked_default("f32");
    database.checked_default("f16");
  }
  Scratch scratch;
  TunedDatabase database;
  db::Id wide, narrow, small;
};

void check_relu(Runtime& runtime, const Problem& problem, const Pick& pick, std::size_t numel,
                std::size_t offset = 0) {
  Memory x = runtime.allocate((numel + offset) * sizeof(float)),
         y = runtime.allocate((numel + offset) * sizeof(float));
  std::vector<float> in(numel), out(numel);
  for (std::size_t i = 0; i < numel; ++i) in[i] = static_cast<float>(i % 7) - 3;
  x.write(in.data(), numel * sizeof(float), offset * sizeof(float));
  const auto at = [&](const Memory& memory) { return static_cast<float*>(memory.data()) + offset; };
  runtime.launch(pick, {at(x), at(y)});
  runtime.synchronize();
  y.read(out.data(), numel * sizeof(float), offset * sizeof(float));
  for (std::size_t i = 0; i < numel; ++i) {
    if (out[i] != (in[i] < 0 ? 0 : in[i])) FAIL("element " << i << " is " << out[i]);
  }
  CHECK(runtime.run(problem, {at(x), at(y)}).rung() == pick.rung());
}

}  // namespace

TEST_CASE("the exact rung answers what was tuned, by alignment class") {
  Rig rig;
  Runtime runtime = Runtime::open(on_host(rig.database.file()));
  const Problem problem = runtime.family("relu").problem("f32", {4096});
  const Pick aligned = runtime.pick(problem, 256);
  CHECK(aligned.rung() == Rung::exact);
  CHECK(aligned.measurement() == rig.wide.hex());
  CHECK(std::string(aligned.variant()) == "simt");
  CHECK_THAT(aligned.configuration(), Contains("simt block=256") && Contains("vector=16"));
  CHECK(aligned.database() == rig.database.file().string());
  CHECK(aligned.statistics().median == 500);
  CHECK(aligned.statistics().spread() == 2);
  CHECK(aligned.alignment() == 16);
  CHECK(aligned.grid() == std::array<std::uint32_t, 3>{4, 1, 1});
  CHECK(aligned.block() == std::array<std::uint32_t, 3>{256, 1, 1});
  CHECK(aligned.checked());
  CHECK_FALSE(aligned.empty());
  CHECK(std::strlen(aligned.build_key()) == 32);
  CHECK(runtime.pick(problem, 16).measurement() == rig.wide.hex());

  const Pick loose = runtime.pick(problem, 8);
  CHECK(loose.rung() == Rung::exact);
  CHECK(loose.measurement() == rig.narrow.hex());
  CHECK(loose.alignment() == 4);
  check_relu(runtime, problem, aligned, 4096);
  check_relu(runtime, problem, loose, 4096, 1);
}

TEST_CASE("the nearest rung answers with the winner of the nearest problem that is legal here") {
  Rig rig;
  Runtime runtime = Runtime::open(on_host(rig.database.file()));
  const FamilyHandle relu = runtime.family("relu");
  const Pick below = runtime.pick(relu.problem("f32", {5000}), 16);
  CHECK(below.rung() == Rung::nearest);
  CHECK(below.measurement() == rig.wide.hex());
  CHECK(below.grid()[0] == 5);
  const Pick above = runtime.pick(relu.problem("f32", {40000}), 16);
  CHECK(above.measurement() == rig.small.hex());
  // 16384 is as far from 4096 as from 65536: one of them answers, always the same.
  CHECK(runtime.pick(relu.problem("f32", {16384}), 16).measurement() == rig.wide.hex());
  const Pick loose = runtime.pick(relu.problem("f32", {40000}), 4);
  CHECK(loose.rung() == Rung::nearest);
  CHECK(loose.measurement() == rig.narrow.hex());
  check_relu(runtime, relu.problem("f32", {5000}), below, 5000);
}

TEST_CASE(
    "the nearest rung prefers a farther winner of the pointers' class to a nearer one of a narrower class") {
  Scratch scratch;
  std::filesystem::copy(templates, scratch.path() / "templates", std::filesystem::copy_options::recursive);
  const auto manifest = scratch.path() / "templates/common/elementwise.toml";
  std::stringstream text;
  text << std::ifstream(manifest).rdbuf();
  const std::string first = "constraints = [";
  std::string changed = text.str();
  changed.insert(changed.find(first) + first.size(), "\n  \"vector < 16 OR numel >= 4096\",");
  std::ofstream(manifest, std::ios::trunc) << changed;

  TunedDatabase database(scratch.path() / "hone.db",
                         parse_family(scratch.path() / "templates/relu/relu.toml"));
  database.winner({.dimensions = {{"numel", 5000}}, .changes = kWide, .alignment = 16, .median = 500});
  const db::Id narrow =
      database.winner({.dimensions = {{"numel", 5000}}, .changes = kNarrow, .alignment = 4, .median = 700});
  const db::Id farther = database.winner({.dimensions = {{"numel", 300}},
                                          .changes = {{"vector", std::int64_t{8}}},
                                          .alignment = 8,
                                          .median = 90});
  Runtime runtime = Runtime::open(on_host(database.file()));
  const FamilyHandle relu = runtime.family("relu");
  const Pick pick = runtime.pick(relu.problem("f32", {2000}), 16);
  CHECK(pick.rung() == Rung::nearest);
  CHECK(pick.measurement() == farther.hex());
  // Where the pointers allow no more, the narrow one is its problem's best.
  CHECK(runtime.pick(relu.problem("f32", {2000}), 4).measurement() == narrow.hex());
  check_relu(runtime, relu.problem("f32", {2000}), pick, 2000);
}

TEST_CASE("the default answers where nothing was tuned, and none where it does not fit") {
  Rig rig;
  Runtime runtime = Runtime::open(on_host(rig.database.file()));
  const FamilyHandle relu = runtime.family("relu");
  const Pick by_default = runtime.pick(relu.problem("f16", {100}), 16);
  CHECK(by_default.rung() == Rung::by_default);
  CHECK(by_default.checked());
  CHECK(std::string(by_default.measurement()).empty());
  CHECK(by_default.statistics().n == 0);

  const Problem bf16 = relu.problem("bf16", {100});
  for (const Pick& none :
       {runtime.pick(relu.problem("f16", {100}), 2), runtime.pick(bf16, 16), runtime.prepare(bf16, 16)}) {
    CHECK(none.rung() == Rung::none);
    CHECK_FALSE(none);
    CHECK_THAT(none.why(), Contains("`hone tune relu --device " + rig.database.device().architecture));
    CHECK_THAT(none.why(), Contains("--shape numel=100`"));
    char memory[256];
    Status status;
    const std::array<CallArgument, 2> arguments{memory, memory};
    CHECK_FALSE(runtime.launch(none, arguments, nullptr, status));
    CHECK(status.code == ErrorCode::no_answer);
    CHECK(status.text == none.why());
  }
}

TEST_CASE("a default checked elsewhere is served to those alone that ask for it") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  db::Device other = database.device().record();
  other.name = "another CPU";
  database.checked_default("f32", {}, other);
  OpenOptions options = on_host(database.file());
  {
    Runtime runtime = Runtime::open(options);
    const Problem problem = runtime.family("relu").problem("f32", {100});
    CHECK(runtime.pick(problem, 16).rung() == Rung::none);
    CHECK_THAT(explain(runtime, problem, 16).steps[0].why, Contains("another CPU"));
  }
  options.allow_unchecked = true;
  Runtime runtime = Runtime::open(options);
  const Pick pick = runtime.pick(runtime.family("relu").problem("f32", {100}), 16);
  CHECK(pick.rung() == Rung::by_default);
  CHECK_FALSE(pick.checked());

  other.architecture = "x86-64-other";
  other.name = "a third";
  const Scratch elsewhere;
  TunedDatabase foreign(elsewhere.path() / "hone.db");
  foreign.checked_default("f32", {}, other);
  options.databases = {foreign.file().string()};
  Runtime third = Runtime::open(options);
  CHECK(third.pick(third.family("relu").problem("f32", {100}), 16).rung() == Rung::none);
}

TEST_CASE("another device's and another regime's winners do not answer") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 64}}, .regime = db::Regime::cold});
  database.checked_default("f32");
  OpenOptions options = on_host(database.file());
  {
    Runtime steady = Runtime::open(options);
    CHECK(steady.pick(steady.family("relu").problem("f32", {64}), 16).rung() == Rung::by_default);
  }
  options.regime = Regime::cold;
  Runtime cold = Runtime::open(options);
  CHECK(cold.pick(cold.family("relu").problem("f32", {64}), 16).rung() == Rung::exact);
}

TEST_CASE("an empty problem is exact and launches nothing") {
  Rig rig;
  Runtime runtime = Runtime::open(on_host(rig.database.file()));
  const Problem problem = runtime.family("relu").problem("f32", {0});
  const Pick pick = runtime.run(problem, {nullptr, nullptr});
  CHECK(pick.rung() == Rung::exact);
  CHECK(pick.empty());
  CHECK(std::string(pick.configuration()).empty());
}

TEST_CASE("layers: the better rung wins, then the order") {
  Rig rig;
  const Scratch scratch;
  TunedDatabase site(scratch.path() / "site.db");
  const db::Id exact = site.winner({.dimensions = {{"numel", 5000}}, .changes = kSmall});
  site.winner({.dimensions = {{"numel", 4096}}, .changes = kSmall});
  OpenOptions options = on_host(rig.database.file());
  options.databases.push_back(site.file().string());
  Runtime runtime = Runtime::open(options);
  const FamilyHandle relu = runtime.family("relu");
  const Pick pick = runtime.pick(relu.problem("f32", {5000}), 16);
  CHECK(pick.rung() == Rung::exact);
  CHECK(pick.measurement() == exact.hex());
  CHECK(pick.database() == site.file().string());
  CHECK(runtime.pick(relu.problem("f32", {4096}), 16).measurement() == rig.wide.hex());
}

TEST_CASE("a code object that is missing or damaged costs its rung, and says so") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 4096}}, .changes = kSmall, .with_code = false});
  database.checked_default("f32");
  Runtime runtime = Runtime::open(on_host(database.file()));
  const Problem problem = runtime.family("relu").problem("f32", {4096});
  const Explanation explanation = explain(runtime, problem, 16);
  CHECK(explanation.pick.rung() == Rung::by_default);
  REQUIRE(explanation.steps.size() >= 3);
  CHECK(explanation.steps[0].rung == Rung::exact);
  CHECK_THAT(explanation.steps[0].why, Contains("has no code object"));
  CHECK(explanation.steps.back().answered);
  CHECK(runtime.pick(problem, 16).rung() == Rung::by_default);
}

TEST_CASE("a code object that the device refuses is left aside by prepare and run") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  const db::Values broken{{"block", std::int64_t{64}}};
  const db::Id id = database.winner({.dimensions = {{"numel", 4096}}, .changes = broken, .with_code = false});
  const db::Id key = database.store().measurement(id)->build_key;
  database.store().put(db::CodeObject{key, database.device().architecture, "test", "relu",
                                      std::vector<std::byte>(100, std::byte{7})});
  database.checked_default("f32");
  Runtime runtime = Runtime::open(on_host(database.file()));
  const Problem problem = runtime.family("relu").problem("f32", {4096});
  const Pick first = runtime.pick(problem, 16);
  CHECK(first.rung() == Rung::exact);
  SECTION("prepare") {
    CHECK(runtime.prepare(problem, 16).rung() == Rung::by_default);
  }
  SECTION("run") {
    alignas(16) static float x[4096], y[4096];
    CHECK(runtime.run(problem, {x, y}).rung() == Rung::by_default);
  }
  SECTION("launch of the pick is an error, the next pick is another") {
    alignas(16) static float x[4096], y[4096];
    Status status;
    const std::array<CallArgument, 2> arguments{x, y};
    CHECK_FALSE(runtime.launch(first, arguments, nullptr, status));
    CHECK(status.code == ErrorCode::device);
    CHECK(runtime.pick(problem, 16).rung() == Rung::by_default);
  }
}

TEST_CASE("at the limit of modules loading is refused with a clear error") {
  Rig rig;
  OpenOptions options = on_host(rig.database.file());
  options.maximum_modules = 1;
  Runtime runtime = Runtime::open(options);
  const FamilyHandle relu = runtime.family("relu");
  CHECK(runtime.prepare(relu.problem("f32", {4096}), 16).rung() == Rung::exact);
  CHECK_THROWS_WITH(runtime.prepare(relu.problem("f32", {65536}), 16), Contains("maximum_modules"));
  CHECK(runtime.prepare(relu.problem("f32", {4096}), 16).rung() == Rung::exact);
}

TEST_CASE("what can be checked of a call is checked") {
  Rig rig;
  Runtime runtime = Runtime::open(on_host(rig.database.file()));
  const FamilyHandle relu = runtime.family("relu");
  const Problem problem = relu.problem("f32", {4096});
  const Pick pick = runtime.prepare(problem, 16);
  alignas(64) static float memory[8192];
  CHECK_THROWS_WITH(runtime.launch(pick, {memory}), Contains("1 arguments were given, the family has 2"));
  CHECK_THROWS_WITH(runtime.launch(pick, {memory, nullptr}), Contains("argument 1 is a null pointer"));
  CHECK_THROWS_WITH(runtime.launch(pick, {memory + 1, memory}),
                    Contains("argument 0 is not aligned to the 16 bytes"));
  CHECK_THROWS_WITH(runtime.launch(Pick(), {memory, memory}), Contains("the pick is empty"));
  Runtime other = Runtime::open(on_host(rig.database.file()));
  CHECK_THROWS_WITH(other.launch(pick, {memory, memory}), Contains("another runtime's"));
  CHECK_THROWS_WITH(runtime.pick(problem, 0), Contains("no power of two"));
  CHECK_THROWS_WITH(runtime.pick(problem, 24), Contains("no power of two"));

  CHECK_THROWS_WITH(relu.problem("f32", {-1}), Contains("numel = -1"));
  CHECK_THROWS_WITH(relu.problem("f32", std::vector<std::int64_t>{}),
                    Contains("takes 1 dimensions, 0 were given"));
  CHECK_THROWS_WITH(relu.problem("f32", {1, 2}), Contains("takes 1 dimensions"));
  CHECK_THROWS_WITH(relu.problem("f99", {1}), Contains("not an element type"));
  CHECK_THROWS_WITH(relu.problem("f64", {1}), Contains("no element type f64"));
  CHECK_THROWS_WITH(relu.problem("f32", {1}, "nt"), Contains("no layout"));
  CHECK_THROWS_AS(runtime.pick(relu.problem("f32", {INT64_MAX}), 16), Error);
  CHECK(relu.problem("f32", {{"numel", 4096}}) == problem);
  CHECK_THROWS_WITH(relu.problem("f32", {{"num", 4096}}), Contains("no dimension `num`"));

  Problem foreign = problem;
  foreign.family = 7;
  Status status;
  CHECK_FALSE(runtime.pick(foreign, 16, status));
  CHECK(status.code == ErrorCode::invalid);
  foreign = problem;
  foreign.rank = 200;
  CHECK_FALSE(runtime.pick(foreign, 16, status));
  CHECK(status.code == ErrorCode::invalid);
  CHECK(runtime.pick(problem, 16, status));
  CHECK(status.ok());

  CHECK_THROWS_WITH(runtime.family("rely"), Contains("did you mean `relu`?") && Contains("hone tune rely"));
  Memory block = runtime.allocate(16);
  CHECK_THROWS_WITH(block.write(memory, 17), Contains("passes the end"));
  CHECK_THROWS_WITH(block.read(memory, 1, SIZE_MAX), Contains("passes the end"));
}

TEST_CASE("databases that cannot be used are errors of the environment") {
  const Scratch scratch;
  const auto code = [](const std::filesystem::path& file) {
    try {
      Runtime::open(on_host(file));
    } catch (const Error& error) {
      CHECK_THAT(error.what(), Contains(file.filename().string()));
      return error.code();
    }
    return ErrorCode::ok;
  };
  CHECK(code(scratch.path() / "missing.db") == ErrorCode::environment);
  CHECK(code(scratch.write("text.db", "not a database, but long enough to be looked at by SQLite")) ==
        ErrorCode::environment);
  CHECK(code(scratch.path()) == ErrorCode::environment);
  OpenOptions options = on_host(scratch.path() / "missing.db");
  options.device = "no such device";
  CHECK_THROWS_AS(Runtime::open(options), Error);
}

TEST_CASE("with folders of templates, a winner whose source has changed does not answer") {
  const Scratch scratch;
  std::filesystem::copy(templates, scratch.path() / "templates", std::filesystem::copy_options::recursive);
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 4096}}, .changes = kSmall});
  OpenOptions options = on_host(database.file());
  options.template_folders = {(scratch.path() / "templates").string()};
  Runtime runtime = Runtime::open(options);
  const Problem problem = runtime.family("relu").problem("f32", {4096});
  CHECK(runtime.pick(problem, 16).rung() == Rung::exact);
  std::ofstream(scratch.path() / "templates/relu/op.h", std::ios::app) << "// changed\n";
  CHECK(runtime.pick(problem, 16).rung() == Rung::exact);
  CHECK(runtime.refresh());
  CHECK(runtime.pick(problem, 16).rung() == Rung::none);
  CHECK_THAT(explain(runtime, problem, 16).steps[0].why,
             Contains("stale: " + (scratch.path() / "templates/relu/op.h").string() + " has changed since"));
  CHECK_FALSE(runtime.refresh());

  std::filesystem::copy(
      templates, scratch.path() / "templates",
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  const auto manifest = scratch.path() / "templates/common/elementwise.toml";
  std::ostringstream read;
  read << std::ifstream(manifest).rdbuf();
  std::string text = read.str();
  const std::size_t at = text.find("alignment = \"vector\"");
  REQUIRE(at != std::string::npos);
  std::ofstream(manifest) << text.insert(at + 13, "1 * ");
  CHECK(runtime.refresh());
  CHECK_THAT(explain(runtime, problem, 16).steps[0].why,
             Contains("relu.toml describes variant simt differently since"));
}

TEST_CASE("strides take their defaults, and scalars reach the kernel") {
  const Scratch scratch;
  scratch.write("scale/scale.toml", R"toml(
[family]
name = "scale"
version = "1"
description = "rows of y = a x"
[problem]
element_types = ["f32"]
dimensions = [{ name = "m" }, { name = "n" }]
strides = [{ name = "ldx", default = "n", at_least = "n" }, { name = "ldy", default = "ldx + 1" }]
working_set = "2 * m * n * element_size"
work = "m * n"
[[argument]]
name = "a"
kind = "scalar"
type = "f32"
[[argument]]
name = "x"
extent = "m * ldx"
[[argument]]
name = "y"
extent = "m * ldy"
access = "write"
[[variant]]
name = "simt"
source = "scale.cpp"
entry = "scale"
targets = ["host"]
alignment = "element_size"
[variant.parameters]
block = [4]
[variant.defaults]
block = 4
[variant.launch]
grid = "m"
block = "block"
[check]
reference = "scale.cpp"
items = "m"
comparison = "bitwise"
)toml");
  // The kernel is written on the host's launch interface itself, so that this test depends on no prelude.
  scratch.write("scale/scale.cpp", R"(
#include "host_abi.h"
extern "C" void scale_hone_host(const hone_host_launch*, const hone_host_worker*, void* const* parameters,
                                unsigned long long first, unsigned long long last) {
  const float a = *static_cast<const float*>(parameters[0]);
  const float* x = *static_cast<float* const*>(parameters[1]);
  float* y = *static_cast<float* const*>(parameters[2]);
  const long long n = *static_cast<const long long*>(parameters[4]);
  const long long ldx = *static_cast<const long long*>(parameters[5]);
  const long long ldy = *static_cast<const long long*>(parameters[6]);
  for (unsigned long long row = first; row < last; ++row)
    for (long long column = 0; column < n; ++column) y[row * ldy + column] = a * x[row * ldx + column];
}
)");
  std::filesystem::copy(templates + "/prelude", scratch.path() / "prelude",
                        std::filesystem::copy_options::recursive);
  TunedDatabase database(scratch.path() / "hone.db", parse_family(scratch.path() / "scale/scale.toml"));
  database.checked_default("f32");
  Runtime runtime = Runtime::open(on_host(database.file()));
  const FamilyHandle scale = runtime.family("scale");
  const Problem problem = scale.problem(ElementType::f32, {2, 3});
  CHECK(problem.rank == 4);
  CHECK(problem.dimensions[2] == 3);
  CHECK(problem.dimensions[3] == 4);
  CHECK(scale.problem("f32", {{"n", 3}, {"m", 2}}) == problem);
  CHECK_THROWS_WITH(runtime.pick(scale.problem("f32", {2, 3, 2}), 16),
                    Contains("ldx = 2 must be at least n = 3"));

  const std::array<float, 6> x{1, 2, 3, 4, 5, 6};
  std::array<float, 8> y{9, 9, 9, 9, 9, 9, 9, 9};
  const Pick pick = runtime.run(problem, {0.5F, x.data(), y.data()});
  CHECK(pick.rung() == Rung::by_default);
  CHECK(y == std::array<float, 8>{0.5, 1, 1.5, 9, 2, 2.5, 3, 9});
}

TEST_CASE("picks from a pack equal those of its database, on read-only media") {
  Rig rig;
  rig.database.sweep({.element_type = "i8",
                      .configurations = {kWide, kSmall},
                      .points = {{4096, {100, 150}}, {65536, {900, 500}}, {1048576, {5000, 3000}}}});
  const auto file = rig.scratch.path() / "media" / "model.hone";
  std::filesystem::create_directories(file.parent_path());
  rig.database.store().pack({rig.database.device().record().id()}, file);
  std::filesystem::permissions(file.parent_path(), std::filesystem::perms(0555));
  Runtime full = Runtime::open(on_host(rig.database.file())), packed = Runtime::open(on_host(file));
  const FamilyHandle relu = full.family("relu"), same = packed.family("relu");
  std::map<Rung, int> rungs;
  for (const char* type : {"f32", "f16", "bf16", "i8"})
    for (std::int64_t numel = 1; numel < std::int64_t{1} << 33; numel = numel * 5 / 3 + 1)
      for (const std::int64_t exact : {numel, std::int64_t{4096}, std::int64_t{65536}})
        for (const std::size_t alignment : {1, 2, 4, 16, 256}) {
          const Pick one = full.prepare(relu.problem(type, {exact}), alignment);
          const Pick other = packed.prepare(same.problem(type, {exact}), alignment);
          ++rungs[one.rung()];
          INFO(type << " " << exact << " aligned to " << alignment);
          REQUIRE(one.rung() == other.rung());
          REQUIRE(std::string(one.configuration()) == other.configuration());
          REQUIRE(std::string(one.build_key()) == other.build_key());
          REQUIRE(std::string(one.measurement()) == other.measurement());
          REQUIRE(one.grid() == other.grid());
          REQUIRE(one.statistics().median == other.statistics().median);
        }
  CHECK(rungs.size() == 5);
  CHECK(packed.pick(same.problem("f32", {4096}), 16).database() == file.string());
  check_relu(packed, same.problem("f32", {4096}), packed.pick(same.problem("f32", {4096}), 16), 4096);
  std::filesystem::permissions(file.parent_path(), std::filesystem::perms(0755));
}
