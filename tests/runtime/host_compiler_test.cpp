// The host's C++ compiler: finding it, its options, what it says.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "runtime/host_library.hpp"
#include "tests/runtime/host_rig.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

namespace {

/// Sets an environment variable for a scope.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    if (value != nullptr) {
      setenv(name, value, 1);
    } else {
      unsetenv(name);
    }
  }
  ~Setting() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

class Folder {
 public:
  Folder() {
    std::string path = (fs::temp_directory_path() / "hone-test-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = path;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

CompileJob job(const std::string& source) {
  return {Backend::host, host_device_info().architecture, source, "k"};
}

}  // namespace

TEST_CASE("the host compiler names itself and its options") {
  const auto compiler = open_host_compiler();
  CHECK_THAT(compiler->version(), Catch::Matchers::Matches("(g|clang)\\+\\+ [0-9]+\\.[0-9]+.*"));
  const auto has = [&](const std::string& architecture, const std::string& option) {
    const auto options = compiler->options(architecture);
    return std::find(options.begin(), options.end(), option) != options.end();
  };
  CHECK(has("x86-64-v3", "-march=x86-64-v3"));
  CHECK(has("x86-64-v1", "-march=x86-64"));
  CHECK(has("x86-64-v3", "-O3"));
  CHECK_FALSE(has("x86-64-v3", "-DADDED"));
  const Setting flags("HONE_HOST_CXXFLAGS", " -DADDED  -DTOO ");
  CHECK(has("x86-64-v3", "-DADDED"));
  CHECK(has("x86-64-v3", "-DTOO"));
  CHECK_FALSE(has("x86-64-v3", ""));
}

TEST_CASE("a source compiles, and its folder is gone afterwards") {
  const Folder folder;
  const Setting where("TMPDIR", folder.path().c_str());
  const CompileResult result =
      open_host_compiler()->compile(job(with_prelude("HONE_KERNEL(k, u32* p) { *p = 1; }")));
  CHECK(result.ok);
  CHECK(result.object.size() > 1000);
  CHECK(result.resources.registers == -1);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a source that does not compile says why in its first line") {
  const Folder folder;
  const Setting where("TMPDIR", folder.path().c_str());
  const CompileResult result = open_host_compiler()->compile(job("int f() { return missing_name; }\n"));
  CHECK_FALSE(result.ok);
  CHECK(result.object.empty());
  const std::string first = result.log.substr(0, result.log.find('\n'));
  CHECK_THAT(first, Contains("error:") && Contains("missing_name"));
  CHECK(fs::is_empty(folder.path()));
  CHECK_FALSE(open_host_compiler()->compile(job("")).object.empty());
}

TEST_CASE("a compiler that is not there is one clear line") {
  const Setting wanted("HONE_CXX", "/nonexistent/compiler");
  CHECK_THROWS_WITH(open_host_compiler(),
                    StartsWith("HONE_CXX=/nonexistent/compiler: ") && Contains("No such file"));
  const Setting silent("HONE_CXX", "true");
  CHECK_THROWS_WITH(open_host_compiler(), Contains("neither GCC's nor clang's"));
  const Setting failing("HONE_CXX", "false");
  CHECK_THROWS_WITH(open_host_compiler(), Contains("ended with status 1"));
}

TEST_CASE("without any compiler in PATH the line says what to install") {
  const Folder folder;
  const Setting wanted("HONE_CXX", nullptr);
  const Setting other("CXX", nullptr);
  const Setting path("PATH", folder.path().c_str());
  CHECK_THROWS_WITH(open_host_compiler(), Contains("no C++ compiler") && Contains("install g++"));
}

TEST_CASE("HONE_CXX comes before CXX, and may have words") {
  const Setting other("CXX", "/nonexistent/compiler");
  const Setting wanted("HONE_CXX", "c++ -DFROM_WORDS=5");
  const CompileResult result = open_host_compiler()->compile(job("static_assert(FROM_WORDS == 5, \"\");"));
  CHECK(result.ok);
}

TEST_CASE("a compiler that crashes costs the compilation alone") {
  const Folder folder;
  const fs::path script = folder.path() / "crashing";
  std::ofstream(script) << "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'g++ (test) 1.0'; exit 0; }\n"
                           "[ \"$1\" = -dumpfullversion ] && { echo 1.0; exit 0; }\nkill -SEGV $$\n";
  chmod(script.c_str(), 0700);
  const Setting wanted("HONE_CXX", script.c_str());
  const auto compiler = open_host_compiler();
  CHECK(compiler->version() == "g++ 1.0");
  const CompileResult result = compiler->compile(job("int x;"));
  CHECK_FALSE(result.ok);
  CHECK_THAT(result.log, Contains("ended by signal 11"));
}

TEST_CASE("a host library's functions can be called") {
  const HostLibrary library(compile_host_library(
      "#include <cmath>\nextern \"C\" double half(double x) { return std::ldexp(x, -1); }"));
  const auto half = reinterpret_cast<double (*)(double)>(library.symbol("half"));
  REQUIRE(half != nullptr);
  CHECK(half(3) == 1.5);
  CHECK(library.symbol("third") == nullptr);
  CHECK_THROWS_WITH(compile_host_library("int f( {"), Contains("error:"));
}

TEST_CASE("folders that a killed compiler left behind are removed, those in use are not") {
  std::string name = (fs::temp_directory_path() / "hone-test-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  const fs::path folder = name;
  const Setting temporary("TMPDIR", folder.c_str());
  const auto old = fs::file_time_type::clock::now() - std::chrono::minutes(5);
  for (const char* const each :
       {"hone-compile-left", "hone-compile-used", "hone-compile-fresh", "other-left"}) {
    fs::create_directories(folder / each);
    std::ofstream(folder / each / "kernel.cpp") << "int a;";
    if (std::string(each) != "hone-compile-fresh") fs::last_write_time(folder / each, old);
  }
  const int used = open((folder / "hone-compile-used").c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(flock(used, LOCK_EX | LOCK_NB) == 0);
  open_compiler(Backend::host);
  CHECK_FALSE(fs::exists(folder / "hone-compile-left"));
  CHECK(fs::exists(folder / "hone-compile-used" / "kernel.cpp"));
  CHECK(fs::exists(folder / "hone-compile-fresh" / "kernel.cpp"));
  CHECK(fs::exists(folder / "other-left" / "kernel.cpp"));
  close(used);
  fs::remove_all(folder);
}
