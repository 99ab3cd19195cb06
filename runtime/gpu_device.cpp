#include "runtime/gpu_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "runtime/amd_condition.hpp"
#include "runtime/architectures.hpp"
#include "runtime/elf_image.hpp"
#include "runtime/gpu_context.hpp"
#include "runtime/nvml.hpp"

namespace hone {
namespace {

constexpr int function_max_threads = 0;         // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, and HIP's
constexpr int function_registers = 4;           // CU_FUNC_ATTRIBUTE_NUM_REGS
constexpr int function_shared_bytes = 1;        // CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
constexpr int function_max_dynamic_shared = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

constexpr const char* no_clusters = "the driver has no clusters of blocks for hone; CUDA 12.3 or later has";

/// A version number as CUDA (13000) or HIP (50221153) gives it.
std::string driver_text(const GpuApi& api) {
  int version = 0;
  if (api.driver_version(&version) != 0) return {};
  if (api.backend == Backend::hip) {
    return fmt::format("HIP {}.{}.{}", version / 10'000'000, version / 100'000 % 100, version % 100'000);
  }
  const std::string text = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  const std::string driver = nvml_driver_version();
  return driver.empty() ? text : fmt::format("{} ({})", driver, text);
}

/// `gfx90a:sramecc+:xnack-` in the device's properties. No attribute gives the name, and the struct that does
/// has had two layouts so far; so it is looked for by its form, behind the device's name, which may be
/// `gfx90a` as well. Without it KFD's topology tells the version, though not the feature flags.
std::string hip_architecture(const GpuApi& api, int index, const std::optional<KfdNode>& node) {
  constexpr std::size_t name_bytes = 256;
  alignas(16) std::array<char, 16384> properties{};  // ROCm 5 fills 792 bytes of it, ROCm 6 and 7 1472
  if (api.hip_device_properties != nullptr && api.hip_device_properties(properties.data(), index) == 0) {
    const std::string_view bytes(properties.data(), properties.size());
    for (std::size_t at = bytes.find("gfx", name_bytes); at != std::string_view::npos;
         at = bytes.find("gfx", at + 1)) {
      const std::string_view text = bytes.substr(at, bytes.substr(at).find('\0'));
      if (text.size() < 64 && is_gfx_name(text)) return std::string(text);
    }
  }
  return node ? node->architecture : std::string();
}

/// `NVIDIA H200 MIG 1g.18gb`: the slice is in the name.
std::string mig_partition(const std::string& name) {
  const std::size_t at = name.find("MIG ");
  return at != std::string::npos ? name.substr(at) : std::string();
}

DeviceInfo read_gpu(const GpuApi& api, int index, const SystemFolders& folders, const std::string& driver) {
  DeviceInfo info;
  info.backend = api.backend;
  info.index = index;
  info.driver = driver;
  const auto require = [&](GpuApi::Status status, const char* what) {
    if (status != 0) {
      throw Error(ErrorCode::environment,
                  fmt::format("device {}: {}: {}", index, what, api.describe(status)));
    }
  };
  GpuApi::Ordinal device = 0;
  require(api.device_get(&device, index), "finding it");
  std::array<char, 256> text{};
  require(api.device_name(text.data(), static_cast<int>(text.size()) - 1, device), "its name");
  info.name = text.data();
  text.fill('\0');
  if (api.device_bus(text.data(), 64, device) == 0) info.bus = text.data();
  std::size_t memory = 0;
  require(api.device_memory(&memory, device), "its memory");
  info.memory_bytes = memory;

  const auto attribute = [&](GpuAttribute which, const char* what) {
    int value = 0;
    require(api.attribute(value, which, device), what);
    return value;
  };
  const auto attribute_or_zero = [&](GpuAttribute which) {
    int value = 0;
    if (api.attribute(value, which, device) == 0) return std::max(value, 0);
    if (api.hip_last_error != nullptr) static_cast<void>(api.hip_last_error());
    return 0;
  };
  info.compute_units = attribute(GpuAttribute::compute_units, "its compute units");
  info.max_threads = attribute(GpuAttribute::max_threads, "its most threads a block");
  info.warp_size = attribute(GpuAttribute::warp_size, "its warp size");
  // HIP before ROCm 6 does not know the opt-in limit.
  info.shared_memory_bytes =
      static_cast<std::uint64_t>(std::max(attribute(GpuAttribute::shared_per_block, "its shared memory"),
                                          attribute_or_zero(GpuAttribute::shared_per_block_optin)));
  info.last_level_cache_bytes = static_cast<std::uint64_t>(attribute_or_zero(GpuAttribute::l2_cache_bytes));

  if (api.backend == Backend::cuda) {
    const int major = attribute(GpuAttribute::capability_major, "its compute capability");
    const int minor = attribute(GpuAttribute::capability_minor, "its compute capability");
    // Since 9.0 every capability has an architecture of its own features.
    info.architecture = fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
    info.partition = mig_partition(info.name);
    info.firmware = nvml_firmware(info.bus);
    info.power_limit = nvml_power_limit(info.bus);
  } else {
    const std::optional<KfdNode> node = find_kfd_node(folders, info.bus);
    if (node)
      info.last_level_cache_bytes = std::max(info.last_level_cache_bytes, node->last_level_cache_bytes);
    info.architecture = hip_architecture(api, index, node);
    if (info.architecture.empty()) {
      throw Error(ErrorCode::environment,
                  fmt::format("device {}: neither HIP nor KFD tells its architecture", index));
    }
    info.partition = gpu_partition(folders, info.bus);
  }
  return info;
}

/// What a launch says beyond its grid, in the driver's form.
class LaunchAttributes {
 public:
  explicit LaunchAttributes(const Geometry& geometry) {
    // CU_LAUNCH_ATTRIBUTE_…
    constexpr int cluster_dimension = 4;
    constexpr int programmatic_stream_serialization = 6;
    if (geometry.clustered()) {
      GpuLaunchAttribute& cluster = all_.at(count_++);
      cluster.id = cluster_dimension;
      std::copy(geometry.cluster.begin(), geometry.cluster.end(), cluster.value.axes);
    }
    if (geometry.overlap) {
      GpuLaunchAttribute& overlap = all_.at(count_++);
      overlap.id = programmatic_stream_serialization;
      overlap.value.number = 1;
    }
  }
  /// Points into this.
  GpuLaunchConfiguration configuration(const Geometry& geometry, GpuApi::Handle stream) {
    return {geometry.grid, geometry.block, geometry.dynamic_shared_bytes, stream, all_.data(), count_};
  }

