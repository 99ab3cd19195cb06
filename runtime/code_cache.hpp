// Code objects by build key: read from a database when a configuration first answers, loaded onto the device
// when it is first launched or prepared, and never unloaded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>

#include "runtime/answer.hpp"
#include "runtime/device.hpp"

namespace hone {

/// For one thread at a time.
class CodeCache {
 public:
  CodeCache(Device& device, std::size_t most) : device_(device), most_(most) {}

  /// The code object, its bytes verified; `refused` says why where it cannot serve.
  Code& find(const std::filesystem::path& database, const db::Id& build_key);

  /// Loads it. Throws Error{device}; a code object that the device refuses is marked.
  void load(Code& code);

  /// Refusals are tried again: the files have changed.
  void forgive();

 private:
  void read(const std::filesystem::path& database, Code& code);

  Device& device_;
  std::size_t most_;
  std::size_t loaded_ = 0;
  std::map<db::Id, std::unique_ptr<Code>> codes_;
};

}  // namespace hone
