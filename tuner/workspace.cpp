#include "tuner/workspace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/plan.hpp"

namespace hone::tuner {

namespace {

enum Part : TallySlot { before, after, zeros };

/// Of bytes that hold anything: no number as a float of any type, and no sensible count.
constexpr std::uint8_t anything = 0xff;

}  // namespace

void* Workspace::get(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  if (pieces_.empty() || pieces_.back().bytes < bytes) {
    // Larger than asked for, so that a space of configurations does not make one after the other.
    const std::int64_t size = std::max({bytes + bytes / 2, kWorkspaceZeros, std::int64_t{1} << 20});
    pieces_.push_back({DeviceMemory(device_, static_cast<std::size_t>(size + 2 * guard_bytes)), size});
    restore();
  }
  return start(pieces_.back());
}

void* Workspace::guarded(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  void* const given = get(bytes);
  std::byte* const first = start(pieces_.back());
  constexpr auto size = static_cast<std::size_t>(guard_bytes);
  device_.set(first - guard_bytes, guard_sentinel, size);
  device_.set(first + bytes, guard_sentinel, size);
  // Last, over a guard behind a small workspace: what lies there is zero to a larger one.
  device_.set(first, 0, static_cast<std::size_t>(kWorkspaceZeros));
  if (bytes > kWorkspaceZeros)
    device_.set(first + kWorkspaceZeros, anything, static_cast<std::size_t>(bytes - kWorkspaceZeros));
  return given;
}

void Workspace::compare(std::int64_t bytes, TallySlot first) {
  if (bytes == 0) return;
  std::byte* const lent = start(pieces_.back());
  const std::int64_t end = std::max(bytes, kWorkspaceZeros);
  kernels_.check_bytes(lent - guard_bytes, guard_bytes, guard_sentinel, first + before);
  kernels_.check_bytes(lent + bytes, end - bytes, 0, first + after);
  kernels_.check_bytes(lent + end, bytes + guard_bytes - end, guard_sentinel, first + after);
  kernels_.check_bytes(lent, std::min(bytes, kWorkspaceZeros), 0, first + zeros);
}

std::optional<Fault> Workspace::judge(const std::vector<Tally>& all, TallySlot first) const {
  for (const Part part : {before, after})
    if (const Tally& tally = all[first + part]; tally.wrong > 0)
      return Fault{db::Outcome::wrote_outside, fmt::format("{} bytes changed {} the workspace", tally.wrong,
                                                           part == before ? "before" : "after")};
  if (const Tally& tally = all[first + zeros]; tally.wrong > 0)
    return Fault{
        db::Outcome::wrong_result,
        fmt::format("{} bytes of the workspace's first {} are not zero after the launch, the first at {}",
                    tally.wrong, kWorkspaceZeros, tally.first)};
  return std::nullopt;
}

void Workspace::restore() {
  for (const Piece& piece : pieces_) device_.set(start(piece), 0, static_cast<std::size_t>(kWorkspaceZeros));
}

}  // namespace hone::tuner
