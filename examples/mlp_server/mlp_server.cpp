// A small inference server without the network: threads take requests of changing batch sizes and run each
// through the layers of a model, by hone's picks. Tells per layer what was picked, by which rung, and how
// long it takes.
//
//   mlp_server [DATABASE [DEVICE [SECONDS]]]
//
// A layer is X = A W + bias, out = relu(X + X Y). examples/mlp_server/run.sh tunes for it and runs it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "hone/hone.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLargestBatch = 64;
constexpr std::array<std::int64_t, 4> kWidths{256, 512, 512, 256};  ///< between the layers
constexpr std::size_t kLayers = kWidths.size() - 1;
constexpr std::size_t kServers = 2;      ///< threads
constexpr std::size_t kAlignment = 256;  ///< bytes, of all memory here

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

std::vector<float> random_numbers(std::int64_t count, unsigned seed, float scale) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-scale, scale);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = distribution(generator);
  return numbers;
}

hone::Memory filled(hone::Runtime& runtime, const std::vector<float>& numbers) {
  hone::Memory memory = runtime.allocate(numbers.size() * sizeof(float));
  memory.write(numbers.data(), memory.size());
  return memory;
}

struct Layer {
  std::int64_t n, k;
  std::vector<float> host_weights, host_bias, host_gate;
  hone::Memory weights, bias, gate;
};

/// The model's weights and what picks need, shared by all threads.
class Model {
 public:
  explicit Model(hone::Runtime& runtime)
      : runtime_(runtime), glu_(runtime.family("glu_layer")), relu_(runtime.family("relu")) {
    for (std::size_t i = 0; i < kLayers; ++i) {
      const std::int64_t k = kWidths[i], n = kWidths[i + 1];
      const auto seed = static_cast<unsigned>(3 * i);
      std::vector<float> weights = random_numbers(k * n, seed, 1 / std::sqrt(static_cast<float>(k)));
      std::vector<float> bias = random_numbers(n, seed + 1, 1);
      std::vector<float> gate = random_numbers(kLargestBatch * n, seed + 2, 1);
      hone::Memory on_device[] = {filled(runtime, weights), filled(runtime, bias), filled(runtime, gate)};
      layers_.push_back({n, k, std::move(weights), std::move(bias), std::move(gate), std::move(on_device[0]),
                         std::move(on_device[1]), std::move(on_device[2])});
    }
  }

  const std::vector<Layer>& layers() const { return layers_; }
  hone::Problem glu(const Layer& layer, std::int64_t batch) const {
    return glu_.problem(hone::ElementType::f32, {batch, layer.n, layer.k});
  }
  hone::Problem relu(const Layer& layer, std::int64_t batch) const {
    return relu_.problem(hone::ElementType::f32, {batch * layer.n});
  }

  /// Loads all that batches may ask for, before the first request.
  void prepare() {
    for (const Layer& layer : layers_) {
      for (std::int64_t batch = 1; batch <= kLargestBatch; ++batch) {
        for (const hone::Problem& problem : {glu(layer, batch), relu(layer, batch)}) {
          const hone::Pick pick = runtime_.prepare(problem, kAlignment);
          if (!pick) throw hone::Error(hone::ErrorCode::no_answer, pick.why());
        }
      }
    }
  }

  void run_layer(const Layer& layer, std::int64_t batch, const hone::Memory& in, const hone::Memory& out) {
    runtime_.run(glu(layer, batch),
                 {in.data(), layer.weights.data(), layer.bias.data(), layer.gate.data(), out.data()});
    runtime_.run(relu(layer, batch), {out.data(), out.data()});
  }

  /// One batch's way through all layers; what each writes lies in `between`.
  void run(std::int64_t batch, const std::vector<hone::Memory>& between) {
    for (std::size_t i = 0; i < layers_.size(); ++i) run_layer(layers_[i], batch, between[i], between[i + 1]);
    runtime_.synchronize();
  }

  std::vector<hone::Memory> buffers() {
    std::vector<hone::Memory> between;
    for (const std::int64_t width : kWidths)
      between.push_back(filled(runtime_, random_numbers(kLargestBatch * width, 99, 1)));
    return between;
  }

 private:
  hone::Runtime& runtime_;
  hone::FamilyHandle glu_, relu_;
  std::vector<Layer> layers_;
};

