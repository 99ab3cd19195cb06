#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "runtime/misses.hpp"
#include "tests/runtime/tuned_database.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

namespace {

Miss miss_of(std::int64_t numel, std::int64_t at = 1000) {
  Miss miss;
  miss.problem = {"relu", "f16", "", {{"numel", numel}, {"lda", 7}}};
  miss.alignment = 16;
  miss.rung = Rung::nearest;
  miss.device = db::KeyBuilder().add("device").id();
  miss.newest_s = at;
  return miss;
}

std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    count += entry.is_regular_file() ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("misses are written, read, counted and cleared") {
  const Scratch scratch;
  const auto folder = scratch.path() / "a/misses";
  CHECK(read_misses(folder).misses.empty());
  {
    MissWriter one(folder), two(folder);
    one.note(miss_of(5, 10));
    one.note(miss_of(6, 20));
    two.note(miss_of(6, 30));
    CHECK(read_misses(folder).misses.empty());
  }
  const MissesRead read = read_misses(folder);
  CHECK(read.faults.empty());
  REQUIRE(read.misses.size() == 2);
  CHECK(read.misses[0].problem == miss_of(6).problem);
  CHECK(read.misses[0].count == 2);
  CHECK(read.misses[0].newest_s == 30);
  CHECK(read.misses[0].rung == Rung::nearest);
  CHECK(read.misses[0].alignment == 16);
  CHECK(read.misses[0].device == miss_of(6).device);
  CHECK(read.misses[1].count == 1);
  CHECK(files_in(folder) == 2);

  SECTION("what came after the reading stays") {
    MissWriter late(folder);
    late.note(miss_of(9));
    REQUIRE(late.flush());
    clear_misses(read);
    REQUIRE(read_misses(folder).misses.size() == 1);
    CHECK(read_misses(folder).misses[0].problem == miss_of(9).problem);
    late.note(miss_of(10));
    REQUIRE(late.flush());
    clear_misses(read_misses(folder));
    CHECK(files_in(folder) == 0);
    late.note(miss_of(11));
    REQUIRE(late.flush());
    CHECK(read_misses(folder).misses.size() == 1);
  }
}

TEST_CASE("lines that are no misses are told and cost no others") {
  const Scratch scratch;
  {
    MissWriter writer(scratch.path());
    writer.note(miss_of(5));
  }
  const auto file = std::filesystem::directory_iterator(scratch.path())->path();
  std::ofstream(file, std::ios::app) << "relu\tf16\t\tnumel=x\t16\tnearest\tsteady\t" << db::Id{}.hex()
                                     << "\t1\t1\n"
                                     << "torn li";
  scratch.write("foreign.tsv", "something else\n");
  scratch.write("ignored.txt", "not ours\n");
  const MissesRead read = read_misses(scratch.path());
  CHECK(read.misses.size() == 1);
  REQUIRE(read.faults.size() == 3);
  const std::string all = read.faults[0] + read.faults[1] + read.faults[2];
  CHECK_THAT(all, Contains(":3: `numel=x` is no dimension") && Contains(":4: 1 fields instead of 10") &&
                      Contains("foreign.tsv:1: not a file of misses"));
}

TEST_CASE("a file of misses is bounded, and a folder that cannot be written costs nothing") {
  const Scratch scratch;
  MissWriter writer(scratch.path() / "misses");
  for (std::int64_t i = 0; i < 30000; ++i) writer.note(miss_of(i));
  writer.flush();
  const auto file = std::filesystem::directory_iterator(scratch.path() / "misses")->path();
  CHECK(std::filesystem::file_size(file) <= kLargestMissFile);
  CHECK(std::filesystem::file_size(file) > kLargestMissFile - 1000);
  CHECK(read_misses(scratch.path() / "misses").faults.empty());

  MissWriter nowhere("/proc/no/such/folder");
  for (std::int64_t i = 0; i < 200; ++i) nowhere.note(miss_of(i));
  nowhere.note(miss_of(1));
  CHECK_FALSE(nowhere.flush());
}

TEST_CASE("the runtime notes each problem that was not answered exactly, once") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 4096}}});
  OpenOptions options = on_host(database.file());
  options.record_misses = true;
  options.misses_folder = (scratch.path() / "misses").string();
  {
    Runtime runtime = Runtime::open(options);
    const FamilyHandle relu = runtime.family("relu");
    for (int i = 0; i < 5; ++i) {
      runtime.pick(relu.problem("f32", {4096}), 16);
      runtime.pick(relu.problem("f32", {0}), 16);
      runtime.pick(relu.problem("f32", {4097}), 16);
      runtime.pick(relu.problem("bf16", {5}), 16);
    }
    runtime.flush_misses();
    CHECK(read_misses(options.misses_folder).misses.size() == 2);
    runtime.pick(relu.problem("f32", {3}), 16);
  }
  const auto read = read_misses(options.misses_folder);
  REQUIRE(read.misses.size() == 3);
  bool found = false;
  for (const Miss& miss : read.misses) {
    CHECK(miss.count == 1);
    CHECK(miss.device == database.device().record().id());
    found = found ||
            (miss.problem.text() == "relu bf16 numel=5" && miss.rung == Rung::none && miss.alignment == 16);
  }
  CHECK(found);
}

TEST_CASE("a forked child writes its own misses and none of its parent's") {
  const Scratch scratch;
  MissWriter writer(scratch.path());
  writer.note(miss_of(1));
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    writer.note(miss_of(2));
    ::_exit(writer.flush() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(writer.flush());
  const auto read = read_misses(scratch.path());
  CHECK(read.misses.size() == 2);
  CHECK(files_in(scratch.path()) == 2);
  for (const Miss& miss : read.misses) CHECK(miss.count == 1);
}
