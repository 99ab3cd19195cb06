// Picks and launches: on a hit no lock and no heap.
#include <fmt/format.h>

#include <bit>

#include "runtime/runtime_state.hpp"
#include "runtime/tensor_map_cache.hpp"

namespace hone {
namespace {

constexpr const void* no_workspace = nullptr;

void require_workspace(const Answer& answer, std::span<const CallArgument> arguments) {
  const std::uint64_t address = arguments.size() > answer.arguments ? arguments[answer.arguments].bits() : 0;
  if (address == 0)
    throw Error(ErrorCode::invalid,
                fmt::format("launch: {} needs a workspace of {} bytes: pass it as one argument more",
                            answer.served->configuration, answer.workspace));
  if (address % kWorkspaceAlignment != 0)
    throw Error(ErrorCode::invalid,
                fmt::format("launch: the workspace is not aligned to {} bytes", kWorkspaceAlignment));
}

}  // namespace

Pick RuntimeState::pick(const Problem& problem, std::size_t alignment) {
  const unsigned log = alignment_log_of(alignment);
  if (const Answer* answer = answers_.find(problem, log)) return pick_of(answer);
  return resolve(problem, log);
}

void RuntimeState::launch(const Pick& pick, std::span<const CallArgument> arguments, Stream stream) {
  process_.require_same();
  const Answer* answer = pick.answer_;
  if (answer == nullptr) throw Error(ErrorCode::invalid, "launch: the pick is empty: make it with pick()");
  if (answer->owner != this) throw Error(ErrorCode::invalid, "launch: the pick is another runtime's");
  if (answer->rung == Rung::none) throw Error(ErrorCode::no_answer, answer->why);
  if (arguments.size() != answer->arguments && arguments.size() != answer->arguments + 1)
    throw Error(ErrorCode::invalid, fmt::format("launch: {} arguments were given, the family has {}",
                                                arguments.size(), answer->arguments));
  if (answer->empty) return;
  if (answer->workspace > 0) require_workspace(*answer, arguments);
  for (std::uint32_t left = answer->pointers; left != 0; left &= left - 1) {
    const auto index = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint64_t address = arguments[index].bits();
    if (address == 0)
      throw Error(ErrorCode::invalid, fmt::format("launch: argument {} is a null pointer", index));
    if ((address & (answer->alignment - 1)) != 0)
      throw Error(ErrorCode::invalid,
                  fmt::format("launch: argument {} is not aligned to the {} bytes that {} needs", index,
                              answer->alignment, answer->served->configuration));
  }
  const Served& served = *answer->served;
  const Kernel* kernel = served.code->kernel.load(std::memory_order_acquire);
  if (kernel == nullptr) {
    require_no_capture(*answer, stream);
    load(*answer);
    kernel = served.code->kernel.load(std::memory_order_acquire);
  }
  std::array<TensorMap, kMaximumTensorMaps> maps;  // NOLINT: written where it is used
  for (std::size_t i = 0; i < answer->tensor_maps.size(); ++i) {
    const TensorMapShape& shape = answer->tensor_maps[i];
    const std::uint64_t address = arguments[shape.argument].bits();
    TensorMapCache::of_thread().get(answer->tensor_map_id, i, address, maps[i], [&](TensorMap& map) {
      device->encode(shape, reinterpret_cast<void*>(address), map);
    });
  }
  std::array<void*, kMaximumLaunchArguments> parameters;
  const std::size_t count = served.launch_arguments.size();
  for (std::size_t i = 0; i < count; ++i) {
    const LaunchArgument& from = served.launch_arguments[i];
    const auto value = [&]() -> const void* {
      using From = LaunchArgument::From;
      switch (from.from) {
        case From::argument:
          return &arguments[from.index];
        case From::dimension:
          return &answer->problem.dimensions[from.index];
        case From::tensor_map:
          return &maps[from.index];
        case From::workspace:
          if (answer->workspace == 0) return &no_workspace;
          return &arguments[answer->arguments];
      }
      return nullptr;
    };
    // The driver's interface takes pointers to what it only reads.
    parameters[i] = const_cast<void*>(value());
  }
  device->launch({kernel, answer->geometry, parameters.data()}, stream);
}

Pick RuntimeState::run(const Problem& problem, std::span<const CallArgument> arguments, Stream stream) {
  const std::uint32_t pointers = known_family(problem.family).pointers;
  std::uint64_t bits = std::uint64_t{1} << kLargestAlignmentLog;
  for (std::size_t i = 0; i < arguments.size() && i < kMaximumArguments; ++i)
    if ((pointers >> i & 1U) != 0) bits |= arguments[i].bits();
  const std::size_t alignment = std::size_t{1} << std::countr_zero(bits);
  Pick found = pick(problem, alignment);
  const Served* served = found.answer_->served;
  if (served != nullptr && served->code->kernel.load(std::memory_order_acquire) == nullptr) {
    require_no_capture(*found.answer_, stream);
    found = prepare(problem, alignment);
  }
  launch(found, arguments, stream);
  return found;
}

const KnownFamily& RuntimeState::known_family(std::uint32_t number) const {
  const KnownFamily* known =
      number < kMostFamilies ? known_by_number_[number].load(std::memory_order_acquire) : nullptr;
  if (known == nullptr)
    throw Error(ErrorCode::invalid,
                "the problem is of no family of this runtime: make it with FamilyHandle::problem()");
  return *known;
}

/// Loading may wait for the device and allocate on it, which ends a capture or makes it fail later.
void RuntimeState::require_no_capture(const Answer& answer, Stream stream) {
  process_.require_same();
  if (device->capturing(stream))
    throw Error(ErrorCode::invalid,
                fmt::format("launch: the stream is being captured, and the code of {} is not loaded: call "
                            "prepare() before the capture",
                            answer.served->configuration));
}

void RuntimeState::load(const Answer& answer) {
  process_.require_same();
  const std::lock_guard lock(mutex_);
  Code& code = *answer.served->code;
  try {
    codes_->load(code);
  } catch (const Error&) {
    // The next pick of this problem takes the next rung.
    if (!code.refused.empty()) resolve_locked(answer.problem, answer.alignment_log);
    throw;
  }
}

Pick RuntimeState::prepare(const Problem& problem, std::size_t alignment) {
  Pick found = pick(problem, alignment);
  while (true) {
    const Served* served = found.answer_->served;
    if (served == nullptr || served->code->kernel.load(std::memory_order_acquire) != nullptr) return found;
    process_.require_same();
    const std::lock_guard lock(mutex_);
    try {
      codes_->load(*served->code);
    } catch (const Error&) {
      if (served->code->refused.empty()) throw;
      found = resolve_locked(problem, found.answer_->alignment_log);
    }
  }
}

}  // namespace hone
