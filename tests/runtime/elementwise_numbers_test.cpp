// gelu, gelu_tanh and silu on the host, against formulas in double precision: every 16-bit number, and f32
// from denormals to infinity.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernel_templates/common/fill.h"
#include "tests/runtime/elementwise_rig.hpp"

using namespace hone;
using namespace hone::test;

namespace {

/// Bit patterns of every sign and exponent, and of every 16-bit number.
std::vector<std::uint32_t> numbers(ElementType type) {
  std::vector<std::uint32_t> all;
  if (type != ElementType::f32) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) all.push_back(bits);
    return all;
  }
  for (std::uint32_t top = 0; top < 512; ++top)
    for (std::uint32_t step = 0; step < 64; ++step) all.push_back(top << 23 | (step * 0x20C31U & 0x7FFFFFU));
  // Where the functions bend and fall off.
  for (int step = -12000; step <= 2000; ++step)
    all.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(step) / 100));
  return all;
}

double formula(const std::string& family, double x) {
  if (std::isinf(x) && x < 0) return 0;
  if (family == "silu") return x / (1 + std::exp(-x));
  if (family == "gelu") return x * std::erfc(-x * std::sqrt(0.5)) / 2;
  return x / (1 + std::exp(-2 * std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}

}  // namespace

TEST_CASE("gelu, gelu_tanh and silu are as near as their manifests say, and NaN stays NaN") {
  const std::string family = GENERATE("gelu", "gelu_tanh", "silu");
  HostRig host;
  ElementwiseRig rig(host.device().info(), family);
  for (const ElementType type : rig.family().element_types) {
    const auto kernel = host.kernel(rig.source(rig.variant().defaults, type), rig.entry());
    const std::size_t size = size_of(type);
    const auto inputs = numbers(type);
    const auto numel = static_cast<std::int64_t>(inputs.size());
    std::vector<unsigned char> x(inputs.size() * size), y(inputs.size() * size);
    for (std::size_t i = 0; i < inputs.size(); ++i) std::memcpy(&x[i * size], &inputs[i], size);
    const Plan plan = std::get<Plan>(rig.plan(rig.variant().defaults, type, numel));
    host.launch(*kernel, plan.geometry, static_cast<void*>(x.data()), static_cast<void*>(y.data()),
                static_cast<long long>(numel));
    double worst = 0;
    int wrong = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      unsigned long long bits = 0;
      std::memcpy(&bits, &y[i * size], size);
      const double in = hone_element_number(static_cast<int>(type), inputs[i]);
      const double out = hone_element_number(static_cast<int>(type), bits);
      const double right = formula(family, in);
      if (std::isnan(right) || std::isinf(right)) {
        wrong += std::isnan(right) ? !std::isnan(out) : out != right;
      } else if (!std::isfinite(out)) {
        ++wrong;
      } else {
        worst = std::max(worst, std::abs(out - right) / (std::abs(right) + smallest_normal(type)));
      }
    }
    INFO(family << " " << name(type) << " worst " << worst);
    CHECK(wrong == 0);
    CHECK(worst <= rig.family().check.bounds.at(type));
    // A bound far above what is seen would hide faults.
    CHECK(worst > rig.family().check.bounds.at(type) / 10);
  }
}
