#include "runtime/host_device.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "runtime/host_library.hpp"
#include "runtime/host_pool.hpp"

namespace hone {
namespace {

constexpr std::size_t memory_alignment = 4096;
constexpr int max_threads = 1024;
constexpr std::size_t shared_bytes = 64 << 10;

/// The value after `key` and a colon in a file of such lines; empty when there is none.
std::string field(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.find_first_not_of(" \t", key.size()) != colon) continue;
    const auto first = line.find_first_not_of(" \t", colon + 1);
    return first == std::string::npos ? "" : line.substr(first);
  }
  return "";
}

/// `16384 kB` or `32M` in bytes; 0 when it is neither.
std::uint64_t parse_bytes(const std::string& text) {
  char* end = nullptr;
  const auto number = std::strtoull(text.c_str(), &end, 10);
  while (*end == ' ') ++end;
  switch (*end) {
    case 'k':
    case 'K':
      return number << 10;
    case 'M':
      return number << 20;
    case 'G':
      return number << 30;
    default:
      return number;
  }
}

std::uint64_t last_level_cache() {
  std::uint64_t level = 0;
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/cpu/cpu0/cache", error)) {
    std::uint64_t its_level = 0;
    std::string size;
    std::string type;
    std::ifstream(entry.path() / "level") >> its_level;
    std::ifstream(entry.path() / "size") >> size;
    std::ifstream(entry.path() / "type") >> type;
    if (type != "Instruction" && its_level > level) {
      level = its_level;
      bytes = parse_bytes(size);
    }
  }
#if defined(_SC_LEVEL3_CACHE_SIZE)
  if (bytes == 0) bytes = static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
#endif
  return bytes;
}

std::string host_architecture() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? "x86-64-v4" : v3 ? "x86-64-v3" : v2 ? "x86-64-v2" : "x86-64-v1";
#else
  return "aarch64";
#endif
}

/// Hardware threads that this process may run on.
int usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

class HostKernel : public Kernel {
 public:
  HostKernel(std::span<const std::byte> object, const std::string& entry) : library_(object), name_(entry) {
    void* symbol = library_.symbol(entry + "_hone_host");
    if (symbol == nullptr) {
      throw DeviceError(
          fmt::format("host device: the code object has no kernel \"{}\"; its source must declare "
                      "HONE_KERNEL({}, ...)",
                      entry, entry),
          false);
    }
    entry_ = reinterpret_cast<hone_host_entry>(symbol);
  }

  hone_host_entry entry() const { return entry_; }
  const std::string& name() const { return name_; }

 private:
  HostLibrary library_;
  std::string name_;
  hone_host_entry entry_ = nullptr;
};

class HostDevice : public Device {
 public:
  explicit HostDevice(const DeviceInfo& info)
      : info_(info), pool_(static_cast<unsigned>(std::max(1, info.compute_units)), shared_bytes) {}

  const DeviceInfo& info() const noexcept override { return info_; }

  Stream stream() noexcept override { return nullptr; }

  void* allocate(std::size_t bytes) override {
    // Linux promises memory that it does not have, and kills a process that then touches it.
    const auto available = parse_bytes(field("/proc/meminfo", "MemAvailable"));
    const std::size_t rounded =
        (std::max<std::size_t>(bytes, 1) + memory_alignment - 1) / memory_alignment * memory_alignment;
    void* memory = rounded < bytes || (available != 0 && rounded > available)
                       ? nullptr
                       : std::aligned_alloc(memory_alignment, rounded);
    if (memory == nullptr) {
      throw DeviceError(
          fmt::format("host device: no memory for {} bytes ({} available); use a smaller problem", bytes,
                      available),
          false);
    }
    return memory;
  }

  void release(void* memory) noexcept override { std::free(memory); }

