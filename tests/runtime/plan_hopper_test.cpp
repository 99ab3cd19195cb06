// Plans of what kernels for Hopper take: clusters, a workspace, tensor maps.
#include <catch2/catch.hpp>

#include "runtime/plan.hpp"
#include "tests/runtime/family_folder.hpp"

using namespace hone;
using namespace hone::test;
using Catch::Matchers::Contains;

namespace {

DeviceInfo hopper() {
  DeviceInfo info;
  info.backend = Backend::cuda;
  info.architecture = "sm_90a";
  info.compute_units = 132;
  info.shared_memory_bytes = 232448;
  info.max_threads = 1024;
  return info;
}

/// The variant with all of them, of a manifest with one piece replaced.
struct Rig {
  explicit Rig(const std::string& manifest = whole_manifest)
      : family(parse_family(write_blend(scratch, manifest))) {}
  Rig(const char* piece, const char* by) : Rig(manifest_with(piece, by)) {}

  std::variant<Plan, Illegal> plan(const std::vector<std::pair<std::string, std::int64_t>>& dimensions,
                                   const std::string& type = "f32") {
    const Variant& variant = *family.variant("boxes");
    const db::Problem problem = make_problem(evaluator, family, type, "nn", dimensions);
    return make_plan(evaluator, family, variant, variant.defaults, problem, hopper());
  }
  Plan legal(std::int64_t m, std::int64_t k, const std::string& type = "f32") {
    return std::get<Plan>(plan({{"M", m}, {"K", k}}, type));
  }
  std::string why(std::int64_t m = 20, std::int64_t k = 64) {
    const auto result = plan({{"M", m}, {"K", k}});
    if (const auto* illegal = std::get_if<Illegal>(&result)) {
      CHECK_FALSE(illegal->exceeds_device);
      return illegal->why;
    }
    return "legal";
  }

  Scratch scratch;
  Family family;
  db::Evaluator evaluator;
};

}  // namespace

TEST_CASE("a plan has the cluster, the workspace and the tensor maps of its problem") {
  Rig rig;
  const Plan plan = rig.legal(20, 64);
  CHECK(plan.geometry.grid == std::array<std::uint32_t, 3>{6, 2, 1});
  CHECK(plan.geometry.cluster == std::array<std::uint32_t, 3>{2, 1, 1});
  CHECK(plan.geometry.clustered());
  CHECK(plan.workspace == 65536);
  CHECK(plan.alignment == 16);
  REQUIRE(plan.tensor_maps.size() == 2);
  TensorMapShape x;
  x.argument = 1;
  x.type = ElementType::f32;
  x.rank = 2;
  x.extent = {64, 20};
  x.stride = {256};
  x.box = {32, 8};
  x.swizzle = 128;
  x.promotion = 256;
  CHECK(plan.tensor_maps[0] == x);
  TensorMapShape y;
  y.argument = 2;
  y.rank = 1;
  y.extent = {1280};
  y.box = {64};
  y.promotion = 128;
  CHECK(plan.tensor_maps[1] == y);
  using From = LaunchArgument::From;
  REQUIRE(plan.arguments.size() == 4);
  CHECK(plan.arguments[1].from == From::tensor_map);
  CHECK(plan.arguments[1].index == 1);
  CHECK(plan.arguments[2].from == From::workspace);

  // Elements have the argument's type: its own, or the problem's.
  const Plan half = rig.legal(20, 64, "f16");
  CHECK(half.tensor_maps[0].type == ElementType::f16);
  CHECK(half.tensor_maps[0].stride[0] == 128);
  CHECK(half.tensor_maps[1] == y);

  const Plan nothing = rig.legal(0, 64);
  CHECK(nothing.empty);
  CHECK(nothing.workspace == 0);
  CHECK(nothing.tensor_maps.empty());
}

