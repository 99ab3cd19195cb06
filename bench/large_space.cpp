// How long it takes, and how much memory, to go through or to sample spaces of 10^6 to 10^12 configurations.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>

#include "bench/rig.hpp"
#include "tools/exit_code.hpp"
#include "tuner/candidates.hpp"

namespace hone::bench {
namespace {

/// A tiled multiplication's parameters: `values` of each, `parameters` in all, with constraints that leave
/// about a tenth.
Family family_of(int parameters, std::int64_t values) {
  Family family;
  family.name = "synthetic";
  family.dimensions = {{"n", 1, INT64_MAX, "", ""}};
  family.element_types = {ElementType::f32};
  family.working_set = "8 * n";
  family.arguments.resize(1);
  family.arguments[0].name = "y";
  family.arguments[0].extent = "n";
  family.arguments[0].access = ArgumentAccess::write;
  Variant variant;
  variant.name = "tiled";
  variant.targets = {{}};
  variant.alignment = "element_size";
  variant.grid = {"(n + 63) / 64", "1", "1"};
  variant.block = {"64", "1", "1"};
  for (int p = 0; p < parameters; ++p) {
    db::Parameter parameter{fmt::format("p{}", p), {}};
    for (std::int64_t v = 1; v <= values; ++v) parameter.values.emplace_back(v);
    variant.defaults[parameter.name] = std::int64_t{1};
    variant.parameters.push_back(std::move(parameter));
  }
  variant.constraints = {"p0 * p1 <= 32", "p2 % p3 = 0 OR p3 = 1", "p4 + p5 < 16", "n % p0 = 0"};
  family.variants = {std::move(variant)};
  return family;
}

double peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int measure(const tools::Options&) {
  DeviceInfo device;
  device.name = "synthetic";
  device.max_threads = 1024;
  device.compute_units = 1;
  fmt::print("points before constraints,candidates,whole,seconds,peak MB\n");
  for (const auto& [parameters, values] : {std::pair{6, 8}, {6, 10}, {7, 10}, {9, 10}, {12, 10}}) {
    const Family family = family_of(parameters, values);
    const db::Problem problem{family.name, "f32", "", {{"n", 5040}}};
    db::Evaluator evaluator;
    const auto start = std::chrono::steady_clock::now();
    const tuner::CandidateSource source(evaluator, family, device, problem, {});
    const tuner::CandidateSet taken = source.take(tuner::most_candidates, 1);
    const tuner::SearchSpace space = source.space(taken.candidates);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("{}^{},{},{},{:.2f},{:.0f}\n", values, parameters, space.size(), taken.whole ? "yes" : "no",
               seconds, peak_megabytes());
  }
  return tools::exit_done;
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  hone::tools::Options options("bench_large_space", "", "bench_large_space",
                               "Takes the candidates of synthetic spaces of growing size, as a tuning run "
                               "does, and tells how long that took and the most "
                               "memory so far. CSV on stdout.");
  return hone::bench::run(argc, argv, options, hone::bench::measure);
}
