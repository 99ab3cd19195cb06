#include "bench/winner_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "bench/null_driver.hpp"
#include "db/store.hpp"
#include "runtime/family.hpp"

namespace hone::bench {
namespace {

namespace fs = std::filesystem;

// As many expressions as the families that come with hone have.
constexpr const char* kVectorOp = R"toml(
[family]
name = "vector_op"
version = "1"
description = "y = f(x)"

[problem]
element_types = ["f16"]
dimensions = [{ name = "numel", minimum = 0 }]
working_set = "2 * numel * element_size"
work = "numel"

[[argument]]
name = "x"
extent = "numel"

[[argument]]
name = "y"
extent = "numel"
access = "write"

[[variant]]
name = "simt"
source = "kernel.cpp"
entry = "kernel"
targets = ["cuda"]
constraints = ["vector * element_size <= 16", "unroll = 1 OR mode <> 'swept' OR numel > 1000"]
alignment = "vector * element_size"
arguments = ["x", "y", "numel"]

[variant.parameters]
block = [128, 256, 512, 1024]
vector = [1, 2, 4, 8]
unroll = [1, 2, 4]
mode = ["one_shot", "swept"]

[variant.defaults]
block = 256
vector = 1
unroll = 1
mode = "one_shot"

[variant.launch]
grid = "min((numel + block * vector * unroll - 1) / (block * vector * unroll), compute_units * 64)"
block = "block"

[check]
reference = "reference.cpp"
items = "numel"
comparison = "bitwise"
extents = [{ numel = 1 }]
)toml";

constexpr const char* kMatmul = R"toml(
[family]
name = "matmul"
version = "1"
description = "C = A B + bias"

[problem]
element_types = ["f16"]
dimensions = [{ name = "M", minimum = 0 }, { name = "N", minimum = 0 }, { name = "K", minimum = 1 }]
strides = [{ name = "lda", default = "K", at_least = "K" }, { name = "ldb", default = "N", at_least = "N" }]
working_set = "(M * K + K * N + M * N) * element_size"
work = "2 * M * N * K"

[[argument]]
name = "a"
extent = "M * lda"

[[argument]]
name = "b"
extent = "K * ldb"

[[argument]]
name = "bias"
extent = "N"

[[argument]]
name = "c"
extent = "M * N"
access = "write"

[[variant]]
name = "simt"
source = "kernel.cpp"
entry = "kernel"
targets = ["cuda"]
constraints = ["tile_m * tile_n <= 32768", "(tile_m + tile_n) * tile_k * element_size * stages <= shared_memory",
               "K % 8 = 0 OR stages = 2", "lda % 8 = 0"]
alignment = "16"
arguments = ["a", "b", "bias", "c", "M", "N", "K", "lda", "ldb"]

[variant.parameters]
tile_m = [64, 128]
tile_n = [64, 128]
tile_k = [32, 64]
stages = [2, 3]
group_m = [1, 4, 8]

[variant.defaults]
tile_m = 64
tile_n = 64
tile_k = 32
stages = 2
group_m = 1

[variant.launch]
grid = ["(M + tile_m - 1) / tile_m", "(N + tile_n - 1) / tile_n"]
block = "256"
dynamic_shared = "(tile_m + tile_n) * tile_k * element_size * stages"
covers = ["tile_m", "tile_n"]
extent = ["M", "N"]

[check]
reference = "reference.cpp"
items = "M"
comparison = "relative"
bounds = { f16 = 1e-3 }
extents = [{ M = 1, N = 1, K = 8 }]
)toml";

class Writer {
 public:
  Writer(const fs::path& file, const DeviceInfo& device, const fs::path& sources)
      : store_(db::Store::open(file, db::Access::create)), device_(device), sources_(sources) {
    run_.device = store_.put(device.record());
    run_.environment = store_.put(db::Environment{{{"compiler", "none"}}});
    run_.command = "bench";
    run_.started_us = now_us_;
    store_.put(run_);
  }

  db::Store& store() { return store_; }

  Family family(const std::string& name, const char* manifest) {
    const fs::path folder = sources_ / name;
    fs::create_directories(folder);
    std::ofstream(folder / "kernel.cpp") << "extern \"C\" void kernel() {}\n";
    std::ofstream(folder / "reference.cpp") << "void reference() {}\n";
    std::ofstream(folder / (name + ".toml")) << manifest;
    Family family = parse_family(folder / (name + ".toml"));
    for (const Variant& variant : family.variants)
      store_.put({family.name, variant.name, variant.source_hash, family.manifest, variant.source});
    return family;
  }

