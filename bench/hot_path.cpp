// What the runtime library costs an application, by Google Benchmark: picks, launches and opening, without a
// device, over a driver whose entry points do nothing; and on a GPU, where there is one and HONE_BENCH_DB
// names a database with relu tuned for it, beside the real driver's launch.
//
// `p50` and `p99` are nanoseconds a call, over samples of so many calls as the clock needs. With more threads
// than cores a sample in which a thread lost its core is among the slowest.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <random>
#include <vector>

#include "bench/null_driver.hpp"
#include "bench/winner_file.hpp"
#include "hone/hone.h"
#include "hone/hone.hpp"
#include "runtime/gpu_context.hpp"
#include "runtime/gpu_device.hpp"
#include "runtime/runtime_state.hpp"

namespace hone::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kKnown = 10'000;
constexpr std::int64_t kMany = 100'000;

/// A folder for this process's databases, each written when it is first asked for.
class Files {
 public:
  Files() : folder_(fs::temp_directory_path() / fmt::format("hone-bench-{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~Files() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path file(std::int64_t vector_winners, std::int64_t matmul_winners, Derived derived = Derived::none) {
    const fs::path file =
        folder_ / fmt::format("{}-{}-{}.db", vector_winners, matmul_winners, static_cast<int>(derived));
    if (!fs::exists(file)) write_winners(file, null_device(), vector_winners, matmul_winners, derived);
    return file;
  }

 private:
  fs::path folder_;
};

Files& files() {
  static Files files;
  return files;
}

Runtime open_null(const fs::path& file) {
  OpenOptions options;
  options.databases = {file.string()};
  options.misses_folder = (file.parent_path() / "misses").string();
  options.maximum_answers = std::size_t{1} << 22;
  return RuntimeState::runtime_of(
      std::make_unique<RuntimeState>(options, open_gpu_device(null_driver(), null_device())));
}

/// Samples of all threads of one benchmark; the last thread to hand in reports their percentiles.
class Samples {
 public:
  void report(benchmark::State& state, std::vector<double> samples) {
    const std::lock_guard lock(mutex_);
    all_.insert(all_.end(), samples.begin(), samples.end());
    if (++handed_in_ < state.threads()) return;
    std::sort(all_.begin(), all_.end());
    state.counters["p50"] = all_[all_.size() / 2];
    state.counters["p99"] = all_[all_.size() * 99 / 100];
    handed_in_ = 0;
    all_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<double> all_;
  int handed_in_ = 0;
};

/// Times `calls` calls of `body(i)` a sample; `after` each sample comes what is not timed.
template <typename Body, typename After>
void sample(benchmark::State& state, Samples& all, int calls, const Body& body, const After& after) {
  std::vector<double> samples;
  samples.reserve(1 << 20);
  std::int64_t i = 0;
  for (auto _ : state) {
    const auto begin = Clock::now();
    for (int call = 0; call < calls; ++call) body(i++);
    const std::chrono::duration<double, std::nano> time = Clock::now() - begin;
    if (samples.size() < samples.capacity()) samples.push_back(time.count() / calls);
    after();
  }
  all.report(state, std::move(samples));
  state.SetItemsProcessed(state.iterations() * calls);
}

template <typename Body>
void sample(benchmark::State& state, Samples& all, int calls, const Body& body) {
  sample(state, all, calls, body, [] {});
}

constexpr std::size_t kAlignment = 16;

Problem vector_op(const FamilyHandle& family, std::int64_t numel) {
  return family.problem(ElementType::f16, {numel});
}

void pick_known(benchmark::State& state) {
  static Samples all;
  static Runtime runtime = open_null(files().file(kKnown, kKnown));
  const Problem problem = vector_op(runtime.family("vector_op"), kVectorStep);
  runtime.pick(problem, kAlignment);
  sample(state, all, 256, [&](std::int64_t) { benchmark::DoNotOptimize(runtime.pick(problem, kAlignment)); });
}

/// Every problem of 10,000 was picked before; they are asked for in random order.
template <bool kMatmul>
void pick_among_10000(benchmark::State& state) {
  static Samples all;
  static Runtime runtime = open_null(files().file(kKnown, kKnown));
  static const std::vector<std::array<std::int64_t, 3>> shapes = [] {
    std::vector<std::array<std::int64_t, 3>> made;
    for (std::int64_t i = 0; i < kKnown; ++i)
      made.push_back(kMatmul ? matmul_shape(i) : std::array<std::int64_t, 3>{kVectorStep * (i + 1), 0, 0});
    std::shuffle(made.begin(), made.end(), std::mt19937(1));
    return made;
  }();
  const FamilyHandle family = runtime.family(kMatmul ? "matmul" : "vector_op");
  Problem problem = kMatmul ? family.problem(ElementType::f16, {1, 1, 8}) : vector_op(family, 1);
  const auto pick = [&](std::int64_t i) {
    const auto& shape = shapes[static_cast<std::size_t>(i % kKnown)];
    if (kMatmul)
      problem.dimensions = {shape[0], shape[1], shape[2], shape[2], shape[1]};
    else
      problem.dimensions[0] = shape[0];
    return runtime.pick(problem, kAlignment);
  };
  for (std::int64_t i = 0; i < kKnown; ++i)
    if (pick(i).rung() != Rung::exact) state.SkipWithError("a problem is not answered exactly");
  sample(state, all, 256, [&](std::int64_t i) { benchmark::DoNotOptimize(pick(i)); });
}

/// Each problem is asked for once. The argument says how many winners there are, or problems of the
/// portfolio.
enum class First { exact, band, nearest, matmul_exact, matmul_nearest, matmul_portfolio };

template <First kWhat>
constexpr Rung expected_rung() {
  switch (kWhat) {
    case First::exact:
    case First::matmul_exact:
      return Rung::exact;
    case First::band:
      return Rung::band;
    case First::matmul_portfolio:
      return Rung::portfolio;
    default:
      return Rung::nearest;
  }
}

template <First kWhat>
void pick_first(benchmark::State& state) {
  static Samples all;
  const std::int64_t winners = state.range(0);
  constexpr bool kMatmul = kWhat >= First::matmul_exact;
  constexpr Rung expected = expected_rung<kWhat>();
  constexpr bool kExact = expected == Rung::exact;
  constexpr Derived derived = expected == Rung::band        ? Derived::bands
                              : expected == Rung::portfolio ? Derived::portfolio
                                                            : Derived::none;
  static std::mutex mutex;
  static std::unique_ptr<Runtime> runtime;
  static int users = 0;
  {
    const std::lock_guard lock(mutex);
    if (users++ == 0) runtime = std::make_unique<Runtime>(open_null(files().file(winners, winners, derived)));
  }
  const FamilyHandle family = runtime->family(kMatmul ? "matmul" : "vector_op");
  Problem problem = kMatmul ? family.problem(ElementType::f16, {1, 1, 8}) : vector_op(family, 1);
  const std::int64_t first = state.thread_index();
  std::int64_t wrong = 0;
  // The code objects of the few configurations are read once; that is not what is measured here.
  for (std::int64_t i = 0; i < 200; ++i) {
    if (kMatmul)
      problem.dimensions = {5000 + i % 16, 8, 16, 16, 8};
    else
      problem.dimensions[0] = kVectorStep * (i + 1) + 512;
    runtime->pick(problem, kAlignment);
  }
  sample(state, all, 1, [&](std::int64_t i) {
    i = i * state.threads() + first;
    if (kMatmul) {
      const auto [m, n, k] = matmul_shape(i % winners);
      problem.dimensions = kExact ? decltype(problem.dimensions){m, n, k, k, n}
                                  : decltype(problem.dimensions){m, n + 8 * (1 + i / winners), k, k,
                                                                 n + 8 * (1 + i / winners)};
    } else {
      problem.dimensions[0] =
          kExact ? kVectorStep * (i % winners + 1) : kVectorStep * (i % winners + 1) + 1 + i / winners;
    }
    const Pick pick = runtime->pick(problem, kAlignment);
    if (pick.rung() != expected) ++wrong;
  });
  if (wrong > 0) state.SkipWithError("another rung answered");
  const std::lock_guard lock(mutex);
  if (--users == 0) runtime.reset();
}

void launch_bare(benchmark::State& state) {
  static Samples all;
  const GpuApi& api = null_driver().api;
  void* x = &all;
  void* y = &all;
  std::int64_t numel = kVectorStep;
  void* parameters[] = {&x, &y, &numel};
  sample(state, all, 64, [&](std::int64_t) {
    benchmark::DoNotOptimize(
        api.launch(x, 8, 1, 1, 128, 1, 1, 0, nullptr, static_cast<void**>(parameters), nullptr));
    benchmark::ClobberMemory();
  });
}

alignas(256) char some_memory[256];

enum class Way { pick_and_launch, run, c_run };
template <Way kWay>
void launch_by_hone(benchmark::State& state) {
  static Samples all;
  static Runtime runtime = open_null(files().file(kKnown, kKnown));
  const Problem problem = vector_op(runtime.family("vector_op"), kVectorStep);
  runtime.prepare(problem, 256);
  sample(state, all, 64, [&](std::int64_t) {
    if (kWay == Way::run)
      runtime.run(problem, {some_memory, some_memory});
    else
      runtime.launch(runtime.pick(problem, kAlignment), {some_memory, some_memory});
  });
}

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

void open_many(benchmark::State& state) {
  const fs::path file = files().file(kMany / 2, kMany / 2);
  double before = 0, after = 0;
  std::vector<double> opens, firsts;
  for (auto _ : state) {
    ::malloc_trim(0);
    before = resident_mb();
    auto begin = Clock::now();
    Runtime runtime = open_null(file);
    opens.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    after = resident_mb();
    begin = Clock::now();
    runtime.run(vector_op(runtime.family("vector_op"), kVectorStep), {some_memory, some_memory});
    firsts.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  const auto middle = [](std::vector<double>& of) {
    std::sort(of.begin(), of.end());
    return of[of.size() / 2];
  };
  state.counters["memory_MB"] = after - before;
  state.counters["open_ms"] = middle(opens);
  state.counters["first_launch_ms"] = middle(firsts);
}

// On a GPU, with the real driver: relu f16 of 4096 elements, whose kernels are done before the next is
// launched.

struct OnGpu {
  Runtime runtime;
  Problem problem;
  Memory x, y;

  static OnGpu open() {
    OpenOptions options;
    options.databases = {std::getenv("HONE_BENCH_DB")};
    options.device = "0";
    options.record_misses = false;
    Runtime runtime = Runtime::open(options);
    const Problem problem = runtime.family("relu").problem(ElementType::f16, {4096});
    if (const Pick pick = runtime.prepare(problem, 256); !pick) throw Error(ErrorCode::no_answer, pick.why());
    Memory x = runtime.allocate(8192), y = runtime.allocate(8192);
    return {std::move(runtime), problem, std::move(x), std::move(y)};
  }
};

template <bool kBare>
void launch_on_gpu(benchmark::State& state) {
  static Samples all;
  static OnGpu gpu = OnGpu::open();
  const auto* answer = RuntimeState::answer_of(gpu.runtime.pick(gpu.problem, 256));
  const GpuApi& api = gpu_library(gpu.runtime.device().starts_with("hip") ? Backend::hip : Backend::cuda).api;
  const auto* kernel = static_cast<const GpuKernel*>(answer->served->code->kernel.load());
  void *x = gpu.x.data(), *y = gpu.y.data();
  std::int64_t numel = 4096;
  std::vector<void*> parameters;
  for (const LaunchArgument& from : answer->served->launch_arguments)
    parameters.push_back(from.from == LaunchArgument::From::dimension
                             ? static_cast<void*>(&numel)
                             : static_cast<void*>(from.index == 0 ? &x : &y));
  const Geometry& g = answer->geometry;
  GpuApi::Handle context = nullptr, stream = nullptr;
  if (api.context_retain != nullptr &&
      (api.context_retain(&context, 0) != 0 || api.context_set(context) != 0))
    return state.SkipWithError("no context");
  if (api.stream_create(&stream, 1) != 0) return state.SkipWithError("no stream");
  // What an application would call for this configuration.
  GpuLaunchAttribute overlap;
  overlap.id = 6;  // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
  overlap.value.number = 1;
  const GpuLaunchConfiguration with_overlap{g.grid, g.block, g.dynamic_shared_bytes, stream, &overlap, 1};
  sample(
      state, all, 64,
      [&](std::int64_t) {
        if (kBare && g.overlap)
          api.launch_with_attributes(&with_overlap, kernel->function(), parameters.data(), nullptr);
        else if (kBare)
          api.launch(kernel->function(), g.grid[0], g.grid[1], g.grid[2], g.block[0], g.block[1], g.block[2],
                     g.dynamic_shared_bytes, stream, parameters.data(), nullptr);
        else
          gpu.runtime.launch(gpu.runtime.pick(gpu.problem, 256), {x, y}, stream);
      },
      [&] { api.stream_synchronize(stream); });
  api.stream_destroy(stream);
}

void open_on_gpu(benchmark::State& state) {
  std::vector<double> opens, firsts;
  for (auto _ : state) {
    auto begin = Clock::now();
    OpenOptions options;
    options.databases = {std::getenv("HONE_BENCH_DB")};
    options.device = "0";
    options.record_misses = false;
    Runtime runtime = Runtime::open(options);
    opens.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    Memory x = runtime.allocate(8192), y = runtime.allocate(8192);
    const Problem problem = runtime.family("relu").problem(ElementType::f16, {4096});
    begin = Clock::now();
    runtime.run(problem, {x.data(), y.data()});
    firsts.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  state.counters["open_ms"] = *std::max_element(opens.begin(), opens.end());
  state.counters["first_launch_ms"] = *std::max_element(firsts.begin(), firsts.end());
}

void register_gpu() {
  benchmark::RegisterBenchmark("gpu/open", open_on_gpu)->Unit(benchmark::kMillisecond)->Iterations(5);
  benchmark::RegisterBenchmark("gpu/launch_bare", launch_on_gpu<true>)->ThreadRange(1, 16);
  benchmark::RegisterBenchmark("gpu/pick_and_launch", launch_on_gpu<false>)->ThreadRange(1, 16);
}

BENCHMARK(pick_known)->ThreadRange(1, 16);
BENCHMARK(pick_among_10000<false>)->Name("pick_among_10000/vector_op")->ThreadRange(1, 16);
BENCHMARK(pick_among_10000<true>)->Name("pick_among_10000/matmul")->ThreadRange(1, 16);
BENCHMARK(pick_first<First::exact>)->Name("pick_first/exact")->Arg(kKnown)->Iterations(10'000);
BENCHMARK(pick_first<First::matmul_exact>)->Name("pick_first/matmul_exact")->Arg(kKnown)->Iterations(10'000);
BENCHMARK(pick_first<First::band>)
    ->Name("pick_first/band")
    ->Arg(kKnown)
    ->Iterations(10'000)
    ->ThreadRange(1, 16);
BENCHMARK(pick_first<First::nearest>)
    ->Name("pick_first/nearest")
    ->Arg(kKnown)
    ->Arg(kMany)
    ->Iterations(10'000)
    ->ThreadRange(1, 16);
BENCHMARK(pick_first<First::matmul_nearest>)
    ->Name("pick_first/matmul_nearest")
    ->Arg(kKnown)
    ->Arg(kMany)
    ->Iterations(10'000)
    ->ThreadRange(1, 16);
BENCHMARK(pick_first<First::matmul_portfolio>)
    ->Name("pick_first/matmul_portfolio")
    ->Arg(92)  // as many as the portfolio of bench/RESULTS.md was raced at
    ->Iterations(10'000)
    ->ThreadRange(1, 16);
BENCHMARK(launch_bare)->ThreadRange(1, 16);
BENCHMARK(launch_by_hone<Way::pick_and_launch>)->Name("launch/pick_and_launch")->ThreadRange(1, 16);
BENCHMARK(launch_by_hone<Way::run>)->Name("launch/run")->ThreadRange(1, 16);
BENCHMARK(open_many)->Name("open/100000")->Unit(benchmark::kMillisecond)->Iterations(11);

}  // namespace
}  // namespace hone::bench

int main(int count, char** words) {
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 1;
  if (std::getenv("HONE_BENCH_DB") != nullptr) hone::bench::register_gpu();
  benchmark::RunSpecifiedBenchmarks();
}