/// The largest relative difference from what plain loops in double precision give.
double check(Model& model, std::int64_t batch) {
  const auto between = model.buffers();
  model.run(batch, between);
  std::vector<float> in_numbers(static_cast<std::size_t>(batch * kWidths[0]));
  between[0].read(in_numbers.data(), in_numbers.size() * sizeof(float));
  std::vector<double> in(in_numbers.begin(), in_numbers.end()), out;
  for (const Layer& layer : model.layers()) {
    const auto n = static_cast<std::size_t>(layer.n), k = static_cast<std::size_t>(layer.k);
    out.assign(static_cast<std::size_t>(batch) * n, 0);
    for (std::size_t at = 0; at < out.size(); ++at) {
      double x = layer.host_bias[at % n];
      for (std::size_t i = 0; i < k; ++i)
        x += in[at / n * k + i] * static_cast<double>(layer.host_weights[i * n + at % n]);
      out[at] = std::max(0.0, x + x * static_cast<double>(layer.host_gate[at]));
    }
    in = out;
  }
  std::vector<float> found(out.size());
  between.back().read(found.data(), found.size() * sizeof(float));
  const double largest = *std::max_element(out.begin(), out.end());
  double worst = 0;
  for (std::size_t at = 0; at < out.size(); ++at)
    worst = std::max(worst, std::abs(static_cast<double>(found[at]) - out[at]) / largest);
  return worst;
}

/// Requests of random batch sizes until the time is up; latencies in microseconds.
std::vector<double> serve(Model& model, unsigned seed, Clock::time_point end) {
  const auto between = model.buffers();
  std::mt19937 generator(seed);
  std::uniform_int_distribution<std::int64_t> batch(1, kLargestBatch);
  std::vector<double> latencies;
  while (Clock::now() < end) {
    const auto begin = Clock::now();
    model.run(batch(generator), between);
    latencies.push_back(microseconds(Clock::now() - begin));
  }
  return latencies;
}

/// Microseconds a call.
template <typename Call>
double time_of(hone::Runtime& runtime, const Call& call) {
  constexpr int kCalls = 50;
  std::vector<double> times;
  for (int round = 0; round < 5; ++round) {
    runtime.synchronize();
    const auto begin = Clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    runtime.synchronize();
    times.push_back(microseconds(Clock::now() - begin) / kCalls);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void tell_layers(hone::Runtime& runtime, Model& model) {
  const auto between = model.buffers();
  std::cout << "layer  batch  call       rung     us        configuration\n"
            << std::fixed << std::setprecision(2);
  for (std::size_t i = 0; i < kLayers; ++i) {
    const Layer& layer = model.layers()[i];
    for (const std::int64_t batch : {std::int64_t{1}, std::int64_t{13}, kLargestBatch}) {
      const auto tell = [&](const char* call, const hone::Problem& problem, auto... arguments) {
        const hone::Pick pick = runtime.pick(problem, kAlignment);
        const double time = time_of(runtime, [&] { runtime.run(problem, {arguments...}); });
        std::cout << std::left << std::setw(7) << i << std::setw(7) << batch << std::setw(11) << call
                  << std::setw(9) << hone::name(pick.rung()) << std::setw(10) << time << pick.configuration()
                  << '\n';
      };
      void* const out = between[i + 1].data();
      tell("glu_layer", model.glu(layer, batch), between[i].data(), layer.weights.data(), layer.bias.data(),
           layer.gate.data(), out);
      tell("relu", model.relu(layer, batch), out, out);
    }
  }
}

int run(const hone::OpenOptions& options, double seconds) {
  hone::Runtime runtime = hone::Runtime::open(options);
  Model model(runtime);
  std::cout << "device: " << runtime.device() << '\n';
  model.prepare();
  if (const double worst = check(model, 13); !(worst < 1e-4)) {
    std::cerr << "mlp_server: a result is wrong by " << worst << " of the largest\n";
    return EXIT_FAILURE;
  }

  std::vector<std::vector<double>> latencies(kServers);
  std::vector<std::thread> servers;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (std::size_t i = 0; i < kServers; ++i)
    servers.emplace_back([&, i] { latencies[i] = serve(model, static_cast<unsigned>(i), end); });
  for (auto& server : servers) server.join();
  std::vector<double> all;
  for (const auto& each : latencies) all.insert(all.end(), each.begin(), each.end());
  std::sort(all.begin(), all.end());

  tell_layers(runtime, model);
  std::cout << kServers << " threads, batches of 1 to " << kLargestBatch << ": " << all.size() / seconds
            << " requests/s, latency p50 " << all[all.size() / 2] << " us, p99 " << all[all.size() * 99 / 100]
            << " us\n";
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** words) {
  try {
    hone::OpenOptions options;
    if (count > 1) options.databases.emplace_back(words[1]);
    if (count > 2) options.device = words[2];
    return run(options, count > 3 ? std::stod(words[3]) : 3);
  } catch (const std::exception& error) {
    std::cerr << "mlp_server: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
