// A hit allocates nothing. The counting allocator replaces the whole program's, so sanitized builds leave it
// out.
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "tests/runtime/stub_runtime.hpp"

#ifndef HONE_SANITIZED

namespace {
thread_local std::size_t allocations = 0;

void* counted(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

void* counted(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) return memory;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes);
}
void* operator new[](std::size_t bytes) {
  return counted(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, alignment);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

using namespace hone;
using namespace hone::test;

TEST_CASE("a hit allocates nothing, on any rung") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 64}}});
  database.checked_default("f16");
  database.sweep({.element_type = "i8", .configurations = {{}}, .points = {{4096, {100}}}});
  Runtime runtime = Runtime::open(on_host(database.file()));
  const FamilyHandle relu = runtime.family("relu");
  const auto problem_of = [&](int i) {
    switch (i) {
      case 0:
        return relu.problem(ElementType::f32, {64});
      case 1:
        return relu.problem(ElementType::f32, {60});
      case 2:
        return relu.problem(ElementType::f16, {64});
      case 3:
        return relu.problem(ElementType::bf16, {64});
      case 5:
        return relu.problem(ElementType::i8, {64});
      default:
        return relu.problem(ElementType::f32, {0});
    }
  };
  const std::array rungs{Rung::exact, Rung::nearest, Rung::by_default, Rung::none, Rung::exact, Rung::band};
  alignas(16) float x[64] = {}, y[64];
  for (int i = 0; i < 6; ++i) runtime.prepare(problem_of(i), 16);
  runtime.run(problem_of(0), {x, y});
  Status status;

  allocations = 0;
  bool right = true;
  for (int round = 0; round < 1000; ++round)
    for (int i = 0; i < 6; ++i) {
      const Problem problem = problem_of(i);
      const Pick pick = runtime.pick(problem, 16);
      right = right && pick.rung() == rungs.at(static_cast<std::size_t>(i));
      right = right && runtime.pick(problem, 16, status).rung() == pick.rung() && status.ok();
      right = right && runtime.prepare(problem, 16).rung() == pick.rung();
    }
  CHECK(allocations == 0);
  CHECK(right);
}

TEST_CASE("a launch with tensor maps and a workspace allocates nothing") {
  StubRuntime rig(cuda_stub(), add_by_maps_manifest());
  rig.database.winner({.dimensions = {{"n", 64}}});
  Runtime runtime = rig.open();
  const Problem problem = runtime.family("add").problem(ElementType::f32, {64});
  alignas(256) static float a[2][64], b[64], out[64];
  alignas(256) static std::array<std::byte, 20000> workspace;
  const auto launch = [&](int i) {
    const std::array<CallArgument, 4> arguments{a[i], b, out, static_cast<void*>(workspace.data())};
    runtime.run(problem, arguments);
  };
  launch(0);
  const long before = rig.stub.encodes();
  allocations = 0;
  for (int round = 0; round < 100; ++round) launch(round % 2);
  CHECK(allocations == 0);
  CHECK(rig.stub.encodes() > before);  // of the second address
}

TEST_CASE("a repeated pick takes nanoseconds") {
  const Scratch scratch;
  TunedDatabase database(scratch.path() / "hone.db");
  database.winner({.dimensions = {{"numel", 64}}});
  Runtime runtime = Runtime::open(on_host(database.file()));
  const Problem problem = runtime.family("relu").problem(ElementType::f32, {64});
  runtime.pick(problem, 16);
  // Processor time, since other processes may have this core; a bound that only a lock, a heap or SQL would
  // pass.
  const auto processor_ns = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  };
  constexpr int kPicks = 1'000'000;
  int exact = 0;
  const double begin = processor_ns();
  for (int i = 0; i < kPicks; ++i) exact += runtime.pick(problem, 16).rung() == Rung::exact ? 1 : 0;
  const double each = (processor_ns() - begin) / kPicks;
  CHECK(exact == kPicks);
  INFO("a pick takes " << each << " ns");
  CHECK(each < 500);
}

#endif
