#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <thread>

#include "runtime/explain.hpp"
#include "tests/runtime/tuned_database.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

namespace {
const db::Values kSmall{{"block", std::int64_t{64}}};
}

TEST_CASE("refresh takes in what was tuned since, and keeps former picks valid") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  const db::Id first = database.winner({.dimensions = {{"numel", 4096}}});
  Runtime runtime = Runtime::open(on_host(database.file()));
  const Problem problem = runtime.family("relu").problem("f32", {4096});
  const Problem other = runtime.family("relu").problem("f32", {100});
  const Pick before = runtime.pick(problem, 16);
  CHECK(before.measurement() == first.hex());
  CHECK(runtime.pick(other, 16).rung() == Rung::nearest);
  CHECK_FALSE(runtime.refresh());

  const db::Id second = database.winner({.dimensions = {{"numel", 4096}}, .changes = kSmall});
  database.winner({.dimensions = {{"numel", 100}}, .changes = kSmall});
  CHECK(runtime.pick(problem, 16).measurement() == first.hex());
  CHECK(runtime.refresh());
  CHECK(runtime.pick(problem, 16).measurement() == second.hex());
  CHECK(runtime.pick(other, 16).rung() == Rung::exact);

  // The pick of before was never loaded and is launched only now.
  alignas(16) static float x[4096], y[4096];
  x[5] = 3;
  y[6] = 3;
  runtime.launch(before, {x, y});
  CHECK(before.measurement() == first.hex());
  CHECK(y[5] == 3);
  CHECK(y[6] == 0);
}

TEST_CASE("an answer that a refresh does not change is the same answer") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 4096}}});
  OpenOptions options = on_host(database.file());
  // No room for a second answer: a copy of the first would not be remembered.
  options.maximum_answers = 1;
  Runtime runtime = Runtime::open(options);
  const Problem problem = runtime.family("relu").problem("f32", {4096});
  const char* measurement = runtime.pick(problem, 16).measurement();
  for (int i = 0; i < 3; ++i) {
    database.checked_default("f16", {}, std::nullopt);
    database.winner({.element_type = "f16", .dimensions = {{"numel", 64 + i}}});
    REQUIRE(runtime.refresh());
    CHECK(runtime.pick(problem, 16).measurement() == measurement);
  }
}

TEST_CASE("beyond the answers it may remember, the runtime still answers") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 4096}}});
  OpenOptions options = on_host(database.file());
  options.maximum_answers = 2;
  Runtime runtime = Runtime::open(options);
  const FamilyHandle relu = runtime.family("relu");
  std::vector<Pick> picks;
  for (std::int64_t numel = 1; numel <= 20; ++numel)
    picks.push_back(runtime.pick(relu.problem("f32", {numel * 1024}), 16));
  for (std::size_t i = 0; i < picks.size(); ++i) {
    CHECK(picks[i].rung() == (i == 3 ? Rung::exact : Rung::nearest));
    CHECK(picks[i].grid()[0] == i + 1);
  }
  std::vector<float> memory(2 * 20 * 1024 + 16);
  auto* x = reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 15) / 16 * 16);
  CHECK_NOTHROW(runtime.launch(picks.back(), {x, x + 20 * 1024}));
}

TEST_CASE("a refresh that fails changes nothing") {
  const Scratch scratch;
  auto database = std::make_unique<TunedDatabase>(scratch.path() / "hone.db");
  database->winner({.dimensions = {{"numel", 4096}}});
  Runtime runtime = Runtime::open(on_host(database->file()));
  const Problem problem = runtime.family("relu").problem("f32", {4096});
  const Problem later = runtime.family("relu").problem("f32", {5000});
  CHECK(runtime.pick(problem, 16).rung() == Rung::exact);
  const auto file = database->file();
  database.reset();
  std::filesystem::remove(file);
  CHECK_THROWS_AS(runtime.refresh(), Error);
  scratch.write("hone.db", "damaged");
  CHECK_THROWS_WITH(runtime.refresh(), Contains("hone.db"));
  CHECK(runtime.pick(problem, 16).rung() == Rung::exact);
  CHECK(runtime.pick(later, 16).rung() == Rung::nearest);
}

TEST_CASE("threads pick, launch and refresh at once") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  for (std::int64_t numel : {64, 128, 256, 512}) database.winner({.dimensions = {{"numel", numel}}});
  database.winner({.dimensions = {{"numel", 4096}}, .changes = kSmall});
  OpenOptions options = on_host(database.file());
  options.record_misses = true;
  options.misses_folder = (scratch.path() / "misses").string();
  Runtime runtime = Runtime::open(options);
  const FamilyHandle relu = runtime.family("relu");
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::vector<std::string> wrong;
  const auto note = [&](const Pick& pick, Rung expected) {
    if (pick.rung() == expected) return;
    const std::lock_guard lock(mutex);
    wrong.push_back(std::string(name(pick.rung())) + " " + pick.configuration() + pick.why());
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      alignas(16) float x[64] = {}, y[64];
      for (std::int64_t i = 0; !stop; ++i) {
        const Pick exact = runtime.pick(relu.problem(ElementType::f32, {64 << i % 4}), 16);
        // New problems all the time, so that the table grows under its readers.
        const Pick near = runtime.pick(relu.problem(ElementType::f32, {5000 + thread + 3 * (i % 1500)}), 16);
        note(exact, Rung::exact);
        note(near, Rung::nearest);
        if (i % 50 == 0) note(runtime.run(relu.problem(ElementType::f32, {64}), {x, y}), Rung::exact);
      }
    });
  for (int i = 0; i < 10; ++i) {
    database.winner({.dimensions = {{"numel", 512}}, .changes = i % 2 == 0 ? kSmall : db::Values{}});
    CHECK(runtime.refresh());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  CHECK(wrong == std::vector<std::string>());
}