 private:
  std::array<GpuLaunchAttribute, 2> all_{};
  unsigned count_ = 0;
};

class GpuDevice final : public Device {
 public:
  GpuDevice(const GpuApi& api, const DeviceInfo& info)
      : context_(std::make_shared<const GpuContext>(api, info)) {}

  const DeviceInfo& info() const noexcept override { return context_->info(); }

  void* allocate(std::size_t bytes) override {
    const CurrentContext current(*context_);
    void* memory = nullptr;
    const GpuApi::Status status =
        api().allocate(&memory, std::max<std::size_t>(bytes, 1));  // 0 is an error to CUDA
    if (status != 0) context_->fail(status, fmt::format("allocating {} bytes", bytes).c_str());
    return memory;
  }

  void release(void* memory) noexcept override {
    if (memory == nullptr) return;
    try {
      const CurrentContext current(*context_);
      api().release(memory);
    } catch (const DeviceError&) {
      // The context is lost, and the memory with it.
    }
  }

  Stream stream() noexcept override { return context_->stream(); }

  // The driver copies pageable memory through its own buffers; the wait makes it done either way.
  void write(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return synchronize();
    const CurrentContext current(*context_);
    context_->check(api().copy_to_device(to, from, bytes, context_->stream()), "copying to the device");
    context_->check(api().stream_synchronize(context_->stream()), "copying to the device");
  }

  void read(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return synchronize();
    const CurrentContext current(*context_);
    context_->check(api().copy_to_host(to, const_cast<void*>(from), bytes, context_->stream()),
                    "copying from the device");
    context_->check(api().stream_synchronize(context_->stream()), "copying from the device");
  }

  void set(void* to, std::uint8_t value, std::size_t bytes) override {
    if (bytes == 0) return;
    const CurrentContext current(*context_);
    context_->check(api().set(to, value, bytes, context_->stream()), "filling memory");
  }

