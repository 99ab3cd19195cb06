#include <catch2/catch.hpp>

#include "runtime/family.hpp"
#include "tests/runtime/family_folder.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

namespace {

/// The one line that a manifest is refused with.
std::string fault(const std::string& manifest) {
  const Scratch scratch;
  try {
    parse_family(write_blend(scratch, manifest));
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid);
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return error.what();
  }
  return "accepted";
}

struct Bad {
  const char* piece;
  const char* by;
  const char* says;
};

}  // namespace

TEST_CASE("a manifest's faults are told by file, line and field") {
  const auto line = fault(manifest_with("entry = \"blend\"", "entri = \"blend\""));
  CHECK_THAT(line,
             Contains("blend.toml:") && Contains("variant[0].entri: no such key; did you mean `entry`?"));
  const std::string before = whole_manifest.substr(0, whole_manifest.find("entry = "));
  const auto number = std::count(before.begin(), before.end(), '\n') + 1;
  CHECK_THAT(line, Contains("blend.toml:" + std::to_string(number) + ":"));
}

TEST_CASE("faulty manifests are refused with one line") {
  const auto bad = GENERATE(
      // TOML and shape
      Bad{"[family]", "[family", "not valid TOML"},
      Bad{"version = \"3\"", "version = \xcf\x9f", "not valid TOML: a character that is not ASCII"},
      Bad{"version = \"3\"", "version =-:\"\xc3\xa9 3\"", "not valid TOML"},
      Bad{"version = \"3\"", "version =+\"\"\xef\xb2\xbf\"\"", "not valid TOML"},
      Bad{"version = \"3\"", "version = [\"\"\"3\"\"\"\", \xc3\xa9]", "not valid TOML"},
      Bad{"version = \"3\"\n", "", "family: `version` is missing"},
      Bad{"version = \"3\"", "version = 3", "family.version: must be a text"},
      Bad{"version = \"3\"", "\"ver\\nsion\" = \"3\"", "no such key"},
      Bad{"[check]", "[chekc]", "chekc: no such key; did you mean `check`?"},
      Bad{"working_set", "workingset", "did you mean `working_set`?"},
      Bad{"entry = \"blend\"\n", "", "variant[0]: `entry` is missing"},
      Bad{"name = \"blend\"", "name = \"blond\"", "must lie in a file blond/blond.toml"},
      Bad{"name = \"blend\"", "name = \"../blend\"", "is not a name"},
      // Problem
      Bad{"[\"f32\", \"f16\"]", "[\"f32\", \"f61\"]", "`f61` is not an element type; did you mean"},
      Bad{"[\"f32\", \"f16\"]", "[]", "at least one element type"},
      Bad{"[\"f32\", \"f16\"]", "[\"f32\", \"f32\"]", "names one twice"},
      Bad{"{ name = \"M\", minimum = 0 }", "{ name = \"M\", minimum = -1 }", "must not be negative"},
      Bad{"minimum = 2, maximum = 4096", "minimum = 5000, maximum = 4096", "is above maximum"},
      Bad{"minimum = 2, maximum = 4096", "minimum = \"2\"", "must be an integer"},
      Bad{"{ name = \"ldb\"", "{ name = \"LDA\"", "the name `LDA` is taken"},
      Bad{"{ name = \"ldb\"", "{ name = \"warp_size\"", "is taken"},
      Bad{"default = \"2 * lda\"", "default = \"2 * ldc\"", "ldc"},
      Bad{"default = \"K\", at_least", "default = \"ldb\", at_least", "ldb"},
      Bad{"sweep = \"K\"", "sweep = \"Q\"", "is no dimension"},
      Bad{"work = \"2 * M * K\"", "work = \"2 * M * \"", "problem.work"},
      Bad{"work = \"2 * M * K\"", "work = \"2 * block\"", "block"},
      Bad{"work = \"2 * M * K\"", "work = \"(SELECT count(*) FROM sqlite_master)\"", "problem.work"},
      // Arguments
      Bad{"extent = \"M * lda\"\n", "", "argument[1]: `extent` is missing"},
      Bad{"kind = \"scalar\"", "kind = \"vector\"", "none of pointer, scalar"},
      Bad{"kind = \"scalar\"", "kind = \"scalar\"\nextent = \"M\"", "a scalar has none"},
      Bad{"access = \"read_write\"", "access = \"read\"", "one must have access"},
      Bad{"fill = \"any\"", "fill = \"some\"", "none of uniform, any"},
      Bad{"[[variant]]", "[[argument]]\nname = \"m\"\nextent = \"M\"\n[[variant]]", "`m` is taken"},
      // Variants
      Bad{"\"cuda >= sm_80\"", "\"cuda >= 80\"", "variant[0].targets[1]"},
      Bad{"\"tile <= block\"", "\"tile <= blok\"", "variant[0].constraints[0]"},
      Bad{"\"tile <= block\"", "\"tile <=\"", "variant[0].constraints[0]"},
      Bad{"\"tile <= block\"", "\"1; DROP TABLE x\"", "variant[0].constraints[0]"},
      Bad{"alignment = \"element_size\"", "alignment = \"element_siz\"", "variant[0].alignment"},
      Bad{"[\"x\", \"K\", \"y\", \"a\"]", "[\"x\", \"z\"]", "`z` is no argument, dimension or tensor map"},
      Bad{"tile = [2, 1]", "tile = []", "at least one value"},
      Bad{"tile = [2, 1]", "tile = [2, \"one\"]", "both integers and texts"},
      Bad{"tile = [2, 1]", "tile = [2, 2, 1]", "lists 2 twice"},
      Bad{"tile = [2, 1]", "tile = [2, 1.5]", "an integer or a text"},
      Bad{"tile = [2, 1]", "tile = [2, 1]\nTile2 = [1]", "[a-z][a-z0-9_]*"},
      Bad{"tile = [2, 1]", "tile = [2, 1]\nm = [1]", "is taken"},
      Bad{"tile = [2, 1]", "tile = [2, 1]\nelement_x = [1]", "kept for macros"},
      Bad{"tile = [2, 1]", "tile = [2, 1]\nload_cs = [1]", "HONE_LOAD_CS"},
      Bad{"load = [\"default\", \"cs\"]", "load = [\"default\", \"c-s\"]", "may only have [a-z0-9_]"},
      Bad{"tile = 1\nblock = 128", "block = 128", "`tile` is missing"},
      Bad{"tile = 1\nblock = 128", "tile = 7\nblock = 128", "tile = 7 is not in the parameter's list"},
      Bad{"tile = 1\nblock = 128", "tile = 1\nblok = 128", "no such parameter; did you mean `block`?"},
      Bad{"\"tile\"]\nblock", "\"tile\", \"1\", \"1\"]\nblock", "1 to 3 expressions"},
      Bad{"covers = [\"block\"]\n", "", "come together"},
      Bad{"covers = [\"block\"]", "covers = [\"block\", \"\"]", "as many expressions"},
      Bad{"name = \"plain\"", "name = \"simt\"", "two variants"},
      Bad{"source = \"blend.cpp\"", "source = \"../../etc/passwd\"", "leaves the folders"},
      Bad{"source = \"blend.cpp\"", "source = \"/etc/passwd\"", "leaves the folders"},
      Bad{"source = \"blend.cpp\"", "source = \"none.cpp\"", "there is no `none.cpp`"},
      // Workspace, tensor maps and clusters
      Bad{"workspace = \"K * 1024\"", "workspace = \"L * 1024\"", "variant[2].workspace: "},
      Bad{"workspace = \"K * 1024\"\n", "", "`workspace` is no argument, dimension or tensor map"},
      Bad{"\"y_map\", \"workspace\"", "\"y_map\"",
          "variant[2].workspace: the kernel does not take it: name `workspace` in `arguments`"},
      Bad{"[\"x_map\", \"y_map\"", "[\"x_map\"",
          "variant[2].tensor_map[1]: the kernel does not take it: name `y_map` in `arguments`"},
      Bad{"arguments = [\"x_map\", \"y_map\", \"workspace\", \"M\"]\n", "", "the kernel does not take it"},
      Bad{"[\"x_map\", \"y_map\"", "[\"x_mop\", \"y_map\"", "did you mean `x_map`?"},
      Bad{"name = \"x_map\"", "name = \"workspace\"", "the name `workspace` is taken"},
      Bad{"name = \"x_map\"", "name = \"x map\"", "variant[2].tensor_map[0].name: `x map` is not a name"},
      Bad{"argument = \"x\"\n", "", "variant[2].tensor_map[0]: `argument` is missing"},
      Bad{"argument = \"x\"", "argument = \"X\"",
          "tensor_map[0].argument: `X` is no pointer of the family; did"},
      Bad{"argument = \"x\"", "argument = \"a\"", "`a` is no pointer of the family"},  // a scalar
      Bad{"extent = [\"M * K\"]", "extent = []", "tensor_map[1].extent: must have 1 to 5 axes"},
      Bad{"extent = [\"M * K\"]", "extent = [1, 1, 1, 1, 1, 1]", "must have 1 to 5 axes"},
      Bad{"extent = [\"M * K\"]", "extent = \"M * K\"", "tensor_map[1].extent: must be a list"},
      Bad{"extent = [\"K\", \"M\"]", "extent = [\"K\", \"m\"]", "variant[2].tensor_map[0].extent[1]"},
      Bad{"stride = [\"lda\"]", "stride = []", "tensor_map[0].stride: must have one less than `extent`"},
      Bad{"stride = [\"lda\"]", "stride = [1, \"lda\"]", "must have one less than `extent`"},
      Bad{"stride = [\"lda\"]", "stride = [\"ld\"]", "variant[2].tensor_map[0].stride[0]"},
      Bad{"box = [32, \"rows\"]", "box = [32]", "tensor_map[0].box: must have as many axes as `extent`"},
      Bad{"box = [32, \"rows\"]", "box = [32, \"row\"]", "variant[2].tensor_map[0].box[1]"},
      Bad{"box = [32, \"rows\"]", "box = [32, 1.5]", "tensor_map[0].box[1]: must be an expression"},
      Bad{"swizzle = 128", "swizle = 128", "tensor_map[0].swizle: no such key; did you mean `swizzle`?"},
      Bad{"swizzle = 128", "swizzle = \"wide\"", "variant[2].tensor_map[0].swizzle"},
      Bad{"promotion = \"256\"", "promotion = \"l2\"", "variant[2].tensor_map[0].promotion"},
      Bad{"cluster = [2]", "cluster = [2, 1, 1]", "variant[2].launch.cluster: has more axes than `grid`"},
      Bad{"cluster = [2]", "cluster = []", "variant[2].launch.cluster: must have 1 to 3 expressions"},
      Bad{"cluster = [2]", "cluster = [2, \"row\"]", "variant[2].launch.cluster[1]"},
      Bad{"\"cuda >= sm_90a\"", "\"cuda >= sm_80\"",
          "variant[2].targets: a variant with tensor maps runs on CUDA from sm_90 on alone"},
      Bad{"\"cuda >= sm_90a\"", "\"cuda >= sm_90a\", \"host\"", "a variant with tensor maps runs on"},
      Bad{"\"cuda >= sm_90a\"", "\"cuda\"", "a variant with tensor maps runs on"},
      Bad{"\"cuda >= sm_90a\"", "\"cuda == sm_80\"", "a variant with tensor maps runs on"},
      Bad{"\"cuda >= sm_90a\"", "\"hip in [gfx942]\"", "a variant with tensor maps runs on"},
      // Ladder and check
      Bad{"variant = \"simt\"", "variant = \"smit\"", "did you mean `simt`?"},
      Bad{"parameters = { load = \"cs\" }", "parameters = { load = \"nt\" }", "not in the parameter's list"},
      Bad{"best_of = [\"block\"]", "best_of = [\"blok\"]", "did you mean `block`?"},
      Bad{"comparison = \"relative\"", "comparison = \"close\"", "none of bitwise, relative, elementwise"},
      Bad{"comparison = \"relative\"", "comparison = \"bitwise\"", "a bitwise comparison has no bounds"},
      Bad{"f32 = 1e-6, ", "", "`f32` is missing"}, Bad{"f32 = 1e-6", "f32 = 0", "above 0"},
      Bad{"{ M = 0, K = 2 }", "{ M = 0, K = 1 }", "K = 1 must be 2 to 4096"},
      Bad{"{ M = 0, K = 2 }", "{ M = 0 }", "dimension `K` is missing"},
      Bad{"{ M = 0, K = 2 }", "{ M = 0, k = 2 }", "no such dimension"},
      Bad{"{ M = 0, K = 2 }", "{ M = 9223372036854775807, K = 2 }", "check.extents[0]"},
      Bad{"{ M = 0, K = 2 }", "{ M = 9223372036854775808, K = 2 }", "not valid TOML"},
      Bad{"misalignments = [1, 3]", "misalignments = [0]", "at least 1"},
      Bad{"reference = \"reference.cpp\"", "reference = \"missing.cpp\"", "check.reference"});
  INFO(bad.piece << " -> " << bad.by);
  CHECK_THAT(fault(manifest_with(bad.piece, bad.by)), Contains(bad.says));
}

