// What a GPU device, its kernels and its batches share: the driver's context, a stream, and how errors are
// reported.
#pragma once

#include <memory>
#include <string>

#include "runtime/gpu_api.hpp"

namespace hone {

inline constexpr unsigned non_blocking_stream = 1;  ///< CU_STREAM_NON_BLOCKING, hipStreamNonBlocking

class GpuContext {
 public:
  /// Throws Error{environment}.
  GpuContext(const GpuApi& api, const DeviceInfo& info);
  ~GpuContext();
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  const GpuApi& api() const noexcept { return api_; }
  const DeviceInfo& info() const noexcept { return info_; }
  /// The device's own: it does not wait for the default stream.
  GpuApi::Handle stream() const noexcept { return stream_; }

  /// Throws DeviceError for a status that is not zero. `call` is what was tried, for people: `loading a
  /// kernel`.
  void check(GpuApi::Status status, const char* call) const {
    if (status != 0) fail(status, call);
  }
  [[noreturn]] void fail(GpuApi::Status status, const char* call) const;

 private:
  friend class CurrentContext;
  const GpuApi& api_;
  const DeviceInfo info_;
  GpuApi::Ordinal device_ = 0;
  GpuApi::Handle context_ = nullptr;
  GpuApi::Handle stream_ = nullptr;
};

/// Makes the device current for the calling thread and, at its end, what was current before. Costs one query
/// where it is current already.
class CurrentContext {
 public:
  explicit CurrentContext(const GpuContext& context);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const GpuContext& context_;
  GpuApi::Handle previous_context_ = nullptr;
  int previous_device_ = 0;
  bool changed_ = false;
};

/// A loaded code object and its kernel.
class GpuKernel final : public Kernel {
 public:
  GpuKernel(std::shared_ptr<const GpuContext> context, GpuApi::Handle module, GpuApi::Handle function)
      : context_(std::move(context)), module_(module), function_(function) {}
  ~GpuKernel() override;
  GpuKernel(const GpuKernel&) = delete;
  GpuKernel& operator=(const GpuKernel&) = delete;

  GpuApi::Handle function() const noexcept { return function_; }

 private:
  std::shared_ptr<const GpuContext> context_;
  GpuApi::Handle module_;
  GpuApi::Handle function_;
};

/// Enqueues a launch. The device must be current.
void enqueue(const GpuContext& context, const Launch& launch, GpuApi::Handle stream);

/// Records launches as a graph. Throws DeviceError.
std::unique_ptr<Batch> record_gpu_batch(std::shared_ptr<const GpuContext> context,
                                        std::span<const Launch> launches);

}  // namespace hone