  std::unique_ptr<Kernel> load(std::span<const std::byte> object, const std::string& entry) override {
    // The driver is given no length, and would read on behind an object that was cut short.
    if (!is_code_object(object)) {
      throw DeviceError(
          fmt::format("{} {} ({}): the code object of {} is damaged: {} bytes that are no whole ELF image",
                      name(api().backend), info().index, info().name, entry, object.size()),
          false);
    }
    const CurrentContext current(*context_);
    GpuApi::Handle module = nullptr;
    GpuApi::Handle function = nullptr;
    const std::string what = "loading " + entry;
    context_->check(api().module_load(&module, object.data()), what.c_str());
    if (const GpuApi::Status status = api().module_function(&function, module, entry.c_str()); status != 0) {
      api().module_unload(module);
      context_->fail(status, what.c_str());
    }
    auto kernel = std::make_unique<GpuKernel>(context_, module, function);
    if (api().function_set != nullptr) raise_shared_limit(function, what);
    return kernel;
  }

  bool capturing(Stream stream) override {
    const CurrentContext current(*context_);
    int status = 0;
    const GpuApi::Status asked = api().stream_capturing(stream, &status);
    // What the default stream says while another one is captured.
    constexpr GpuApi::Status capture_implicit = 906;
    if (asked == capture_implicit) return true;
    context_->check(asked, "asking whether a stream is captured");
    return status != 0;
  }

  void encode(const TensorMapShape& shape, void* address, TensorMap& map) override {
    if (api().encode_tensor_map == nullptr)
      throw DeviceError(fmt::format("{} {}: the driver has no tensor maps; CUDA 12.0 or later has",
                                    name(api().backend), info().index),
                        false);
    const CurrentContext current(*context_);
    // The driver's numbers: CU_TENSOR_MAP_DATA_TYPE_*, _SWIZZLE_* and _L2_PROMOTION_*.
    static constexpr std::array types{7, 6, 9, 0, 8, 3, 5, 0};
    const auto step_of = [](std::uint32_t bytes, std::uint32_t first) {
      int step = 0;
      for (std::uint32_t each = first; each <= bytes; each *= 2) ++step;
      return step;
    };
    static constexpr std::array<std::uint32_t, kMaximumTensorRank> every{1, 1, 1, 1, 1};
    constexpr int no_interleave = 0;
    constexpr int zeros_beyond = 0;
    context_->check(
        api().encode_tensor_map(map.words.data(), types.at(static_cast<std::size_t>(shape.type)), shape.rank,
                                address, shape.extent.data(), shape.stride.data(), shape.box.data(),
                                every.data(), no_interleave, step_of(shape.swizzle, 32),
                                step_of(shape.promotion, 64), zeros_beyond),
        "encoding a tensor map");
  }

  void launch(const Launch& launch, Stream stream) override {
    const CurrentContext current(*context_);
    enqueue(*context_, launch, stream);
  }

  void synchronize() override {
    const CurrentContext current(*context_);
    context_->check(api().stream_synchronize(context_->stream()), "waiting for the device");
  }

  void synchronize_all() override {
    const CurrentContext current(*context_);
    context_->check(api().context_synchronize(), "waiting for the device");
  }

  std::unique_ptr<Batch> record(std::span<const Launch> launches) override {
    return record_gpu_batch(context_, launches);
  }

  db::Condition condition() override {
    return api().backend == Backend::cuda ? nvml_condition(info().bus) : amd_condition({}, info().bus);
  }

  std::string excess(const Kernel& kernel, const Geometry& geometry) override {
    const CurrentContext current(*context_);
    const GpuApi::Handle function = static_cast<const GpuKernel&>(kernel).function();
    const auto attribute = [&](int which) {
      int value = 0;
      context_->check(api().function_get(&value, which, function), "asking what a kernel needs");
      return static_cast<std::uint64_t>(std::max(value, 0));
    };
    std::uint64_t threads = 1;
    for (const std::uint32_t size : geometry.block) threads *= size;
    if (const std::uint64_t most = attribute(function_max_threads); threads > most)
      return fmt::format(
          "a block has {} threads where the kernel, with its {} registers a thread, can have {}", threads,
          attribute(function_registers), most);
    const std::uint64_t own = attribute(function_shared_bytes);
    if (own + geometry.dynamic_shared_bytes > info().shared_memory_bytes)
      return fmt::format(
          "a block asks for {} bytes of shared memory besides the kernel's own {}, above the device's limit "
          "of {}",
          geometry.dynamic_shared_bytes, own, info().shared_memory_bytes);
    return geometry.clustered() ? excess_of_cluster(function, geometry) : std::string();
  }

