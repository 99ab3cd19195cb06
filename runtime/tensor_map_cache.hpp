// The tensor maps that a thread used last: encoding one takes longer than a launch should. Of a fixed size,
// without a lock, without the heap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/tensor_map.hpp"

namespace hone {

class TensorMapCache {
 public:
  static TensorMapCache& of_thread() noexcept {
    thread_local TensorMapCache cache;
    return cache;
  }

  /// `map` becomes the `index`-th map of the plan `id` (new_tensor_map_id()) at that address: what
  /// encode(map) wrote the last time, or writes now.
  template <typename Encode>
  void get(std::uint64_t id, std::size_t index, std::uint64_t address, TensorMap& map, const Encode& encode) {
    Entry& entry = entries_[(address >> 8 ^ id * kMaximumTensorMaps ^ index) % entries_.size()];
    if (entry.id != id || entry.index != index || entry.address != address) {
      encode(map);
      entry.map = map;
      entry.id = id;
      entry.index = index;
      entry.address = address;
    } else {
      map = entry.map;
    }
  }

 private:
  struct Entry {
    TensorMap map;
    std::uint64_t id = 0;  // no plan's
    std::uint64_t index = 0;
    std::uint64_t address = 0;
  };
  std::array<Entry, 128> entries_{};
};

}  // namespace hone