TEST_CASE("a tensor map's name is its own, and there are few of them") {
  const std::string map =
      "[[variant.tensor_map]]\nname = \"NAME\"\nargument = \"x\"\nextent = [\"K\"]\nstride = []\nbox = "
      "[32]\n";
  const auto more = [&](const std::vector<std::string>& names) {
    std::string text = whole_manifest, tables, taken;
    for (const std::string& name : names) {
      tables += map;
      tables.replace(tables.find("NAME"), 4, name);
      taken += ", \"" + name + "\"";
    }
    text.insert(text.find("[[variant.tensor_map]]"), tables);
    return text.insert(text.find("[\"x_map\", \"y_map\"") + 8, taken);
  };
  CHECK(fault(more({"z_map"})) == "accepted");
  CHECK_THAT(fault(more({"x_map"})), Contains("variant[2].tensor_map[1].name: the name `x_map` is taken"));
  for (const char* name : {"K", "X", "warp_size"})
    CHECK_THAT(fault(more({name})),
               Contains("tensor_map[0].name: the name `" + std::string(name) + "` is taken"));
  CHECK(fault(more({"a1", "a2", "a3", "a4", "a5", "a6"})) == "accepted");
  CHECK_THAT(fault(more({"a1", "a2", "a3", "a4", "a5", "a6", "a7"})),
             Contains("variant[2].tensor_map: at most 8 are possible"));
}

TEST_CASE("a manifest that cannot be read is an error that names it") {
  const Scratch scratch;
  CHECK_THROWS_WITH(parse_family(scratch.path() / "blend/blend.toml"),
                    Contains("blend.toml: cannot be read"));
  CHECK_THROWS_AS(parse_family(scratch.path()), Error);
}
