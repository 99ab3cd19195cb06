// A device that kernels run on: memory, modules, launches, timed batches. Implemented once for the CPU
// (host_device.cpp) and once for all GPUs over a table of driver entry points (gpu_device.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "db/value.hpp"
#include "hone/error.hpp"
#include "runtime/tensor_map.hpp"

namespace hone {

enum class Backend : std::uint8_t { host, cuda, hip };
const char* name(Backend backend);

/// A device's identity and limits, read without running anything on it.
struct DeviceInfo {
  Backend backend = Backend::host;
  int index = 0;  ///< within its backend
  std::string name;
  std::string architecture;  ///< `sm_90a` (the most specific the compiler knows), `gfx90a:sramecc+:xnack-`,
                             ///< `x86-64-v3`
  int compute_units = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t last_level_cache_bytes = 0;  ///< 0: unknown
  std::uint64_t shared_memory_bytes = 0;     ///< most a block may ask for
  int max_threads = 0;                       ///< most threads a block may have
  int warp_size = 1;
  std::string partition;    ///< MIG, CPX/SPX or VF where visible
  std::string driver;       ///< version, empty on the host
  std::string firmware;     ///< version of the device's own; empty: not told
  std::string power_limit;  ///< in force, `700 W`; empty: not told
  std::string bus;          ///< PCI address, empty where there is none

  db::Device record() const;
  /// The names a manifest's expressions may read of a device: backend, architecture (text, without feature
  /// flags), compute_units, last_level_cache, shared_memory, max_threads, warp_size.
  db::Values names() const;
};

/// Why a backend has no device here; one line.
struct BackendProblem {
  Backend backend;
  std::string why;
};

struct DeviceList {
  std::vector<DeviceInfo> devices;  ///< GPUs first, the host last
  std::vector<BackendProblem> problems;
};

/// Every device of this machine. Never throws for a missing driver.
DeviceList list_devices();

/// The devices that `choice` names: an index into list_devices(), a backend (`cuda`), an architecture, part
/// of a name, or `all`, or several of those with commas between; empty: the best there is (the first GPU,
/// else the host). Of equal devices an index names one, `all` names each, and anything else the first. Throws
/// Error{environment} naming what there is when none matches.
std::vector<DeviceInfo> choose_devices(const std::string& choice);

struct Geometry {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  ///< blocks that run together; divides the grid
  std::uint32_t dynamic_shared_bytes = 0;
  /// The launch may start while the stream's kernel before it ends, for the kernel waits itself (CUDA's
  /// programmatic dependent launch). A device that has no such thing starts it afterwards.
  bool overlap = false;
  bool clustered() const noexcept { return cluster != std::array<std::uint32_t, 3>{1, 1, 1}; }
  bool operator==(const Geometry&) const = default;
};

/// A loaded code object's kernel.
class Kernel {
 public:
  virtual ~Kernel() = default;
};

/// One launch: `parameters[i]` points to the i-th kernel argument's value, as cuLaunchKernel takes them.
struct Launch {
  const Kernel* kernel = nullptr;
  Geometry geometry;
  void* const* parameters = nullptr;
};

/// Launches recorded once and run many times without a gap: a graph on a GPU, a loop on the host.
class Batch {
 public:
  virtual ~Batch() = default;
  /// Runs every launch and returns the device time of all of them, in nanoseconds. Throws DeviceError.
  virtual double run() = 0;
};

/// The driver refused or reported something. After a sticky error the context is lost and so is the process's
/// use of the device.
class DeviceError : public Error {
 public:
  DeviceError(const std::string& line, bool sticky) : Error(ErrorCode::device, line), sticky_(sticky) {}
  bool sticky() const noexcept { return sticky_; }

 private:
  bool sticky_;
};

using Stream = void*;  ///< CUstream or hipStream_t; null is the default stream; ignored on the host

/// Calls may come from several threads. A caller's current context is restored before each call returns.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const noexcept = 0;

  /// The device's own stream: set() enqueues on it, batches run on it, read() and write() wait for it first.
  /// Null on the host, where everything is done when a call returns.
  virtual Stream stream() noexcept = 0;

  /// At least 256-byte aligned. Throws DeviceError (not sticky) when memory is short.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual void write(void* to, const void* from,
                     std::size_t bytes) = 0;  ///< host to device; returns when done
  virtual void read(void* to, const void* from,
                    std::size_t bytes) = 0;  ///< device to host; returns when done
  virtual void set(void* to, std::uint8_t value, std::size_t bytes) = 0;

  /// Loads the kernel `entry` of a code object built for this device. Throws DeviceError.
  virtual std::unique_ptr<Kernel> load(std::span<const std::byte> object, const std::string& entry) = 0;

  /// Whether the stream is being captured into a graph, so that nothing may be loaded on its behalf.
  virtual bool capturing(Stream stream) = 0;

  /// Writes the map of an array of that shape at an address. Does not wait, does not allocate. Throws
  /// DeviceError where the device has no tensor maps or the driver refuses this one.
  virtual void encode(const TensorMapShape& shape, void* address, TensorMap& map) = 0;

  /// Enqueues; does not wait, does not allocate.
  virtual void launch(const Launch& launch, Stream stream) = 0;
  /// Waits for everything on stream(). Throws DeviceError for what went wrong there.
  virtual void synchronize() = 0;
  /// Waits for everything on every stream. Throws as synchronize() does.
  virtual void synchronize_all() = 0;
  /// Launches in this order. What `parameters` point to is read now on a GPU and at each run on the host:
  /// keep it alive while the batch is.
  virtual std::unique_ptr<Batch> record(std::span<const Launch> launches) = 0;

  /// How the device is now, as far as the vendor's library tells; nothing discarded.
  virtual db::Condition condition() = 0;

  /// What a launch asks for beyond what the device has for this kernel (threads by its registers, shared
  /// memory with what the kernel has of its own); empty: nothing.
  virtual std::string excess(const Kernel& kernel, const Geometry& geometry) = 0;
};

/// Opens a device for use by this process. Throws Error{environment}.
std::unique_ptr<Device> open_device(const DeviceInfo& info);

}  // namespace hone
