// Launches through the public interface on stand-ins of GPUs: in captures, in other contexts, in many
// threads.
#include <catch2/catch.hpp>
#include <thread>

#include "runtime/gpu_context.hpp"
#include "tests/runtime/stub_runtime.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

namespace {

const db::Values kSmall{{"block", std::int64_t{64}}};

std::vector<Stub*> cuda_and_rocm() {
  return {&cuda_stub(), &rocm_stub(5), &rocm_stub(7)};
}

}  // namespace

TEST_CASE("a launch in a capture is legal once prepared, and refused before") {
  for (Stub* const stub : cuda_and_rocm()) {
    INFO(stub->driver.api.library);
    StubRuntime rig(*stub);
    rig.database.winner({.dimensions = {{"n", 8}}, .alignment = 4});
    rig.database.winner({.dimensions = {{"n", 16}}, .changes = kSmall, .alignment = 4});
    Runtime runtime = rig.open();
    const FamilyHandle add = runtime.family("add");
    const Problem prepared = add.problem(ElementType::f32, {8}), other = add.problem(ElementType::f32, {16});
    const GpuApi& api = stub->driver.api;
    GpuApi::Handle stream = nullptr, graph = nullptr, executable = nullptr;
    std::vector<float> a(16, 1), b(16, 2), out(16, 0);
    const std::array<CallArgument, 3> arguments{a.data(), b.data(), out.data()};
    Status status;

    runtime.prepare(prepared, 4);
    {
      const GpuContext context(api, rig.info);
      const CurrentContext current(context);
      REQUIRE(api.stream_create(&stream, 0) == 0);
      REQUIRE(api.capture_begin(stream, 1) == 0);
      runtime.run(prepared, arguments, stream);
      const Pick pick = runtime.pick(other, 4);
      CHECK_THROWS_WITH(runtime.launch(pick, arguments, stream),
                        Contains("is being captured") && Contains("prepare()") && Contains("block=64"));
      CHECK_FALSE(runtime.launch(pick, arguments, stream, status));
      CHECK(status.code == ErrorCode::invalid);
      CHECK_THROWS_WITH(runtime.run(other, arguments, stream), Contains("is being captured"));
      REQUIRE(api.capture_end(stream, &graph) == 0);
      CHECK(out[0] == 0);
      REQUIRE(api.graph_instantiate(&executable, graph, 0) == 0);
      REQUIRE(api.graph_launch(executable, stream) == 0);
      CHECK(out[7] == 3);
      CHECK(out[8] == 0);
      // Outside of the capture the same call loads.
      runtime.run(other, arguments, stream);
      CHECK(out[15] == 3);
      api.graph_executable_destroy(executable);
      api.graph_destroy(graph);
      api.stream_destroy(stream);
    }
  }
}

TEST_CASE("memory is read and written when the launches of every stream are done") {
  for (Stub* const stub : cuda_and_rocm()) {
    StubRuntime rig(*stub);
    Runtime runtime = rig.open();
    Memory memory = runtime.allocate(64);
    float value = 1;
    const long before = stub->waits();
    memory.write(&value, sizeof value);
    CHECK(stub->waits() == before + 1);
    memory.read(&value, sizeof value);
    runtime.synchronize();
    CHECK(stub->waits() == before + 3);
  }
}