 private:
  const GpuApi& api() const noexcept { return context_->api(); }

  std::string excess_of_cluster(GpuApi::Handle function, const Geometry& geometry) const {
    if (api().most_clusters == nullptr || api().launch_with_attributes == nullptr) return no_clusters;
    LaunchAttributes attributes(geometry);
    const GpuLaunchConfiguration configuration = attributes.configuration(geometry, nullptr);
    int count = 0;
    context_->check(api().most_clusters(&count, function, &configuration), "asking how many clusters fit");
    if (count > 0) return {};
    return fmt::format(
        "a cluster of {} blocks, each with {} bytes of dynamic shared memory, does not fit the device",
        geometry.cluster[0] * geometry.cluster[1] * geometry.cluster[2], geometry.dynamic_shared_bytes);
  }

  /// Lets launches ask for all the shared memory there is: without it the driver refuses more than 48 KiB.
  void raise_shared_limit(GpuApi::Handle function, const std::string& what) const {
    int used = 0;
    context_->check(api().function_get(&used, function_shared_bytes, function), what.c_str());
    const int most = static_cast<int>(info().shared_memory_bytes) - used;
    if (most > 0)
      context_->check(api().function_set(function, function_max_dynamic_shared, most), what.c_str());
  }

  std::shared_ptr<const GpuContext> context_;
};

}  // namespace

void enqueue(const GpuContext& context, const Launch& launch, GpuApi::Handle stream) {
  const auto& kernel = static_cast<const GpuKernel&>(*launch.kernel);
  const Geometry& geometry = launch.geometry;
  if ((geometry.overlap || geometry.clustered()) && context.api().launch_with_attributes != nullptr) {
    LaunchAttributes attributes(geometry);
    const GpuLaunchConfiguration configuration = attributes.configuration(geometry, stream);
    return context.check(context.api().launch_with_attributes(&configuration, kernel.function(),
                                                              const_cast<void**>(launch.parameters), nullptr),
                         "launching a kernel");
  }
  if (geometry.clustered()) throw DeviceError(fmt::format("launching a kernel: {}", no_clusters), false);
  context.check(context.api().launch(kernel.function(), geometry.grid[0], geometry.grid[1], geometry.grid[2],
                                     geometry.block[0], geometry.block[1], geometry.block[2],
                                     geometry.dynamic_shared_bytes, stream,
                                     const_cast<void**>(launch.parameters), nullptr),
                "launching a kernel");
}

GpuList list_gpus(const GpuLibrary& library, const SystemFolders& folders) {
  GpuList list;
  if (!library.problem.empty()) {
    list.problem = library.problem;
    return list;
  }
  const GpuApi& api = library.api;
  const char* const vendor = api.backend == Backend::cuda ? "NVIDIA's driver" : "AMD's HIP runtime";
  const auto refused = [&](const char* call, GpuApi::Status status) {
    list.problem = fmt::format("{} {}: {}: {}", vendor, api.library, call, api.describe(status));
    return list;
  };
  const GpuApi::Status started = api.init(0);
  int count = 0;
  const GpuApi::Status counted = started == 0 ? api.device_count(&count) : started;
  constexpr GpuApi::Status no_device = 100;
  constexpr GpuApi::Status invalid_device = 101;  // what hipInit says where there is none
  if (started == no_device || counted == no_device ||
      (api.backend == Backend::hip && started == invalid_device) || (counted == 0 && count <= 0)) {
    list.problem = fmt::format("{} {} is there, and shows no device", vendor, api.library);
    return list;
  }
  if (started != 0) return refused("initialising", started);
  if (counted != 0) return refused("counting devices", counted);
  const std::string driver = driver_text(api);
  for (int index = 0; index < count; ++index) {
    try {
      list.devices.push_back(read_gpu(api, index, folders, driver));
    } catch (const Error& error) {
      if (list.problem.empty()) list.problem = fmt::format("{} {}: {}", vendor, api.library, error.what());
    }
  }
  return list;
}

std::unique_ptr<Device> open_gpu_device(const GpuLibrary& library, const DeviceInfo& info) {
  if (!library.problem.empty()) throw Error(ErrorCode::environment, library.problem);
  return std::make_unique<GpuDevice>(library.api, info);
}

}  // namespace hone
