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
      Bad{"[\"x\", \"K\", \"y\", \"a\"]", "[\"x\", \"z\"]", "no argument and no dimension"},
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

TEST_CASE("a manifest that cannot be read is an error that names it") {
  const Scratch scratch;
  CHECK_THROWS_WITH(parse_family(scratch.path() / "blend/blend.toml"),
                    Contains("blend.toml: cannot be read"));
  CHECK_THROWS_AS(parse_family(scratch.path()), Error);
}
