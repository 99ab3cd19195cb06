// The library and its process: forks, unloading, system calls, files that are replaced, what never throws.
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "hone/hone.h"
#include "tests/runtime/stub_runtime.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

namespace {

/// Runs `body` in a forked child; what it returns, or 128 and the signal that ended it.
template <typename Body>
int in_child(const Body& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);  // a child that waits for a lock of its parent's must not wait for ever
    int code = 99;
    try {
      code = body();
    } catch (...) {
    }
    ::syscall(SYS_exit, code);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool is_mapped(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(library) != std::string::npos) return true;
  return false;
}

std::size_t entries(const char* folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

}  // namespace

TEST_CASE("a forked child reads what was picked, is refused the rest, and opens its own Runtime") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 64}}});
  Runtime runtime = Runtime::open(on_host(database.file()));
  const FamilyHandle relu = runtime.family("relu");
  const Problem known = relu.problem(ElementType::f32, {64}), unknown = relu.problem(ElementType::f32, {65});
  alignas(16) static float x[64] = {-1, 2}, y[64];
  runtime.run(known, {x, y});
  REQUIRE(runtime.pick(known, 16).rung() == Rung::exact);  // run() asked with the arrays' own alignment
  auto leaving = std::make_unique<Runtime>(Runtime::open(on_host(database.file())));

  const int code = in_child([&] {
    const std::array<CallArgument, 2> arguments{x, y};
    Status status;
    const auto refused = [&] {
      return status.code == ErrorCode::environment && status.text.find("forked") != std::string::npos;
    };
    const Pick pick = runtime.pick(known, 16, status);
    if (pick.rung() != Rung::exact || !status.ok()) return 1;
    if (runtime.launch(pick, arguments, nullptr, status) || !refused()) return 2;
    if (runtime.pick(unknown, 16, status) || !refused()) return 3;
    if (runtime.prepare(unknown, 16, status) || !refused()) return 4;
    if (runtime.family("relu", status) || !refused()) return 5;
    if (runtime.refresh(status) || !refused()) return 6;
    if (runtime.flush_misses(status) || !refused()) return 7;
    leaving.reset();  // would wait for threads that are not here
#ifdef HONE_SANITIZED
    return 0;  // the thread sanitizer has no new threads after a fork
#else
    Runtime own = Runtime::open(on_host(database.file()));
    y[1] = 0;
    if (own.run(own.family("relu").problem(ElementType::f32, {64}), arguments, nullptr, status).rung() !=
        Rung::exact)
      return 8;
    return y[1] == 2 ? 0 : 9;
#endif
  });
  CHECK(code == 0);
  y[1] = 0;
  runtime.run(known, {x, y});
  CHECK(y[1] == 2);
}

#ifndef HONE_SANITIZED
TEST_CASE("hits and launches of what is loaded make no system call") {
  // In strict mode the kernel ends a process at any call but read, write and exit.
  const auto strict = [] { return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0; };
  REQUIRE(in_child([&] { return strict() ? ::getppid() & 0 : 77; }) == 128 + SIGKILL);

  StubRuntime rig(cuda_stub());
  rig.database.winner({.dimensions = {{"n", 64}}, .alignment = 4});
  const int code = in_child([&] {
    Runtime runtime = rig.open();
    const FamilyHandle add = runtime.family("add");
    static float a[80], b[80], out[80];
    const std::array<CallArgument, 3> arguments{a, b, out};
    runtime.run(add.problem(ElementType::f32, {64}), arguments);
    runtime.run(add.problem(ElementType::f32, {65}), arguments);
    runtime.pick(add.problem(ElementType::f32, {65}), 4);
    Status status;
    if (!strict()) return 77;
    int wrong = 0;
    for (int i = 0; i < 10'000; ++i) {
      const Problem exact = add.problem(ElementType::f32, {64}), near = add.problem(ElementType::f32, {65});
      const Pick pick = runtime.pick(near, 4, status);
      wrong += pick.rung() != Rung::nearest || !runtime.launch(pick, arguments, nullptr, status);
      wrong += runtime.run(exact, arguments, nullptr, status).rung() != Rung::exact;
    }
    // Closing the Runtime needs system calls again.
    ::syscall(SYS_exit, wrong == 0 ? 0 : 1);
    return 1;
  });
  CHECK(code == 0);
}
#endif

