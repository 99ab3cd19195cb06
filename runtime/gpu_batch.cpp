// Batches on a GPU: the launches captured as a graph, between two event nodes where the driver has them, so
// that the clock starts and stops on the device and no gap before the launch is counted.
#include <fmt/format.h>

#include <utility>

#include "runtime/gpu_context.hpp"

namespace hone {
namespace {

constexpr int capture_thread_local = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, and HIP's

/// A driver object that is destroyed with its owner.
class Owned {
 public:
  using Destroy = GpuApi::Status (*)(GpuApi::Handle);
  Owned(const GpuContext& context, Destroy destroy) : context_(context), destroy_(destroy) {}
  ~Owned() {
    if (handle_ == nullptr) return;
    try {
      const CurrentContext current(context_);
      destroy_(handle_);
    } catch (const DeviceError&) {
      // The context is lost, and the object with it.
    }
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  GpuApi::Handle* out() noexcept { return &handle_; }
  GpuApi::Handle get() const noexcept { return handle_; }

 private:
  const GpuContext& context_;
  Destroy destroy_;
  GpuApi::Handle handle_ = nullptr;
};

class GpuBatch final : public Batch {
 public:
  GpuBatch(std::shared_ptr<const GpuContext> context, std::span<const Launch> launches)
      : context_(std::move(context)),
        start_(*context_, context_->api().event_destroy),
        stop_(*context_, context_->api().event_destroy),
        executable_(*context_, context_->api().graph_executable_destroy) {
    const GpuApi& api = context_->api();
    const CurrentContext current(*context_);
    context_->check(api.event_create(start_.out(), 0), "creating an event");
    context_->check(api.event_create(stop_.out(), 0), "creating an event");

    Owned kernels(*context_, api.graph_destroy);
    capture(launches, kernels);
    Owned timed(*context_, api.graph_destroy);
    put_between_events(kernels.get(), timed);
    context_->check(api.graph_instantiate(executable_.out(), timed.get(), 0), "instantiating a graph");
    if (api.graph_upload != nullptr) {
      context_->check(api.graph_upload(executable_.get(), context_->stream()), "uploading a graph");
      context_->check(api.stream_synchronize(context_->stream()), "uploading a graph");
    }
  }

  double run() override {
    const GpuApi& api = context_->api();
    const GpuApi::Handle stream = context_->stream();
    const CurrentContext current(*context_);
    context_->check(api.graph_launch(executable_.get(), stream), "launching a batch");
    context_->check(api.stream_synchronize(stream), "running a batch");
    float milliseconds = 0;
    context_->check(api.event_elapsed(&milliseconds, start_.get(), stop_.get()), "timing a batch");
    return static_cast<double>(milliseconds) * 1e6;
  }

 private:
  /// On a stream of its own, so that what other threads do with the device meanwhile is not captured.
  void capture(std::span<const Launch> launches, Owned& graph) const {
    const GpuApi& api = context_->api();
    Owned stream(*context_, api.stream_destroy);
    context_->check(api.stream_create(stream.out(), non_blocking_stream), "creating a stream");
    context_->check(api.capture_begin(stream.get(), capture_thread_local), "starting a capture");
    try {
      for (const Launch& launch : launches) enqueue(*context_, launch, stream.get());
    } catch (...) {
      // A capture is ended whatever happened in it: only then does the driver let go of what it holds.
      static_cast<void>(api.capture_end(stream.get(), graph.out()));
      throw;
    }
    context_->check(api.capture_end(stream.get(), graph.out()), "ending a capture");
  }

  void put_between_events(GpuApi::Handle kernels, Owned& graph) const {
    const GpuApi& api = context_->api();
    GpuApi::Handle first = nullptr;
    GpuApi::Handle middle = nullptr;
    GpuApi::Handle last = nullptr;
    context_->check(api.graph_create(graph.out(), 0), "creating a graph");
    context_->check(api.graph_add_event(&first, graph.get(), nullptr, 0, start_.get()), "building a graph");
    context_->check(api.graph_add_graph(&middle, graph.get(), &first, 1, kernels), "building a graph");
    context_->check(api.graph_add_event(&last, graph.get(), &middle, 1, stop_.get()), "building a graph");
  }

  std::shared_ptr<const GpuContext> context_;
  Owned start_;
  Owned stop_;
  Owned executable_;
};

/// No launches: nothing to record, and an empty capture is no graph to every driver.
class EmptyBatch final : public Batch {
 public:
  double run() override { return 0; }
};

}  // namespace

std::unique_ptr<Batch> record_gpu_batch(std::shared_ptr<const GpuContext> context,
                                        std::span<const Launch> launches) {
  if (launches.empty()) return std::make_unique<EmptyBatch>();
  return std::make_unique<GpuBatch>(std::move(context), launches);
}

}  // namespace hone
