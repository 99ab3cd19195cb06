// Code objects by build key: read from a database when a configuration first answers, loaded onto the device
// when it is first launched or prepared, and never unloaded.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>

#include "runtime/answer.hpp"
#include "runtime/device.hpp"
#include "runtime/winner_index.hpp"

namespace hone {

/// For one thread at a time.
class CodeCache {
 public:
  /// `most`: code objects that all caches of this process may have loaded together.
  CodeCache(Device& device, std::size_t most) : device_(device), most_(most) {}
  ~CodeCache();
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;

  /// The code object, its bytes verified; `refused` says why where it cannot serve.
  Code& find(const WinnerIndex& database, const db::Id& build_key);

  /// Loads it. Throws Error{device}; a code object that the device refuses is marked.
  void load(Code& code);

  /// Refusals are tried again: the files have changed.
  void forgive();

 private:
  void read(const WinnerIndex& database, Code& code);

  Device& device_;
  std::size_t most_;
  std::size_t loaded_ = 0;
  static std::atomic<std::size_t> loaded_by_all_;
  std::map<db::Id, std::unique_ptr<Code>> codes_;
};

}  // namespace hone
