#include "runtime/plan.hpp"

#include <catch2/catch.hpp>

#include "tests/runtime/family_folder.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

namespace {

DeviceInfo device(Backend backend = Backend::host) {
  DeviceInfo info;
  info.backend = backend;
  info.architecture = backend == Backend::host ? "x86-64-v3" : backend == Backend::cuda ? "sm_90a" : "gfx942";
  info.compute_units = 4;
  info.shared_memory_bytes = 49152;
  info.max_threads = 1024;
  return info;
}

struct Rig {
  explicit Rig(const std::string& manifest = whole_manifest)
      : family(parse_family(write_blend(scratch, manifest))) {}

  db::Problem problem(const std::vector<std::pair<std::string, std::int64_t>>& dimensions,
                      const std::string& type = "f32", const std::string& layout = "nn") {
    return make_problem(evaluator, family, type, layout, dimensions);
  }
  std::variant<Plan, Illegal> plan(const db::Values& changes, const db::Problem& on,
                                   const DeviceInfo& info = device()) {
    db::Values values = family.variants[0].defaults;
    for (const auto& [name, value] : changes) values[name] = value;
    return make_plan(evaluator, family, family.variants[0], values, on, info);
  }
  std::string why(const db::Values& changes, const db::Problem& on, const DeviceInfo& info = device()) {
    const auto result = plan(changes, on, info);
    return std::holds_alternative<Illegal>(result) ? std::get<Illegal>(result).why : "legal";
  }

  Scratch scratch;
  Family family;
  db::Evaluator evaluator;
};

}  // namespace

TEST_CASE("a problem is completed and checked against its family") {
  Rig rig;
  const db::Problem problem = rig.problem({{"K", 8}, {"M", 3}});
  CHECK(problem.dimensions ==
        std::vector<std::pair<std::string, std::int64_t>>{{"M", 3}, {"K", 8}, {"lda", 8}, {"ldb", 16}});
  CHECK(rig.problem({{"M", 3}, {"K", 8}, {"lda", 10}}).dimensions[3].second == 20);
  CHECK(working_set(rig.evaluator, rig.family, problem) == (3 * 8 + 3 * 8) * 4);
  CHECK(work(rig.evaluator, rig.family, problem) == 48);
  const auto shapes = argument_shapes(rig.evaluator, rig.family, rig.problem({{"M", 3}, {"K", 8}}, "f16"));
  REQUIRE(shapes.size() == 3);
  CHECK(shapes[0].elements == 0);
  CHECK(shapes[1].elements == 24);
  CHECK(shapes[1].bytes() == 48);
  CHECK(shapes[2].bytes() == 96);

  CHECK_THROWS_WITH(rig.problem({{"M", 3}}), Contains("dimension `K` is missing"));
  CHECK_THROWS_WITH(rig.problem({{"M", 3}, {"K", 8}, {"N", 1}}), Contains("no dimension `N`"));
  CHECK_THROWS_WITH(rig.problem({{"M", 3}, {"K", 8}, {"M", 1}}), Contains("given twice"));
  CHECK_THROWS_WITH(rig.problem({{"M", -1}, {"K", 8}}), Contains("M = -1 must be at least 0"));
  CHECK_THROWS_WITH(rig.problem({{"M", 1}, {"K", 4097}}), Contains("K = 4097 must be 2 to 4096"));
  CHECK_THROWS_WITH(rig.problem({{"M", 1}, {"K", 8}, {"lda", 7}}),
                    Contains("lda = 7 must be at least K = 8"));
  CHECK_THROWS_WITH(rig.problem({{"M", 1}, {"K", 8}}, "i8"), Contains("no element type `i8`"));
  CHECK_THROWS_WITH(rig.problem({{"M", 1}, {"K", 8}}, "nonsense"), Contains("known: f32, f16"));
  CHECK_THROWS_WITH(rig.problem({{"M", 1}, {"K", 8}}, "f32", ""), Contains("give --layout "));
  CHECK_THROWS_WITH(rig.problem({{"M", 1}, {"K", 8}}, "f32", "tt"), Contains("no layout `tt`"));
}

