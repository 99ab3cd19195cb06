// CUDA's warps on the host, for kernels that use mma_ptx.h: a translation unit that has this file before the
// kernel's source runs it by lanes that are contexts of their own. It takes the place of prelude.h, access.h
// and mma_ptx.h. Slow, and out to find faults: lanes run in a random order between barriers; a copy is done
// at once or as late as its wait allows; shared memory is full of NaNs at first; every address has to be
// aligned and to lie within shared memory or within the launch's buffers; and eight rows that are loaded
// together must lie in different banks.
//
// The kernel `name` is exported as `name_emulated`, a hone_emulated_entry.
#define HONE_PRELUDE_H
#define HONE_ACCESS_H
#define HONE_MMA_PTX_H

#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;

template <typename To, typename From>
inline To hone_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

struct hone_emulated_buffer {
  const void* first;
  u64 bytes;
  bool written;
};

struct hone_emulated_launch {
  u32 grid, block, dynamic_shared_bytes;
  const hone_emulated_buffer* buffers;
  u32 buffer_count;
  u64 seed;
};

/// What the kernel did wrong, or null.
typedef const char* (*hone_emulated_entry)(const hone_emulated_launch* launch, void* const* parameters);

namespace emulated {

struct Copy {
  u8* to;
  const void* from;
  u32 size, bytes;
  bool done = false;
  void perform() {
    if (done) return;
    done = true;
    std::memcpy(to, from, bytes);
    std::memset(to + bytes, 0, size - bytes);
  }
};

struct Lane {
  ucontext_t context;
  std::unique_ptr<u8[]> stack;
  u32 id;
  bool ended;
  std::vector<Copy> open;                 // copies since the last group
  std::vector<std::vector<Copy>> groups;  // oldest first
};

struct Barrier {
  u32 arrived = 0, generation = 0;
};

/// What a warp's lanes show each other.
struct Warp {
  Barrier barrier;
  u32 address[32];
  u32 a[32][4];
  u32 b[32][2];
};

constexpr u32 shared_start = 0x400;  // an address of nothing is no address

// Not inline: the linker makes one of such variables of all that are loaded.
static const hone_emulated_launch* launch;
static std::vector<u8> shared_memory;
static u8* shared;
static std::vector<Lane> lanes;
static std::vector<Warp> warps;
static Barrier block_barrier;
static Lane* current;
static ucontext_t scheduler;
static u32 block_index;
static const char* fault;
static u64 state;
static std::function<void()> body;

inline u32 random() {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return static_cast<u32>(state >> 33);
}

inline void yield() {
  swapcontext(&current->context, &scheduler);
}

/// Ends the launch.
inline void require(bool right, const char* otherwise) {
  if (right) return;
  fault = otherwise;
  for (;;) yield();
}

inline void wait(Barrier& barrier, u32 lanes_of_it) {
  const u32 generation = barrier.generation;
  if (++barrier.arrived == lanes_of_it) {
    barrier.arrived = 0;
    ++barrier.generation;
  } else {
    while (barrier.generation == generation) yield();
  }
}

inline Warp& warp() {
  return warps[current->id / 32];
}
inline void wait_for_warp() {
  wait(warp().barrier, 32);
}

inline u8* at(u32 address, u32 bytes, u32 alignment) {
  require(address % alignment == 0, "a misaligned address of shared memory");
  require(address >= shared_start && address - shared_start + bytes <= launch->dynamic_shared_bytes,
          "an address outside shared memory");
  return shared + (address - shared_start);
}

inline void check(const void* address, u32 bytes, u32 alignment, bool written) {
  const u8* const first = static_cast<const u8*>(address);
  require(reinterpret_cast<u64>(address) % alignment == 0, "a misaligned access");
  if (first >= shared && first + bytes <= shared + launch->dynamic_shared_bytes) return;
  for (u32 i = 0; i < launch->buffer_count; ++i) {
    const hone_emulated_buffer& buffer = launch->buffers[i];
    const u8* const start = static_cast<const u8*>(buffer.first);
    if (first < start || first + bytes > start + buffer.bytes) continue;
    require(buffer.written || !written, "a write to an input");
    return;
  }
  require(false, written ? "a write outside the buffers" : "a read outside the buffers");
}

inline void run_lane() {
  body();
  current->ended = true;
  for (;;) yield();
}

inline void run_block() {
  std::memset(shared, 0xFF, launch->dynamic_shared_bytes);
  block_barrier = {};
  warps.assign(launch->block / 32, {});
  lanes.resize(launch->block);
  std::vector<u32> order;
  for (u32 i = 0; i < launch->block; ++i) {
    constexpr u32 stack_bytes = 64 << 10;
    Lane& lane = lanes[i];
    if (lane.stack == nullptr) lane.stack = std::make_unique<u8[]>(stack_bytes);
    lane.id = i;
    lane.ended = false;
    lane.open.clear();
    lane.groups.clear();
    getcontext(&lane.context);
    lane.context.uc_stack.ss_sp = lane.stack.get();
    lane.context.uc_stack.ss_size = stack_bytes;
    lane.context.uc_link = nullptr;
    makecontext(&lane.context, run_lane, 0);
    order.push_back(i);
  }
  for (bool more = true; more && fault == nullptr;) {
    if (random() % 4 == 0)
      for (u32 i = launch->block - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
    more = false;
    for (const u32 i : order) {
      current = &lanes[i];
      if (current->ended || fault != nullptr) continue;
      swapcontext(&scheduler, &current->context);
      more = more || !current->ended;
    }
  }
}

template <typename... Arguments, std::size_t... Index>
const char* run(void (*kernel)(Arguments...), const hone_emulated_launch* of, void* const* parameters,
                std::index_sequence<Index...>) {
  launch = of;
  state = of->seed;
  fault = nullptr;
  shared_memory.resize(of->dynamic_shared_bytes + 128);
  shared = shared_memory.data() + (128 - reinterpret_cast<u64>(shared_memory.data()) % 128);
  body = [&] { kernel(*static_cast<Arguments*>(parameters[Index])...); };
  std::vector<u32> order;
  for (u32 i = 0; i < of->grid; ++i) order.insert(order.begin() + random() % (i + 1), i);
  for (const u32 block : order) {
    block_index = block;
    if (fault == nullptr) run_block();
  }
  return fault;
}

template <typename... Arguments>
const char* run(void (*kernel)(Arguments...), const hone_emulated_launch* of, void* const* parameters) {
  return run(kernel, of, parameters, std::index_sequence_for<Arguments...>());
}

}  // namespace emulated

#define HONE_DEVICE inline
#define HONE_KERNEL_WITH_BARRIERS(name, ...)                                             \
  static void name(__VA_ARGS__);                                                         \
  extern "C" __attribute__((visibility("default")))                                      \
  const char* name##_emulated(const hone_emulated_launch* of, void* const* parameters) { \
    return emulated::run(&name, of, parameters);                                         \
  }                                                                                      \
  static void name(__VA_ARGS__)
