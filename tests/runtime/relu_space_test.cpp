// relu's space: its size on each backend, what keeps a configuration out, the launch it plans.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/runtime/elementwise_rig.hpp"

using namespace hone;
using namespace hone::test;

TEST_CASE("relu's space has the size meant for each backend, and its default everywhere") {
  struct Expected {
    const char* architecture;
    std::size_t least;
    std::size_t most;
  };
  for (const Expected& expected : {Expected{"sm_90a", 800, 1500},
                                   {"sm_80", 400, 800},
                                   {"sm_75", 200, 400},
                                   {"gfx90a", 300, 800},
                                   {"x86-64-v3", 10, 40}}) {
    ElementwiseRig relu(nominal_device(expected.architecture));
    for (const ElementType type : relu.family().element_types) {
      const auto all = relu.configurations(type);
      INFO(expected.architecture << " " << name(type));
      CHECK(all.size() >= expected.least);
      CHECK(all.size() <= expected.most);
      CHECK(std::count(all.begin(), all.end(), relu.variant().defaults) == 1);
      for (const auto& values : all) {
        REQUIRE(std::get<std::int64_t>(values.at("vector")) >= static_cast<std::int64_t>(size_of(type)));
      }
    }
  }
}

TEST_CASE("relu's ladder has a legal point for each element type and step") {
  struct Expected {
    const char* architecture;
    const char* variant;
    int least;
  };
  for (const Expected& expected : {Expected{"sm_90a", "simt", 6},
                                   {"gfx90a", "simt", 6},
                                   {"gfx90a", "buffer", 2},
                                   {"x86-64-v3", "simt", 3}}) {
    ElementwiseRig relu(nominal_device(expected.architecture), "relu", expected.variant);
    for (const ElementType type : relu.family().element_types) {
      int legal = 0;
      for (const auto& point : relu.family().ladder) {
        if (point.variant != expected.variant) continue;
        legal += std::holds_alternative<Plan>(relu.plan(point.parameters, type, 1 << 20)) ? 1 : 0;
      }
      INFO(expected.architecture << " " << expected.variant << " " << name(type));
      CHECK(legal >= expected.least);
    }
  }
}

TEST_CASE("relu's buffer variant covers the problem, no more and no less") {
  ElementwiseRig relu(nominal_device("gfx942"), "relu", "buffer");
  for (const ElementType type : {ElementType::f32, ElementType::i8}) {
    for (const auto& values : covering(relu.configurations(type), 1)) {
      const auto get = [&](const char* key) { return std::get<std::int64_t>(values.at(key)); };
      const std::int64_t covers =
          get("block") * get("unroll") * get("vector") / static_cast<std::int64_t>(size_of(type));
      for (const std::int64_t numel : {std::int64_t{1}, covers, covers + 1, (std::int64_t{1} << 31) + 5}) {
        const Plan plan = std::get<Plan>(relu.plan(values, type, numel));
        const std::int64_t needed = (numel + covers - 1) / covers;
        INFO(db::to_string(values) << " " << numel);
        CHECK(plan.needed_blocks[0] == needed);
        CHECK(plan.alignment == 4);
        CHECK(plan.geometry.grid[0] == needed);
        CHECK_FALSE(plan.geometry.overlap);
      }
    }
  }
}

TEST_CASE("relu's launches overlap where the parameter says so, from Hopper on") {
  for (const auto& [architecture, can] : {std::pair{"sm_90a", true},
                                          {"sm_100a", true},
                                          {"sm_89", false},
                                          {"gfx90a", false},
                                          {"x86-64-v3", false}}) {
    ElementwiseRig relu(nominal_device(architecture));
    INFO(architecture);
    db::Values values = relu.variant().defaults;
    CHECK_FALSE(std::get<Plan>(relu.plan(values, ElementType::f16, 1 << 20)).geometry.overlap);
    values["overlap"] = std::int64_t{1};
    const auto planned = relu.plan(values, ElementType::f16, 1 << 20);
    REQUIRE(std::holds_alternative<Plan>(planned) == can);
    if (can) CHECK(std::get<Plan>(planned).geometry.overlap);
  }
}

TEST_CASE("relu's grid covers the problem, no more and no less, and stays within the device's limits") {
  for (const char* architecture : {"sm_90a", "gfx90a", "x86-64-v3"}) {
    ElementwiseRig relu(nominal_device(architecture));
    for (const ElementType type : {ElementType::f32, ElementType::i8}) {
      for (const auto& values : covering(relu.configurations(type), 1)) {
        const auto get = [&](const char* key) { return std::get<std::int64_t>(values.at(key)); };
        const std::int64_t covers =
            get("block") * get("unroll") * get("vector") / static_cast<std::int64_t>(size_of(type));
        for (const std::int64_t numel :
             {std::int64_t{1}, covers, covers + 1, std::int64_t{100003}, (std::int64_t{1} << 31) + 5}) {
          const auto planned = relu.plan(values, type, numel);
          INFO(architecture << " " << db::to_string(values) << " " << numel);
          REQUIRE(std::holds_alternative<Plan>(planned));
          const Plan& plan = std::get<Plan>(planned);
          const std::int64_t needed = (numel + covers - 1) / covers;
          CHECK(plan.needed_blocks[0] == needed);
          CHECK(plan.alignment == get("vector"));
          CHECK(plan.geometry.block[0] == static_cast<std::uint32_t>(get("block")));
          if (values.at("mode") == db::Value("one_shot")) {
            CHECK(plan.geometry.grid[0] == needed);
          } else {
            CHECK(plan.geometry.grid[0] == std::min(needed, relu.device().compute_units * get("waves")));
          }
        }
      }
    }
  }
}

TEST_CASE("relu configurations whose grid would not fit are illegal, and others serve the problem") {
  const auto narrow = [](ElementwiseRig& relu) {
    db::Values values = relu.variant().defaults;
    values["block"] = std::int64_t{64};
    values["vector"] = std::int64_t{1};
    return values;
  };
  ElementwiseRig cuda(nominal_device("sm_90a"));
  CHECK(std::holds_alternative<Illegal>(cuda.plan(narrow(cuda), ElementType::i8, std::int64_t{1} << 40)));
  CHECK(
      std::holds_alternative<Plan>(cuda.plan(narrow(cuda), ElementType::i8, std::int64_t{64} * 2147483647)));
  CHECK(std::holds_alternative<Illegal>(
      cuda.plan(narrow(cuda), ElementType::i8, std::int64_t{64} * 2147483647 + 1)));
  CHECK(std::holds_alternative<Plan>(
      cuda.plan(cuda.variant().defaults, ElementType::i8, std::int64_t{1} << 40)));
  // HIP counts a grid's threads in 32 bits.
  ElementwiseRig hip(nominal_device("gfx90a"));
  CHECK(std::holds_alternative<Plan>(hip.plan(narrow(hip), ElementType::i8, (std::int64_t{1} << 32) - 64)));
  CHECK(std::holds_alternative<Illegal>(hip.plan(narrow(hip), ElementType::i8, (std::int64_t{1} << 32) + 9)));
  db::Values stride = hip.variant().defaults;
  stride["mode"] = "grid_stride";
  stride["waves"] = std::int64_t{4};
  CHECK(std::holds_alternative<Plan>(hip.plan(stride, ElementType::i8, std::int64_t{1} << 50)));
}