  void write(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void read(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void set(void* to, std::uint8_t value, std::size_t bytes) override {
    if (bytes > 0) std::memset(to, value, bytes);
  }

  std::unique_ptr<Kernel> load(std::span<const std::byte> object, const std::string& entry) override {
    return std::make_unique<HostKernel>(object, entry);
  }

  bool capturing(Stream) override { return false; }

  void launch(const Launch& launch, Stream) override {
    const HostKernel& kernel = checked(launch);
    const Geometry& geometry = launch.geometry;
    hone_host_launch host{};
    std::copy(geometry.grid.begin(), geometry.grid.end(), host.grid);
    std::copy(geometry.block.begin(), geometry.block.end(), host.block);
    host.dynamic_shared_bytes = geometry.dynamic_shared_bytes;
    try {
      pool_.run(kernel.entry(), host, launch.parameters);
    } catch (const std::bad_alloc&) {
      throw DeviceError(
          fmt::format("host device: {}: no memory for the stacks of a block's threads; use smaller blocks",
                      kernel.name()),
          false);
    }
  }

  void synchronize() override {}
  void synchronize_all() override {}

  void encode(const TensorMapShape&, void*, TensorMap&) override {
    throw DeviceError("host device: there are no tensor maps", false);
  }
  std::unique_ptr<Batch> record(std::span<const Launch> launches) override;

  db::Condition condition() override { return {}; }

  /// A block runs as a loop on one thread, whatever its size: what a plan allows, the host can do.
  std::string excess(const Kernel&, const Geometry&) override { return {}; }

 private:
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  /// The launch's kernel, once its geometry is within the device's limits.
  const HostKernel& checked(const Launch& launch) const {
    const auto* kernel = dynamic_cast<const HostKernel*>(launch.kernel);
    if (kernel == nullptr)
      throw DeviceError("host device: the launch's kernel was not loaded on the host", false);
    const auto refuse = [&](const std::string& what) {
      throw DeviceError(fmt::format("host device: {}: {}", kernel->name(), what), false);
    };
    const auto& [grid, block, cluster, dynamic_shared_bytes, overlap] = launch.geometry;
    std::uint64_t blocks = 1;
    std::uint64_t threads = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (grid[axis] == 0 || block[axis] == 0) refuse("a grid or block of no extent");
      if (__builtin_mul_overflow(blocks, std::uint64_t{grid[axis]}, &blocks) || blocks > INT64_MAX) {
        refuse("a grid of over 2^63 blocks");
      }
      threads *= block[axis];
      if (threads > static_cast<std::uint64_t>(info_.max_threads)) {
        refuse(fmt::format("a block of over {} threads", info_.max_threads));
      }
    }
    if (dynamic_shared_bytes > shared_bytes) {
      refuse(fmt::format("{} bytes of dynamic shared memory; a block may have {}", dynamic_shared_bytes,
                         shared_bytes));
    }
    return *kernel;
  }

  DeviceInfo info_;
  HostPool pool_;
};

class HostBatch : public Batch {
 public:
  HostBatch(HostDevice& device, std::span<const Launch> launches)
      : device_(device), launches_(launches.begin(), launches.end()) {}

  double run() override {
    const auto start = std::chrono::steady_clock::now();
    for (const Launch& launch : launches_) device_.launch(launch, nullptr);
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  HostDevice& device_;
  std::vector<Launch> launches_;
};

std::unique_ptr<Batch> HostDevice::record(std::span<const Launch> launches) {
  for (const Launch& launch : launches) checked(launch);
  return std::make_unique<HostBatch>(*this, launches);
}

}  // namespace

DeviceInfo host_device_info() {
  DeviceInfo info;
  info.backend = Backend::host;
  info.name = field("/proc/cpuinfo", "model name");
  if (info.name.empty()) info.name = "CPU";
  info.architecture = host_architecture();
  info.compute_units = usable_threads();
  info.memory_bytes = parse_bytes(field("/proc/meminfo", "MemTotal"));
  info.last_level_cache_bytes = last_level_cache();
  info.shared_memory_bytes = shared_bytes;
  info.max_threads = max_threads;
  info.warp_size = 1;
  return info;
}

std::unique_ptr<Device> open_host_device(const DeviceInfo& info) {
  return std::make_unique<HostDevice>(info);
}

}  // namespace hone