#define HONE_THREAD_X emulated::current->id
#define HONE_BLOCK_INDEX_X emulated::block_index
#define HONE_BLOCK_COUNT_X emulated::launch->grid
#define HONE_DYNAMIC_SHARED(type, name) type* const name = reinterpret_cast<type*>(emulated::shared)
#define HONE_LET_NEXT_KERNEL_START() static_cast<void>(0)
#define HONE_WAIT_FOR_EARLIER_KERNELS() static_cast<void>(0)
#define HONE_ATOMIC_ADD(pointer, value) __atomic_fetch_add(pointer, value, __ATOMIC_RELAXED)

enum hone_hint { hone_plain, hone_nt, hone_evict_first, hone_evict_last };

template <int Bytes>
struct hone_pack {
  enum { words = Bytes < 4 ? 1 : Bytes / 4 };
  u32 word[words];
};

template <int Bytes, hone_hint Hint>
hone_pack<Bytes> hone_load(const void* address) {
  emulated::check(address, Bytes, Bytes, false);
  hone_pack<Bytes> pack{};
  std::memcpy(pack.word, address, Bytes);
  return pack;
}

template <int Bytes, hone_hint Hint>
void hone_store(void* address, const hone_pack<Bytes>& pack) {
  emulated::check(address, Bytes, Bytes, true);
  std::memcpy(address, pack.word, Bytes);
}