TEST_CASE("picks and launches leave the caller's current context as it was") {
  for (Stub* const stub : cuda_and_rocm()) {
    INFO(stub->driver.api.library);
    StubRuntime rig(*stub);
    rig.database.winner({.dimensions = {{"n", 8}}, .alignment = 4});
    const GpuApi& api = stub->driver.api;
    static int elsewhere;
    const auto set = [&] {
      return api.context_set != nullptr ? api.context_set(&elsewhere) : api.current_device_set(1);
    };
    const auto is_as_set = [&] {
      void* context = nullptr;
      int device = 0;
      return api.context_get != nullptr ? api.context_get(&context) == 0 && context == &elsewhere
                                        : api.current_device_get(&device) == 0 && device == 1;
    };
    REQUIRE(set() == 0);
    {
      Runtime runtime = rig.open();
      CHECK(is_as_set());
      const Problem problem = runtime.family("add").problem(ElementType::f32, {8});
      std::vector<float> a(8, 1), b(8, 2), out(8, 0);
      runtime.prepare(problem, 4);
      CHECK(is_as_set());
      runtime.run(problem, {a.data(), b.data(), out.data()});
      CHECK(is_as_set());
      CHECK(out[7] == 3);
      stub->fail_next(api.backend == Backend::cuda ? "cuLaunchKernel" : "hipModuleLaunchKernel", 1);
      CHECK_THROWS_AS(runtime.run(problem, {a.data(), b.data(), out.data()}), Error);
      CHECK(is_as_set());
    }
    CHECK(is_as_set());
    stub->heal();
    if (api.context_set != nullptr)
      api.context_set(nullptr);
    else
      api.current_device_set(0);
  }
}

TEST_CASE(
    "what is loaded stays loaded while its Runtime lives, through refreshes, within one bound for all") {
  StubRuntime rig(cuda_stub());
  for (const std::int64_t block : {64, 128, 256})
    rig.database.winner({.dimensions = {{"n", block}}, .changes = {{"block", block}}, .alignment = 4});
  const long before = rig.stub.alive();
  OpenOptions options;
  options.maximum_modules = 2;
  {
    Runtime runtime = rig.open(options), other = rig.open(options);
    const auto problem = [](Runtime& of, std::int64_t n) {
      return of.family("add").problem(ElementType::f32, {n});
    };
    const Pick first = runtime.prepare(problem(runtime, 64), 4);
    other.prepare(problem(other, 128), 4);
    const std::string line = "2 code objects are loaded in this process";
    CHECK_THROWS_WITH(runtime.prepare(problem(runtime, 256), 4),
                      Contains(line) && Contains("maximum_modules"));
    CHECK_THROWS_WITH(other.prepare(problem(other, 256), 4), Contains(line));
    const long loaded = rig.stub.alive();
    rig.database.winner(
        {.dimensions = {{"n", 64}}, .changes = {{"block", std::int64_t{128}}}, .alignment = 4});
    CHECK(runtime.refresh());
    CHECK(rig.stub.alive() == loaded);
    // The former pick can still be launched, as a graph that has captured it can.
    std::vector<float> a(64, 1), b(64, 2), out(64, 0);
    runtime.launch(first, {a.data(), b.data(), out.data()});
    CHECK(out[63] == 3);
    { const Runtime closed = std::move(other); }
    runtime.prepare(problem(runtime, 64), 4);
  }
  CHECK(rig.stub.alive() == before);
}

TEST_CASE("threads launch in streams of their own") {
  StubRuntime rig(cuda_stub());
  for (const std::int64_t block : {64, 128, 256})
    rig.database.winner({.dimensions = {{"n", block}}, .changes = {{"block", block}}, .alignment = 4});
  Runtime runtime = rig.open(), second = rig.open();
  const std::array<Runtime*, 2> runtimes{&runtime, &second};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      Runtime& own = *runtimes.at(thread % 2);
      const FamilyHandle add = own.family("add");
      std::vector<float> a(512, 1), b(512, static_cast<float>(thread)), out(512);
      Status status;
      for (std::int64_t i = 0; i < 300; ++i) {
        const std::int64_t n = 1 + (i * 37 + static_cast<std::int64_t>(thread)) % 512;
        const Pick pick =
            own.run(add.problem(ElementType::f32, {n}),
                    std::array<CallArgument, 3>{a.data(), b.data(), out.data()}, nullptr, status);
        if (!status.ok() || !pick || out[static_cast<std::size_t>(n - 1)] != 1 + static_cast<float>(thread))
          ++wrong;
        if (i % 100 == 50) own.refresh(status);
        if (i % 100 == 70) own.flush_misses(status);
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}
