// A second family, found outside the installed templates: its configurations against its reference on the
// host.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "runtime/host_library.hpp"
#include "runtime/plan.hpp"
#include "tests/runtime/host_rig.hpp"

using namespace hone;
using namespace hone::test;

TEST_CASE("saxpy is right in every host configuration") {
  HostRig rig;
  const DeviceInfo& device = rig.device().info();
  const Family family = parse_family(std::string(HONE_SOURCE_DIR) + "/tests/templates/saxpy/saxpy.toml");
  const Variant& variant = family.variants.front();
  const HostLibrary library(compile_host_library(family.check.reference));
  using Reference = void (*)(const long long*, const char*, const char*, void* const*, long long, long long);
  const auto reference = reinterpret_cast<Reference>(library.symbol("hone_reference"));
  REQUIRE(reference != nullptr);

  db::Evaluator evaluator;
  db::Values names = problem_names(make_problem(evaluator, family, "f32", "", {{"n", 100}}));
  for (const auto& [key, value] : device.names()) names[key] = value;
  std::vector<db::Values> configurations;
  evaluator.enumerate(variant.parameters, variant.constraints, names, [&](const db::Values& values) {
    configurations.push_back(values);
    return true;
  });
  CHECK(configurations.size() == 8);
  for (const db::Values& values : configurations) {
    const auto kernel = rig.kernel(translation_unit(variant, values, "f32", "", Backend::host), "saxpy");
    for (const auto& extent : family.check.extents) {
      const db::Problem problem = make_problem(evaluator, family, "f32", "", extent);
      const auto planned = make_plan(evaluator, family, variant, values, problem, device);
      REQUIRE(std::holds_alternative<Plan>(planned));
      const Plan& plan = std::get<Plan>(planned);
      const long long n = extent.front().second;
      CHECK(plan.empty == (n == 0));
      if (plan.empty) continue;
      const auto count = static_cast<std::size_t>(n);
      float a = 0.37F;
      float* memory = static_cast<float*>(rig.device().allocate(2 * (count + 8) * sizeof(float)));
      float* x = memory;
      float* y = memory + (count + 7) / 4 * 4;
      std::vector<double> right(count);
      for (std::size_t i = 0; i < count; ++i) {
        x[i] = std::sin(static_cast<float>(i));
        y[i] = std::cos(static_cast<float>(i));
        right[i] = y[i];
      }
      y[count] = 5;
      void* arguments[] = {&a, x, right.data()};
      reference(&n, "f32", "", arguments, 0, n / 2);
      reference(&n, "f32", "", arguments, n / 2, n);
      rig.launch(*kernel, plan.geometry, n, a, x, y);
      double worst = 0;
      for (std::size_t i = 0; i < count; ++i) worst = std::max(worst, std::abs(right[i] - y[i]));
      INFO(db::to_string(values) << " n " << n);
      CHECK(worst < 1e-6);
      CHECK(y[count] == 5);
      rig.device().release(memory);
    }
  }
}