  db::Measurement measured(const Family& family, const std::vector<std::int64_t>& dimensions,
                           std::int64_t number, std::int64_t nanoseconds) {
    const Variant& variant = family.variants.front();
    db::Problem problem{family.name, "f16", "", {}};
    for (std::size_t i = 0; i < dimensions.size(); ++i)
      problem.dimensions.emplace_back(family.dimensions[i].name, dimensions[i]);
    db::Configuration configuration{family.name, variant.name, variant.defaults};
    for (const auto& parameter : variant.parameters) {
      const auto count = static_cast<std::int64_t>(parameter.values.size());
      configuration.parameters[parameter.name] = parameter.values[static_cast<std::size_t>(number % count)];
      number /= count;
    }
    store_.put(problem);
    store_.put(configuration);
    db::Measurement measurement;
    measurement.run = run_.id;
    measurement.problem = problem.id();
    measurement.configuration = configuration.id();
    measurement.source_hash = variant.source_hash;
    measurement.stage = db::Stage::race;
    measurement.alignment = 16;
    measurement.launches = 1;
    const auto time = static_cast<double>(nanoseconds);
    measurement.samples = {time};
    measurement.statistics = {1, time, time, time, time};
    measurement.build_key = db::KeyBuilder().add(configuration.text()).id();
    measurement.taken_us = ++now_us_;
    store_.put(measurement);
    store_.put(
        db::CodeObject{measurement.build_key, device_.architecture, "none", variant.entry, null_image()});
    return measurement;
  }

  void winner(const Family& family, const std::vector<std::int64_t>& dimensions, std::int64_t number) {
    const db::Measurement measurement = measured(family, dimensions, number, 1000);
    db::Decision decision;
    decision.run = run_.id;
    decision.problem = measurement.problem;
    decision.alignment = 16;
    decision.chosen = measurement.id;
    decision.tied = {measurement.id};
    decision.decided_us = ++now_us_;
    store_.put(decision);
  }

  /// Of vector_op, along the working set: one configuration a point.
  void sweep_bands(const Family& family, std::int64_t winners) {
    std::vector<db::SweepPoint> points;
    for (std::int64_t i = 0; i < winners; i += winners / 100)
      points.push_back(point(4 * kVectorStep * (i + 1),
                             {measured(family, {kVectorStep * (i + 1)}, i / (winners / 10), 1000)}));
    sweep(family, points);
  }

  /// Of matmul, across problems: every configuration at each, another the fastest from problem to problem.
  void sweep_portfolio(const Family& family, std::int64_t problems) {
    std::vector<db::SweepPoint> points;
    for (std::int64_t i = 0; i < problems; ++i) {
      const auto [m, n, k] = matmul_shape(i);
      std::vector<db::Measurement> measurements;
      for (std::int64_t number = 0; number < kMatmulConfigurations; ++number)
        measurements.push_back(
            measured(family, {m, n, k, k, n}, number,
                     2000 + m * n * k / 1'000'000 * (9 + (i + number) % kMatmulConfigurations)));
      points.push_back(point(2 * (m * k + k * n + m * n), measurements));
    }
    sweep(family, points);
  }

 private:
  db::SweepPoint point(std::int64_t working_set, const std::vector<db::Measurement>& measurements) {
    db::SweepPoint point;
    point.run = run_.id;
    point.problem = measurements.front().problem;
    point.working_set = working_set;
    for (const db::Measurement& each : measurements) point.measurements.push_back(each.id);
    store_.put(point);
    return point;
  }

  void sweep(const Family& family, const std::vector<db::SweepPoint>& points) {
    db::Sweep sweep;
    sweep.run = run_.id;
    sweep.family = family.name;
    sweep.element_type = "f16";
    for (const db::SweepPoint& each : points) sweep.points.push_back(each.id);
    sweep.swept_us = ++now_us_;
    store_.put(sweep);
  }

  static constexpr std::int64_t kMatmulConfigurations = 48;

  db::Store store_;
  const DeviceInfo device_;
  const fs::path sources_;
  db::Run run_;
  std::int64_t now_us_ = 1'700'000'000'000'000;
};

}  // namespace

std::array<std::int64_t, 3> matmul_shape(std::int64_t i) {
  return {1 + i % 4096, 64 * (1 + i / 7 % 512), 64 * (1 + i / 11 % 128)};
}

void write_winners(const fs::path& file, const DeviceInfo& device, std::int64_t vector_winners,
                   std::int64_t matmul_winners, Derived derived) {
  const fs::path sources = fs::temp_directory_path() / fmt::format("hone-bench-sources-{}", ::getpid());
  Writer writer(file, device, sources);
  writer.store().transaction([&] {
    const Family vector_op = writer.family("vector_op", kVectorOp);
    const Family matmul = writer.family("matmul", kMatmul);
    if (derived == Derived::bands) {
      writer.sweep_bands(vector_op, vector_winners);
    } else {
      for (std::int64_t i = 0; i < vector_winners; ++i) writer.winner(vector_op, {kVectorStep * (i + 1)}, i);
    }
    if (derived == Derived::portfolio) {
      writer.sweep_portfolio(matmul, matmul_winners);
    } else {
      for (std::int64_t i = 0; i < matmul_winners; ++i) {
        const auto [m, n, k] = matmul_shape(i);
        writer.winner(matmul, {m, n, k, k, n}, i);
      }
    }
  });
  fs::remove_all(sources);
}

}  // namespace hone::bench
