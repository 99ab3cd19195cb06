#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "runtime/family.hpp"
#include "tests/runtime/family_folder.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

/// An environment variable, for as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) before_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("includes are expanded once each, with lines that name the files") {
  const Scratch scratch;
  scratch.write("common/shared.h", "#pragma once\n#include \"base.h\"\nint shared;\n");
  scratch.write("prelude/base.h", "#ifndef BASE_H\n#define BASE_H\nint base;\n#endif\n");
  const auto file =
      scratch.write("blend/blend.cpp",
                    "#include <cstdint>\n// #include \"absent.h\"\n/*\n#include \"absent.h\"\n*/\n"
                    "#include \"common/shared.h\"\n# include \"base.h\"\nint own;\n");
  const std::string text = expand_includes(file);
  CHECK(occurrences(text, "int base;") == 1);
  CHECK(occurrences(text, "int shared;") == 1);
  CHECK(occurrences(text, "#pragma once") == 0);
  CHECK(occurrences(text, "#include <cstdint>") == 1);
  CHECK_THAT(text, Contains("#line 1 \"common/shared.h\"") && Contains("#line 1 \"prelude/base.h\"") &&
                       Contains("#line 3 \"common/shared.h\"\nint shared;") &&
                       Contains("#line 8 \"blend/blend.cpp\"\nint own;"));
  CHECK_THAT(text, !Contains(scratch.path().string()));
}

TEST_CASE("an include under a condition is there on the other branch too") {
  const Scratch scratch;
  scratch.write("prelude/a.h", "#include \"both.h\"\nint a;\n");
  scratch.write("prelude/b.h", "#include \"both.h\"\nint b;\n");
  scratch.write("prelude/both.h", "#pragma once\nint both;\n");
  const auto file = scratch.write(
      "blend/blend.cpp", "#if HONE_A\n#include \"a.h\"\n#else\n#include \"b.h\"\n#endif\nint own;\n");
  const std::string text = expand_includes(file);
  for (const char* define : {"-DHONE_A=0", "-DHONE_A=1"}) {
    const auto unit = scratch.write("unit.cpp", text);
    const std::string command =
        std::string("c++ -P -E ") + define + " " + unit.string() + " > " + (scratch.path() / "out").string();
    REQUIRE(std::system(command.c_str()) == 0);
    std::ifstream out(scratch.path() / "out");
    const std::string result((std::istreambuf_iterator<char>(out)), {});
    CHECK(occurrences(result, "int both;") == 1);
    CHECK(occurrences(result, "int a;") + occurrences(result, "int b;") == 1);
  }
}

TEST_CASE("sources come from the family's folder, common and prelude alone") {
  const Scratch scratch;
  scratch.write("secret.h", "int secret;\n");
  scratch.write("other/other.h", "int other;\n");
  const auto expand = [&](const std::string& include) {
    return expand_includes(scratch.write("blend/blend.cpp", "#include \"" + include + "\"\n"));
  };
  CHECK_THROWS_WITH(expand("../secret.h"), Contains("blend/blend.cpp:1: `../secret.h` leaves the folders"));
  CHECK_THROWS_WITH(expand("../../etc/passwd"), Contains("leaves the folders"));
  CHECK_THROWS_WITH(expand((scratch.path() / "secret.h").string()), Contains("leaves the folders"));
  CHECK_THROWS_WITH(expand("other/other.h"), Contains("there is no `other/other.h`"));
  CHECK_THROWS_WITH(expand("secret.h"), Contains("there is no `secret.h`"));
  fs::create_symlink(scratch.path() / "secret.h", scratch.path() / "blend/link.h");
  CHECK_THROWS_WITH(expand("link.h"), Contains("is a link out of"));
  SECTION("a file that includes itself ends") {
    scratch.write("blend/loop.h", "#include \"loop.h\"\nint loop;\n");
    CHECK(occurrences(expand("loop.h"), "int loop;") == 1);
  }
}

