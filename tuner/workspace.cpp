#include "tuner/workspace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/plan.hpp"

namespace hone::tuner {

namespace {

enum Part : TallySlot { before, after, zeros };

}  // namespace

std::byte* Workspace::start(const Piece& piece) const {
  return piece.memory.get() + guard_bytes;
}

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

void Workspace::compare(TallySlot first) {
  if (pieces_.empty()) return;
  const Piece& piece = pieces_.back();
  kernels_.check_bytes(piece.memory.get(), guard_bytes, guard_sentinel, first + before);
  kernels_.check_bytes(start(piece) + piece.bytes, guard_bytes, guard_sentinel, first + after);
  kernels_.check_bytes(start(piece), kWorkspaceZeros, 0, first + zeros);
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
  if (pieces_.empty()) return;
  const Piece& piece = pieces_.back();
  device_.set(piece.memory.get(), guard_sentinel, static_cast<std::size_t>(piece.bytes + 2 * guard_bytes));
  device_.set(start(piece), 0, static_cast<std::size_t>(kWorkspaceZeros));
  device_.synchronize();
}

}  // namespace hone::tuner
