// What a pick points to: the answer to one problem at one alignment, and the configuration that serves it.
// Immutable once published, but for the kernel, which is set once when its code is loaded.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hone/hone.hpp"
#include "runtime/device.hpp"
#include "runtime/family.hpp"

namespace hone {

static_assert(Problem::kMaximumDimensions == kMaximumDimensions);

/// A code object known to the runtime. All but `kernel` belongs to who holds the resolver's lock.
struct Code {
  db::Id build_key;
  std::string entry;
  std::vector<std::byte> bytes;    ///< verified; emptied once loaded
  std::unique_ptr<Kernel> loaded;  ///< never unloaded: a captured graph may replay it
  std::string refused;             ///< why it cannot serve; empty: it can, as far as is known
  std::vector<std::string> tried;  ///< databases that were asked for it
  std::atomic<const Kernel*> kernel{nullptr};
};

/// A configuration as a database serves it; shared by the answers it gives.
struct Served {
  std::string variant, configuration, build_key, database;
  bool checked = true;
  Code* code = nullptr;
  std::vector<LaunchArgument> launch_arguments;
};

/// What an answer is looked up by: a problem and the binary logarithm of its pointers' alignment.
inline constexpr unsigned kLargestAlignmentLog = 12;

[[noreturn]] void refuse_alignment(std::size_t alignment);

/// Throws Error{invalid} for what is no power of two. Counting its bits would be a call of a function on x86
/// processors of no particular generation.
inline unsigned alignment_log_of(std::size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) refuse_alignment(alignment);
  return std::min(static_cast<unsigned>(std::countr_zero(alignment)), kLargestAlignmentLog);
}

inline std::uint64_t hash_of(const Problem& problem, unsigned alignment_log) noexcept {
  __extension__ using Wide = unsigned __int128;
  const auto mix = [](std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::uint64_t head = 0;
  std::memcpy(&head, &problem, sizeof head);
  std::uint64_t hash = mix(head ^ 0x9e3779b97f4a7c15ULL, 0xd6e8feb86659fd93ULL + alignment_log);
  for (std::size_t i = 0; i < problem.rank && i < kMaximumDimensions; ++i)
    hash = mix(hash ^ static_cast<std::uint64_t>(problem.dimensions[i]), 0xa0761d6478bd642fULL);
  return hash;
}

/// Compares what the hash reads.
inline bool same_problem(const Problem& a, const Problem& b) noexcept {
  if (std::memcmp(&a, &b, sizeof(std::uint64_t)) != 0) return false;
  for (std::size_t i = 0; i < a.rank && i < kMaximumDimensions; ++i)
    if (a.dimensions[i] != b.dimensions[i]) return false;
  return true;
}

struct Answer {
  Problem problem;
  unsigned alignment_log = 0;
  std::uint64_t hash = 0;
  const void* owner = nullptr;     ///< the RuntimeState it belongs to
  const Served* served = nullptr;  ///< none for Rung::none and for empty problems
  std::uint64_t alignment = 1;
  std::uint32_t pointers = 0;  ///< bit i: argument i is a pointer to at least one element
  Rung rung = Rung::none;
  bool empty = false;
  Geometry geometry;
  std::size_t arguments = 0;        ///< how many the caller passes, but for a workspace
  std::uint64_t workspace = 0;      ///< bytes that a launch is lent; 0: it needs none
  std::uint64_t tensor_map_id = 0;  ///< of `tensor_maps`, in this process
  std::vector<TensorMapShape> tensor_maps;
  PickStatistics statistics;
  std::array<char, 33> measurement{};  ///< hexadecimal
  std::string why;

  bool answers(const Problem& asked, unsigned log) const noexcept {
    return alignment_log == log && same_problem(problem, asked);
  }

  /// Whether a pick could tell the two apart.
  bool same_as(const Answer& other) const {
    const auto& a = statistics;
    const auto& b = other.statistics;
    return answers(other.problem, other.alignment_log) && served == other.served &&
           alignment == other.alignment && rung == other.rung && pointers == other.pointers &&
           empty == other.empty && arguments == other.arguments && why == other.why &&
           geometry == other.geometry && workspace == other.workspace && tensor_maps == other.tensor_maps &&
           measurement == other.measurement && a.n == b.n && a.minimum == b.minimum && a.q1 == b.q1 &&
           a.median == b.median && a.q3 == b.q3;
  }
};

}  // namespace hone