TEST_CASE("sizes that pass 64 bits are told, not wrapped") {
  Rig rig;
  CHECK_THROWS_AS(rig.problem({{"M", INT64_MAX}, {"K", 8}}), Error);
  CHECK_THROWS_WITH(rig.problem({{"M", INT64_MAX / 8}, {"K", 8}}),
                    Contains("more than any device can address"));
  CHECK_THROWS_AS(rig.problem({{"M", INT64_MAX / 63}, {"K", 8}}), Error);
  CHECK_NOTHROW(rig.problem({{"M", INT64_MAX / 256}, {"K", 8}}));
  CHECK_THROWS_AS(rig.problem({{"M", 1}, {"K", 8}, {"lda", INT64_MAX}}), Error);
}

TEST_CASE("a legal configuration's launch") {
  Rig rig;
  const auto planned = rig.plan({{"block", std::int64_t{64}}}, rig.problem({{"M", 130}, {"K", 5}}));
  REQUIRE(std::holds_alternative<Plan>(planned));
  const Plan& plan = std::get<Plan>(planned);
  CHECK_FALSE(plan.empty);
  CHECK(plan.geometry.grid == std::array<std::uint32_t, 3>{3, 1, 1});
  CHECK(plan.geometry.block == std::array<std::uint32_t, 3>{64, 1, 1});
  CHECK(plan.geometry.dynamic_shared_bytes == 256);
  CHECK(plan.alignment == 4);
  CHECK(plan.needed_blocks == std::array<std::int64_t, 3>{3, 0, 0});
  CHECK(plan.arguments.size() == 4);
  CHECK(plan.dimensions == std::vector<std::int64_t>{130, 5, 5, 10});
}

TEST_CASE("a problem with nothing to write has an empty plan") {
  Rig rig;
  const auto planned = rig.plan({}, rig.problem({{"M", 0}, {"K", 5}}));
  REQUIRE(std::holds_alternative<Plan>(planned));
  CHECK(std::get<Plan>(planned).empty);
}

TEST_CASE("what is not legal says why") {
  Rig rig;
  const auto small = rig.problem({{"M", 100}, {"K", 5}});
  CHECK_THAT(rig.why({}, rig.problem({{"M", 1000}, {"K", 1000}})),
             Contains("M * K < 1000000 OR load = 'cs'") && Contains("load = default"));
  CHECK(rig.why({{"load", "cs"}}, rig.problem({{"M", 1000}, {"K", 1000}})) == "legal");
  CHECK_THAT(rig.why({}, small, device(Backend::hip)), Contains("variant simt does not run on hip gfx942"));

  DeviceInfo tight = device();
  tight.max_threads = 100;
  CHECK_THAT(rig.why({}, small, tight), Contains("a block has 128 threads, above the device's limit of 100"));
  tight = device();
  tight.shared_memory_bytes = 511;
  CHECK_THAT(rig.why({}, small, tight), Contains("512 bytes of shared memory"));

  const auto grid = [](const char* expressions, std::int64_t rows) {
    Rig other(manifest_with("grid = [\"(M + block - 1) / block\", \"tile\"]",
                            std::string("grid = ") + expressions));
    return other.why({{"load", "cs"}}, other.problem({{"M", rows}, {"K", 2}}));
  };
  CHECK(grid("[\"M\"]", 2147483647) == "legal");
  CHECK_THAT(grid("[\"M\"]", 2147483648), Contains("grid.x is 2147483648, above the limit of 2147483647"));
  CHECK(grid("[\"1\", \"M\"]", 65535) == "legal");
  CHECK_THAT(grid("[\"1\", \"M\"]", 65536), Contains("grid.y is 65536"));
  CHECK_THAT(grid("[\"1\", \"1\", \"M\"]", 65536), Contains("grid.z is 65536"));
  CHECK_THAT(grid("[\"M / 10\"]", 9), Contains("grid.x is 0, below 1"));

  Rig cube(manifest_with("block = [\"block\"]", "block = [\"block\", \"4\", \"4\"]"));
  CHECK_THAT(cube.why({}, cube.problem({{"M", 1}, {"K", 2}})),
             Contains("2048 threads, above the device's limit of 1024"));
}

