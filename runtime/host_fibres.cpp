#include "runtime/host_fibres.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define HONE_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define HONE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HONE_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define HONE_THREAD_SANITIZER 1
#endif
#endif

#if defined(HONE_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#elif defined(HONE_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace hone {
namespace {

#if defined(HONE_ADDRESS_SANITIZER) || defined(HONE_THREAD_SANITIZER)
constexpr std::size_t stack_bytes = 256 << 10;
#else
constexpr std::size_t stack_bytes = 64 << 10;
#endif

}  // namespace

/// A fibre outlives its lane: it waits for the next block's lane of the same number.
struct HostFibres::Fibre {
  HostFibres* owner = nullptr;
  void* stack = nullptr;
  ucontext_t context{};
  bool ended = true;
  hone_host_lane lane = nullptr;
  void* lane_context = nullptr;
  unsigned position[3] = {};
#if defined(HONE_ADDRESS_SANITIZER)
  void* fake_stack = nullptr;
#elif defined(HONE_THREAD_SANITIZER)
  void* tsan = nullptr;
#endif
};

struct HostFibres::Scheduler {
  ucontext_t context{};
#if defined(HONE_ADDRESS_SANITIZER)
  void* fake_stack = nullptr;
  const void* stack = nullptr;
  std::size_t stack_size = 0;
#elif defined(HONE_THREAD_SANITIZER)
  void* tsan = nullptr;
#endif
};

HostFibres::HostFibres() : scheduler_(std::make_unique<Scheduler>()) {}

HostFibres::~HostFibres() {
  for (const auto& fibre : fibres_) {
#if defined(HONE_THREAD_SANITIZER)
    __tsan_destroy_fiber(fibre->tsan);
#endif
    munmap(fibre->stack, stack_bytes);
  }
}

void HostFibres::grow(std::size_t count) {
  while (fibres_.size() < count) {
    auto fibre = std::make_unique<Fibre>();
    void* stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || getcontext(&fibre->context) != 0) throw std::bad_alloc();
    fibre->owner = this;
    fibre->stack = stack;
    fibre->context.uc_stack.ss_sp = stack;
    fibre->context.uc_stack.ss_size = stack_bytes;
    // makecontext passes ints alone.
    const auto address = reinterpret_cast<std::uintptr_t>(fibre.get());
    makecontext(&fibre->context, reinterpret_cast<void (*)()>(&HostFibres::start), 2,
                static_cast<unsigned>(static_cast<std::uint64_t>(address) >> 32),
                static_cast<unsigned>(address));
#if defined(HONE_THREAD_SANITIZER)
    fibre->tsan = __tsan_create_fiber(0);
#endif
    fibres_.push_back(std::move(fibre));
  }
}

void HostFibres::start(unsigned high, unsigned low) {
  auto* fibre =
      reinterpret_cast<Fibre*>(static_cast<std::uintptr_t>((static_cast<std::uint64_t>(high) << 32) | low));
#if defined(HONE_ADDRESS_SANITIZER)
  Scheduler& scheduler = *fibre->owner->scheduler_;
  __sanitizer_finish_switch_fiber(nullptr, &scheduler.stack, &scheduler.stack_size);
#endif
  for (;;) {
    fibre->lane(fibre->lane_context, fibre->position[0], fibre->position[1], fibre->position[2]);
    fibre->ended = true;
    fibre->owner->yield();
  }
}

void HostFibres::resume(Fibre& fibre) {
  running_ = &fibre;
#if defined(HONE_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(&scheduler_->fake_stack, fibre.stack, stack_bytes);
#elif defined(HONE_THREAD_SANITIZER)
  scheduler_->tsan = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(fibre.tsan, 0);
#endif
  swapcontext(&scheduler_->context, &fibre.context);
#if defined(HONE_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(scheduler_->fake_stack, nullptr, nullptr);
#endif
}

void HostFibres::yield() {
  Fibre& fibre = *running_;
#if defined(HONE_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(&fibre.fake_stack, scheduler_->stack, scheduler_->stack_size);
#elif defined(HONE_THREAD_SANITIZER)
  __tsan_switch_to_fiber(scheduler_->tsan, 0);
#endif
  swapcontext(&fibre.context, &scheduler_->context);
#if defined(HONE_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(fibre.fake_stack, &scheduler_->stack, &scheduler_->stack_size);
#endif
}

void HostFibres::barrier() {
  yield();
}

void HostFibres::run(const unsigned block[3], hone_host_lane lane, void* context) {
  const std::size_t lanes = std::size_t{block[0]} * block[1] * block[2];
  grow(lanes);
  std::size_t index = 0;
  for (unsigned z = 0; z < block[2]; ++z) {
    for (unsigned y = 0; y < block[1]; ++y) {
      for (unsigned x = 0; x < block[0]; ++x, ++index) {
        Fibre& fibre = *fibres_[index];
        fibre.ended = false;
        fibre.lane = lane;
        fibre.lane_context = context;
        fibre.position[0] = x;
        fibre.position[1] = y;
        fibre.position[2] = z;
      }
    }
  }
  // A round takes every lane to its next barrier or its end; lanes that ended no longer count.
  for (bool waiting = true; waiting;) {
    waiting = false;
    for (std::size_t i = 0; i < lanes; ++i) {
      Fibre& fibre = *fibres_[i];
      if (fibre.ended) continue;
      resume(fibre);
      waiting = waiting || !fibre.ended;
    }
  }
}

}  // namespace hone