TEST_CASE("a cluster is of up to eight blocks, divides the grid, and needs a device that has clusters") {
  const auto why = [](const char* cluster) {
    Rig rig("cluster = [2]", (std::string("cluster = ") + cluster).c_str());
    return rig.why();
  };
  CHECK(why("[2, 2]") == "legal");
  CHECK(why("6") == "legal");
  CHECK(why("[1, 1]") == "legal");
  CHECK(why("0") == "cluster.x is 0, below 1");
  CHECK(why("9") == "cluster.x is 9, above the limit of 8");
  CHECK(why("4") == "grid.x is 6, no multiple of the cluster's 4");
  CHECK(why("[1, 3]") == "grid.y is 2, no multiple of the cluster's 3");
  CHECK(why("[6, 2]") == "a cluster has 12 blocks, above the limit of 8");

  const auto elsewhere = [](Backend backend, const std::string& architecture, const char* cluster) {
    Rig rig("dynamic_shared = \"block * 4\"", (std::string("cluster = ") + cluster).c_str());
    DeviceInfo info = hopper();
    info.backend = backend;
    info.architecture = architecture;
    const Variant& simt = rig.family.variants[0];
    const auto problem = make_problem(rig.evaluator, rig.family, "f32", "nn", {{"M", 200}, {"K", 64}});
    const auto plan = make_plan(rig.evaluator, rig.family, simt, simt.defaults, problem, info);
    return std::holds_alternative<Plan>(plan) ? "legal" : std::get<Illegal>(plan).why;
  };
  CHECK(elsewhere(Backend::cuda, "sm_90a", "2") == "legal");
  CHECK(elsewhere(Backend::cuda, "sm_100a", "2") == "legal");
  CHECK(elsewhere(Backend::cuda, "sm_80", "2") == "a cluster has 2 blocks, and sm_80 has no clusters");
  CHECK(elsewhere(Backend::host, "x86-64-v3", "2") ==
        "a cluster has 2 blocks, and x86-64-v3 has no clusters");
  CHECK(elsewhere(Backend::host, "x86-64-v3", "1") == "legal");
}

TEST_CASE("a workspace below zero is the manifest's fault") {
  Rig rig("workspace = \"K * 1024\"", "workspace = \"K - 8\"");
  CHECK(rig.legal(20, 8).workspace == 0);
  CHECK_THROWS_WITH(rig.why(20, 4), "blend: workspace `K - 8` of boxes is negative: -4");
}

TEST_CASE("tensor maps that the hardware does not have are illegal, and say why") {
  const auto why = [](const char* piece, const char* by, std::int64_t m = 20, std::int64_t k = 64) {
    const std::string text = Rig(piece, by).why(m, k);
    const std::string of_x = "the tensor map x_map is impossible: ";
    return text.starts_with(of_x) ? text.substr(of_x.size()) : text;
  };
  constexpr const char* extent = "extent = [\"K\", \"M\"]";
  CHECK(why(extent, "extent = [\"K\", 0]") == "axis 1 has 0 elements");
  CHECK(why(extent, "extent = [\"0 - K\", 1]") == "axis 0 has -64 elements");
  CHECK(why(extent, "extent = [4294967296, \"M\"]") == "legal");
  CHECK(why(extent, "extent = [4294967297, \"M\"]") == "axis 0 has 4294967297 elements");

  constexpr const char* box = "box = [32, \"rows\"]";
  CHECK(why(box, "box = [32, 256]") == "legal");
  CHECK(why(box, "box = [32, 257]") == "its box has 257 elements along axis 1, where 1 to 256 are possible");
  CHECK(why(box, "box = [32, 0]") == "its box has 0 elements along axis 1, where 1 to 256 are possible");
  CHECK(why(box, "box = [3, 8]") == "a row of its box has 12 bytes with a swizzle of 128");
  CHECK(why(box, "box = [36, 8]") == "a row of its box has 144 bytes with a swizzle of 128");
  CHECK(why("swizzle = 128", "swizzle = 64") == "a row of its box has 128 bytes with a swizzle of 64");
  CHECK(why("swizzle = 128", "swizzle = 0") == "legal");
  CHECK(why("swizzle = 128", "swizzle = 16") == "its swizzle is 16 bytes");
  CHECK(why("promotion = \"256\"", "promotion = 0") == "legal");
  CHECK(why("promotion = \"256\"", "promotion = 32") == "its promotion is 32 bytes");

  constexpr const char* stride = "stride = [\"lda\"]";
  CHECK(why(stride, "stride = [\"lda\"]", 20, 66) ==
        "its stride of 66 elements is no multiple of 16 bytes below 2^40");
  CHECK(why(stride, "stride = [274877906940]") == "legal");  // of 4 bytes
  for (const char* far : {"274877906944", "9223372036854775807", "0", "-4"})
    CHECK(why(stride, ("stride = [" + std::string(far) + "]").c_str()) ==
          "its stride of " + std::string(far) + " elements is no multiple of 16 bytes below 2^40");

  CHECK(Rig("box = [\"8 * rows\"]", "box = [1]").why() ==
        "the tensor map y_map is impossible: a row of its box has 4 bytes with a swizzle of 0");
}

TEST_CASE("a variant with tensor maps aligns its pointers to what they need") {
  Rig rig("alignment = 16", "alignment = 8");
  CHECK_THROWS_WITH(rig.why(), "blend: alignment `8` of boxes is 8: its tensor maps need 16");
}