TEST_CASE("sources and what their includes make have a largest size") {
  const Scratch scratch;
  scratch.write("blend/large.h", std::string((std::size_t{4} << 20) + 1, ' '));
  CHECK_THROWS_WITH(expand_includes(scratch.write("blend/blend.cpp", "#include \"large.h\"\n")),
                    Contains("large.h") && Contains("4194304"));
  // Under conditions each file is expanded wherever it is included: 2^30 times here.
  for (int i = 0; i < 30; ++i) {
    const std::string next = "#if A\n#include \"l" + std::to_string(i + 1) + ".h\"\n#endif\n";
    scratch.write("blend/l" + std::to_string(i) + ".h", next + next);
  }
  scratch.write("blend/l30.h", "int last;\n");
  CHECK_THROWS_WITH(expand_includes(scratch.write("blend/blend.cpp", "#if A\n#include \"l0.h\"\n#endif\n")),
                    Contains("its includes make a source of more than"));
}

TEST_CASE("a folder that others may write is not trusted, wherever it lies") {
  const Scratch user;
  const auto folder = user.path() / "hone/kernel_templates";
  fs::create_directories(folder);
  const Scratch blend;
  write_blend(blend);
  fs::copy(blend.path() / "blend", folder / "blend", fs::copy_options::recursive);
  const Variable data("XDG_DATA_HOME", user.path());
  const Variable none("HONE_TEMPLATES", "");
  CHECK(find_family("blend", template_folders({})).trusted);
  // Nor is what they may write in it: a family, a file of it, what it may include.
  fs::create_directories(folder / "common/deep");
  std::ofstream(folder / "common/deep/a.h") << "int a;\n";
  for (const char* part : {"", "blend", "blend/blend.cpp", "common", "common/deep/a.h"}) {
    INFO(part);
    const fs::perms before = fs::status(folder / part).permissions();
    fs::permissions(folder / part, before | fs::perms::others_write);
    CHECK_FALSE(find_family("blend", template_folders({})).trusted);
    fs::permissions(folder / part, before);
    CHECK(find_family("blend", template_folders({})).trusted);
  }
}

TEST_CASE("families are found in the order of the folders, and only some are trusted") {
  const Scratch given, listed, user;
  write_blend(given);
  write_blend(listed, manifest_with("version = \"3\"", "version = \"9\""));
  fs::create_directories(user.path() / "hone/kernel_templates");
  fs::copy(given.path() / "blend", user.path() / "hone/kernel_templates/blend", fs::copy_options::recursive);
  const Variable data("XDG_DATA_HOME", user.path());

  {
    const Variable list("HONE_TEMPLATES", listed.path().string() + ":/nowhere/at/all");
    const auto folders = template_folders({given.path()});
    REQUIRE(folders.size() >= 3);
    CHECK(folders[0].path == given.path());
    CHECK_FALSE(folders[0].trusted);
    CHECK(folders[1].path == listed.path());
    CHECK_FALSE(folders[1].trusted);
    CHECK(folders[2].trusted);
    CHECK(find_family("blend", folders).version == "3");
    CHECK_FALSE(find_family("blend", folders).trusted);
    CHECK(find_family("blend", template_folders({})).version == "9");
  }
  const Variable none("HONE_TEMPLATES", "");
  CHECK(find_family("blend", template_folders({})).trusted);
  CHECK(find_family("blend", template_folders({user.path() / "hone/kernel_templates"})).trusted);
  const auto names = list_families(template_folders({}));
  CHECK(std::find(names.begin(), names.end(), "blend") != names.end());
  CHECK_THROWS_WITH(find_family("blent", template_folders({})), Contains("did you mean `blend`?"));
  CHECK_THROWS_AS(find_family("../blend", template_folders({})), Error);
  CHECK_THROWS_WITH(template_folders({"/nowhere/at/all"}), Contains("no such folder"));
}