TEST_CASE("a database that is replaced under a running process answers as it was, until refresh") {
  const Scratch scratch;
  const db::Values small{{"block", std::int64_t{64}}};
  const auto file = scratch.path() / "hone.db", other = scratch.path() / "other.db";
  db::Id before, after;
  {
    TunedDatabase first(file);
    before = first.winner({.dimensions = {{"numel", 64}}});
    TunedDatabase second(other);
    after = second.winner({.dimensions = {{"numel", 64}}, .changes = small});
  }
  Runtime runtime = Runtime::open(on_host(file));
  const FamilyHandle relu = runtime.family("relu");
  const Problem problem = relu.problem(ElementType::f32, {64});
  std::filesystem::rename(other, file);
  // Nothing was picked yet: the code object is read only now, from the file that was opened.
  const Pick pick = runtime.prepare(problem, 16);
  CHECK(pick.rung() == Rung::exact);
  CHECK(pick.measurement() == before.hex());
  CHECK(runtime.refresh());
  CHECK(runtime.prepare(problem, 16).measurement() == after.hex());
  std::filesystem::remove(file);
  CHECK(runtime.pick(relu.problem(ElementType::f32, {100}), 16).rung() == Rung::nearest);
}

TEST_CASE("libhone.so is unloaded when its last Runtime is gone, and comes back") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 64}}});
  const std::string name = database.file();
  const char* const databases[] = {name.c_str()};
  std::vector<const char*> foreign;
  for (const char* each : {"libnvrtc", "libhiprtc", "libamd_comgr", "libLLVM", "libcuda", "libamdhip64"})
    if (!is_mapped(each)) foreign.push_back(each);  // another test of this process may have loaded it
  std::size_t threads = 0, descriptors = 0;
  for (int round = 0; round < 5; ++round) {
    void* const library = ::dlopen(HONE_BINARY_DIR "/lib/libhone.so", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    const auto find = [&]<typename Function>(Function*, const char* symbol) {
      return reinterpret_cast<Function*>(::dlsym(library, symbol));
    };
    const auto open = find(&hone_open, "hone_open");
    const auto close = find(&hone_close, "hone_close");
    const auto family_of = find(&hone_find_family, "hone_find_family");
    const auto problem_of = find(&hone_make_problem, "hone_make_problem");
    const auto run = find(&hone_run, "hone_run");
    hone_options options = HONE_OPTIONS_INIT;
    options.databases = databases;
    options.database_count = 1;
    options.device = "host";
    options.record_misses = 0;
    hone_runtime* runtime = nullptr;
    REQUIRE(open(&options, &runtime, nullptr) == HONE_OK);
    hone_family relu;
    hone_problem problem;
    const std::int64_t numel = 64;
    REQUIRE(family_of(runtime, "relu", &relu, nullptr) == HONE_OK);
    REQUIRE(problem_of(&relu, "f32", nullptr, &numel, 1, &problem, nullptr) == HONE_OK);
    alignas(16) float x[64] = {-1, 2}, y[64] = {};
    hone_argument arguments[2];
    arguments[0].pointer = x;
    arguments[1].pointer = y;
    REQUIRE(run(runtime, &problem, arguments, 2, nullptr, nullptr) == HONE_OK);
    CHECK(y[1] == 2);
    // All that it needs is in the database: no compiler, and no driver of another device than the one asked
    // for.
    for (const char* other : foreign) CHECK_FALSE(is_mapped(other));
    close(runtime);
    REQUIRE(::dlclose(library) == 0);
    CHECK_FALSE(is_mapped("libhone.so"));
    // A fork must not run a handler that is no longer there.
    CHECK(in_child([] { return 5; }) == 5);
    if (round == 1) threads = entries("/proc/self/task"), descriptors = entries("/proc/self/fd");
  }
  CHECK(entries("/proc/self/task") == threads);
  CHECK(entries("/proc/self/fd") == descriptors);
}

TEST_CASE("every step can be taken without exceptions") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 64}}});
  Status status;
  CHECK_FALSE(Runtime::open(on_host(scratch.path() / "none.db"), status));
  CHECK(status.code == ErrorCode::environment);
  CHECK_THAT(status.text, Contains("none.db"));
  auto runtime = Runtime::open(on_host(database.file()), status);
  REQUIRE(runtime);
  CHECK(status.ok());
  CHECK_FALSE(runtime->family("nothing", status));
  CHECK(status.code == ErrorCode::invalid);
  const auto relu = runtime->family("relu", status);
  REQUIRE(relu);
  const std::array<std::int64_t, 1> good{64}, bad{-1};
  CHECK_FALSE(relu->problem(ElementType::f32, bad, 0, status));
  CHECK_THAT(status.text, Contains("numel = -1"));
  CHECK_FALSE(relu->problem(ElementType::f64, good, 0, status));
  const auto problem = relu->problem(ElementType::f32, good, 0, status);
  REQUIRE(problem);
  CHECK(runtime->pick(*problem, 16, status).rung() == Rung::exact);
  CHECK_FALSE(runtime->refresh(status));
  CHECK(status.ok());
  CHECK(runtime->flush_misses(status));
}
