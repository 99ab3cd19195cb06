// Launches with tensor maps, a workspace and clusters through the public interface, on CUDA's stand-in.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/runtime/stub_runtime.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t kElements = 64;
constexpr std::size_t kPage = 32768;  ///< addresses so far apart share an entry of a thread's tensor maps

struct Rig {
  explicit Rig(Stub& stub = cuda_stub()) : stub_runtime(stub, add_by_maps_manifest()), memory(4 * kPage) {
    stub_runtime.database.winner({.dimensions = {{"n", kElements}}});
    const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
    page = memory.data() + (kPage - start % kPage);
    workspace = page + 2 * kPage;
    for (std::int64_t i = 0; i < kElements; ++i) {
      a()[i] = static_cast<float>(i);
      b()[i] = 1000;
      a(kPage)[i] = 1;
      a(1024)[i] = 2;
    }
  }
  float* a(std::size_t at = 0) const { return reinterpret_cast<float*>(page + at); }
  float* b() const { return a(4096); }
  float* out() const { return a(8192); }
  std::uint32_t count() const { return *reinterpret_cast<const std::uint32_t*>(workspace + 16384); }

  StubRuntime stub_runtime;
  std::vector<std::byte> memory;
  std::byte* page;
  std::byte* workspace;
};

}  // namespace

TEST_CASE("a pick tells its cluster and its workspace") {
  Rig rig;
  Runtime runtime = rig.stub_runtime.open();
  const FamilyHandle add = runtime.family("add");
  const Pick pick = runtime.pick(add.problem(ElementType::f32, {kElements}), 256);
  REQUIRE(pick.rung() == Rung::exact);
  CHECK(pick.grid() == std::array<std::uint32_t, 3>{2, 1, 1});
  CHECK(pick.cluster() == std::array<std::uint32_t, 3>{2, 1, 1});
  CHECK(pick.workspace_bytes() == 16384 + kElements);
  CHECK(pick.overlaps());
  const Pick empty = runtime.pick(add.problem(ElementType::f32, {0}), 256);
  CHECK(empty.empty());
  CHECK(empty.workspace_bytes() == 0);
  CHECK(Pick().workspace_bytes() == 0);
  CHECK(Pick().cluster() == std::array<std::uint32_t, 3>{1, 1, 1});
}

TEST_CASE("a launch's tensor maps are encoded once for an address") {
  Rig rig;
  Stub& stub = rig.stub_runtime.stub;
  Runtime runtime = rig.stub_runtime.open();
  const Problem problem = runtime.family("add").problem(ElementType::f32, {kElements});
  const Pick pick = runtime.prepare(problem, 256);
  const auto encodes_of = [&](float* a, float* out) {
    std::fill_n(out, kElements, -1.0F);
    const long before = stub.encodes();
    runtime.launch(pick, {a, rig.b(), out, static_cast<void*>(rig.workspace)});
    for (std::int64_t i = 0; i < kElements; ++i) REQUIRE(out[i] == a[i] + 1000);
    return stub.encodes() - before;
  };
  CHECK(encodes_of(rig.a(), rig.out()) == 2);
  CHECK(stub.last_launch()->cluster == std::array<unsigned, 3>{2, 1, 1});
  CHECK(stub.last_launch()->overlap == 1);
  CHECK(encodes_of(rig.a(), rig.out()) == 0);
  CHECK(encodes_of(rig.a(), rig.a(12288)) == 0);  // no map has `out`
  CHECK(encodes_of(rig.a(1024), rig.out()) == 1);
  CHECK(encodes_of(rig.a(), rig.out()) == 0);
  // One that takes another's place is right, and so is that one when it comes back.
  CHECK(encodes_of(rig.a(kPage), rig.out()) == 1);
  CHECK(encodes_of(rig.a(), rig.out()) == 1);
  // What an address holds is not remembered.
  rig.a()[7] = 77;
  CHECK(encodes_of(rig.a(), rig.out()) == 0);
  long elsewhere = 0;
  std::thread([&] { elsewhere = encodes_of(rig.a(), rig.out()); }).join();
  CHECK(elsewhere == 2);

  // Another problem's maps of the same address are others.
  const Problem half = runtime.family("add").problem(ElementType::f32, {kElements / 2});
  const long before = stub.encodes();
  runtime.run(half, {rig.a(), rig.b(), rig.out(), static_cast<void*>(rig.workspace)});
  CHECK(stub.encodes() == before + 2);
  CHECK(encodes_of(rig.a(), rig.out()) == 0);
  CHECK(rig.count() == 11);
}

