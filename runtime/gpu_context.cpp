#include "runtime/gpu_context.hpp"

#include <fmt/format.h>

#include "runtime/gpu_device.hpp"

namespace hone {
bool is_sticky(GpuApi::Status status) noexcept {
  // CUDA's numbers; HIP has taken over those it can return.
  switch (status) {
    case 214:   // uncorrectable memory error
    case 220:   // uncorrectable NVLink error
    case 226:   // contained error: the process must end
    case 700:   // illegal address
    case 702:   // launch timeout
    case 709:   // context is destroyed
    case 710:   // device-side assert
    case 714:   // hardware stack error
    case 715:   // illegal instruction
    case 716:   // misaligned address
    case 717:   // invalid address space
    case 718:   // invalid program counter
    case 719:   // launch failed
    case 721:   // tensor memory leak
    case 999:   // unknown
    case 1052:  // HSA runtime: memory
    case 1053:  // HSA runtime: other
      return true;
    default:
      return false;
  }
}

GpuContext::GpuContext(const GpuApi& api, const DeviceInfo& info) : api_(api), info_(info) {
  const auto require = [&](GpuApi::Status status, const char* call) {
    if (status == 0) return;
    const std::string line = fmt::format("{} {} ({}) cannot be opened: {}: {}", name(api_.backend),
                                         info_.index, info_.name, call, api_.describe(status));
    if (context_ != nullptr) api_.context_release(device_);
    throw Error(ErrorCode::environment, line);
  };
  require(api_.init(0), "initialising the driver");
  require(api_.device_get(&device_, info_.index), "finding the device");
  if (api_.context_retain != nullptr)
    require(api_.context_retain(&context_, device_), "creating its context");
  GpuApi::Status status = 0;
  try {
    const CurrentContext current(*this);
    status = api_.stream_create(&stream_, non_blocking_stream);
  } catch (const DeviceError& error) {
    if (context_ != nullptr) api_.context_release(device_);
    throw Error(ErrorCode::environment, error.what());
  }
  require(status, "creating a stream");
}

GpuContext::~GpuContext() {
  // Errors are of no use here: after a sticky one every call fails.
  try {
    const CurrentContext current(*this);
    api_.stream_destroy(stream_);
  } catch (const DeviceError&) {
  }
  if (context_ != nullptr) api_.context_release(device_);
}

void GpuContext::fail(GpuApi::Status status, const char* call) const {
  const std::string error = api_.describe(status);
  if (api_.hip_last_error != nullptr) static_cast<void>(api_.hip_last_error());
  throw DeviceError(
      fmt::format("{} {} ({}): {}: {}", name(api_.backend), info_.index, info_.name, call, error),
      is_sticky(status));
}

CurrentContext::CurrentContext(const GpuContext& context) : context_(context) {
  const GpuApi& api = context.api();
  if (api.context_get != nullptr) {
    context.check(api.context_get(&previous_context_), "asking for the current context");
    if (previous_context_ == context.context_) return;
    context.check(api.context_set(context.context_), "making the device current");
  } else {
    context.check(api.current_device_get(&previous_device_), "asking for the current device");
    if (previous_device_ == context.device_) return;
    context.check(api.current_device_set(context.device_), "making the device current");
  }
  changed_ = true;
}

CurrentContext::~CurrentContext() {
  if (!changed_) return;
  const GpuApi& api = context_.api();
  if (api.context_get != nullptr) {
    api.context_set(previous_context_);
  } else {
    api.current_device_set(previous_device_);
  }
}

GpuKernel::~GpuKernel() {
  try {
    const CurrentContext current(*context_);
    context_->api().module_unload(module_);
  } catch (const DeviceError&) {
  }
}

}  // namespace hone