inline u32 shared_address(const void* pointer) {
  return static_cast<u32>(static_cast<const u8*>(pointer) - emulated::shared) + emulated::shared_start;
}

template <u32 Bytes, hone_hint Hint>
void copy_async(u32 to, const void* from, u32 bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  emulated::require(bytes <= Bytes, "a copy of more bytes than there are");
  emulated::check(from, bytes == 0 ? 2 : bytes, Bytes, false);
  auto& open = emulated::current->open;
  open.push_back({emulated::at(to, Bytes, Bytes), from, Bytes, bytes});
  if (emulated::random() % 2 == 0) open.back().perform();
}

inline void commit_copies() {
  emulated::current->groups.push_back(std::exchange(emulated::current->open, {}));
}

template <u32 Groups>
void wait_for_copies() {
  auto& groups = emulated::current->groups;
  while (groups.size() > Groups) {
    for (emulated::Copy& copy : groups.front()) copy.perform();
    groups.erase(groups.begin());
  }
}

inline void wait_for_block() {
  emulated::wait(emulated::block_barrier, emulated::launch->block);
}
inline void wait_for_warp() {
  emulated::wait_for_warp();
}
inline void order_for_all_blocks() {}

template <bool Transposed, typename... Words>
void load_matrices(u32 address, Words&... words) {
  emulated::Warp& warp = emulated::warp();
  const u32 lane = emulated::current->id % 32;
  warp.address[lane] = address;
  emulated::wait_for_warp();
  u32 first = 0;
  const auto load = [&](u32& word) {
    u32 banks = 0;
    for (u32 row = 0; row < 8; ++row) banks |= 1U << (warp.address[first + row] / 16 % 8);
    emulated::require(banks == 0xFF, "rows of a matrix that share a bank");
    u16 elements[2];
    for (u32 e = 0; e < 2; ++e) {
      const u32 row = Transposed ? lane % 4 * 2 + e : lane / 4;
      const u32 column = Transposed ? lane / 4 : lane % 4 * 2 + e;
      std::memcpy(&elements[e], emulated::at(warp.address[first + row], 16, 16) + 2 * column, 2);
    }
    word = elements[0] | static_cast<u32>(elements[1]) << 16;
    first += 8;
  };
  (load(words), ...);
  emulated::wait_for_warp();
}

inline f32 f32_of_half(u16 half);

/// Fragments as the PTX manual places them: g = lane / 4, t = lane % 4; elements are two in a register.
inline void multiply_add(f32 (&sums)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  emulated::Warp& warp = emulated::warp();
  const u32 lane = emulated::current->id % 32;
  std::memcpy(warp.a[lane], a, sizeof a);
  std::memcpy(warp.b[lane], b, sizeof b);
  emulated::wait_for_warp();
  for (u32 e = 0; e < 4; ++e) {
    const u32 row = lane / 4 + e / 2 * 8;
    const u32 column = lane % 4 * 2 + e % 2;
    for (u32 k = 0; k < 16; ++k) {
      const u32 left = warp.a[row % 8 * 4 + k % 8 / 2][row / 8 + k / 8 * 2] >> (k % 2 * 16);
      const u32 right = warp.b[column * 4 + k % 8 / 2][k / 8] >> (k % 2 * 16);
      sums[e] += f32_of_half(static_cast<u16>(left)) * f32_of_half(static_cast<u16>(right));
    }
  }
  emulated::wait_for_warp();
}

inline void load_written_by_others(const f32* from, f32 (&to)[4]) {
  emulated::check(from, 16, 16, false);
  std::memcpy(to, from, 16);
}

inline void store_for_others(f32* to, const f32 (&from)[4]) {
  emulated::check(to, 16, 16, true);
  std::memcpy(to, from, 16);
}