TEST_CASE("a workspace is one argument more, and what is wrong with it is said") {
  Rig rig;
  Runtime runtime = rig.stub_runtime.open();
  const Problem problem = runtime.family("add").problem(ElementType::f32, {kElements});
  const Pick pick = runtime.prepare(problem, 256);
  const long before = rig.stub_runtime.stub.launches();
  const auto launch = [&](auto... workspace) {
    runtime.launch(pick, {rig.a(), rig.b(), rig.out(), static_cast<void*>(workspace)...});
  };
  const auto missing =
      Contains("launch: simt block=128 needs a workspace of 16448 bytes: pass it as one argument more");
  CHECK_THROWS_WITH(launch(), missing);
  CHECK_THROWS_WITH(launch(static_cast<std::byte*>(nullptr)), missing);
  CHECK_THROWS_WITH(launch(rig.workspace + 128), "launch: the workspace is not aligned to 256 bytes");
  CHECK_THROWS_WITH(launch(rig.workspace, rig.workspace), "launch: 5 arguments were given, the family has 3");
  Status status;
  const std::array<CallArgument, 3> arguments{rig.a(), rig.b(), rig.out()};
  CHECK_FALSE(runtime.launch(pick, arguments, nullptr, status));
  CHECK(status.code == ErrorCode::invalid);
  CHECK(rig.stub_runtime.stub.launches() == before);
  launch(rig.workspace);
  CHECK(rig.stub_runtime.stub.launches() == before + 1);
  CHECK(rig.count() == 1);
  CHECK(
      std::all_of(rig.workspace, rig.workspace + 16384, [](std::byte byte) { return byte == std::byte{0}; }));
  // A problem with nothing to do needs none.
  runtime.run(runtime.family("add").problem(ElementType::f32, {0}), arguments);
}

TEST_CASE("picks without a workspace ignore one") {
  StubRuntime rig(cuda_stub());
  rig.database.winner({.dimensions = {{"n", 8}}, .alignment = 4});
  Runtime runtime = rig.open();
  const Problem problem = runtime.family("add").problem(ElementType::f32, {8});
  std::vector<float> a(8, 1), b(8, 2), out(8, 0);
  alignas(4) std::array<char, 8> odd{};
  CHECK(runtime.run(problem, {a.data(), b.data(), out.data()}).workspace_bytes() == 0);
  CHECK(rig.stub.last_launch()->cluster == std::array<unsigned, 3>{1, 1, 1});
  out[0] = 0;
  runtime.run(problem, {a.data(), b.data(), out.data(), static_cast<void*>(odd.data() + 1)});
  CHECK(out[0] == 3);
  CHECK_THROWS_WITH(runtime.run(problem, {a.data(), b.data(), out.data(), static_cast<void*>(nullptr),
                                          static_cast<void*>(nullptr)}),
                    Contains("5 arguments were given, the family has 3"));
}

TEST_CASE("a driver without tensor maps says so at the launch") {
  Rig rig(old_cuda_stub());
  Runtime runtime = rig.stub_runtime.open();
  const Problem problem = runtime.family("add").problem(ElementType::f32, {kElements});
  const long before = rig.stub_runtime.stub.launches();
  try {
    runtime.run(problem, {rig.a(), rig.b(), rig.out(), static_cast<void*>(rig.workspace)});
    FAIL("was launched");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::device);
    CHECK(std::string(error.what()) == "cuda 0: the driver has no tensor maps; CUDA 12.0 or later has");
  }
  CHECK(rig.stub_runtime.stub.launches() == before);
}