TEST_CASE("an expression that fails is an error, not an answer") {
  const auto fails = [](const char* piece, const char* by) {
    Rig rig(manifest_with(piece, by));
    rig.plan({}, rig.problem({{"M", 7}, {"K", 5}}));
  };
  CHECK_THROWS_WITH(fails("\"tile <= block\"", "\"1 / (tile - 1)\""), Contains("1 / (tile - 1)"));
  CHECK_THROWS_WITH(fails("\"tile <= block\"", "\"9223372036854775807 + tile\""),
                    Contains("9223372036854775807 + tile"));
  CHECK_THROWS_WITH(fails("alignment = \"element_size\"", "alignment = \"3\""), Contains("power of two"));
  CHECK_THROWS_WITH(fails("covers = [\"block\"]", "covers = [\"0\"]"), Contains("must be above 0"));
  CHECK_THROWS_WITH(fails("extent = [\"M\"]", "extent = [\"0 - M\"]"), Contains("is negative"));
  Rig rig;
  const auto problem = rig.problem({{"M", 7}, {"K", 5}});
  CHECK_THROWS_WITH(make_plan(rig.evaluator, rig.family, rig.family.variants[0], {}, problem, device()),
                    Contains("no value for `tile`"));
  db::Values more = rig.family.variants[0].defaults;
  more["other"] = std::int64_t{1};
  CHECK_THROWS_WITH(make_plan(rig.evaluator, rig.family, rig.family.variants[0], more, problem, device()),
                    Contains("parameters that the variant has not"));
}

TEST_CASE("a constraint that never ends is stopped") {
  const std::string endless =
      "(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c) > tile";
  const auto run = [&] {
    Rig rig(manifest_with("\"tile <= block\"", "\"" + endless + "\""));
    rig.plan({}, rig.problem({{"M", 7}, {"K", 5}}));
  };
  CHECK_THROWS_AS(run(), Error);
}

TEST_CASE("which constraints read the problem") {
  Rig rig;
  const Variant& simt = rig.family.variants[0];
  CHECK_FALSE(reads_problem(rig.evaluator, rig.family, simt, simt.constraints[0]));
  CHECK(reads_problem(rig.evaluator, rig.family, simt, simt.constraints[1]));
  CHECK_FALSE(reads_problem(rig.evaluator, rig.family, simt, "element_size > 1 AND max_threads > 1"));
}

TEST_CASE("a translation unit is its macros, then the source") {
  Rig rig;
  const Variant& simt = rig.family.variants[0];
  const std::string text = translation_unit(simt, simt.defaults, "f16", "nt", Backend::cuda);
  CHECK(text ==
        "#define HONE_BACKEND_CUDA 1\n"
        "#define HONE_ELEMENT_F16 1\n"
        "#define HONE_ELEMENT_SIZE 2\n"
        "#define HONE_LAYOUT_NT 1\n"
        "#define HONE_TILE 1\n"
        "#define HONE_BLOCK 128\n"
        "#define HONE_LOAD_DEFAULT 0\n"
        "#define HONE_LOAD_CS 1\n"
        "#define HONE_LOAD HONE_LOAD_DEFAULT\n" +
            simt.source);
  CHECK_THAT(translation_unit(simt, simt.defaults, "f32", "", Backend::host), !Contains("HONE_LAYOUT"));
  db::Values other = simt.defaults;
  other["load"] = std::string("nt");
  CHECK_THROWS_WITH(translation_unit(simt, other, "f32", "", Backend::host), Contains("no value `nt`"));
  CHECK_THROWS_AS(translation_unit(simt, {}, "f32", "", Backend::host), Error);
}

TEST_CASE("the alignment of pointers") {
  alignas(4096) static char memory[8192];
  const auto of = [](std::vector<const void*> pointers) { return alignment_of(pointers); };
  CHECK(of({}) == 4096);
  CHECK(of({nullptr}) == 4096);
  CHECK(of({memory, memory + 4096}) == 4096);
  CHECK(of({memory, memory + 16}) == 16);
  CHECK(of({memory + 16, memory + 2}) == 2);
  CHECK(of({memory + 1}) == 1);
}
