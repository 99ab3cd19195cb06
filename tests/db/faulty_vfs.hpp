// SQLite's view of the disk in tests: its own VFS over real files, which can fail at any call and writes down
// what was changed and what was made durable, so that a power cut can be replayed.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace hone::db::testing {

enum class Fault {
  io_error,     ///< the call, of whatever kind, fails
  short_write,  ///< half of a write reaches the file
  full_disk,    ///< a write finds no room
  failed_sync,  ///< fsync fails: nobody knows what is on the disk
};

/// What changed files, in order.
struct Event {
  enum class Kind { create, write, truncate, sync, remove, sync_folder } kind;
  std::string file;  ///< its name in the folder
  std::int64_t at = 0;
  std::string bytes = {};
};

/// The default VFS while it lives. One at a time; for one thread.
class FaultyVfs {
 public:
  FaultyVfs();
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  /// From now on the n-th call that such a fault can hit fails, n from 1; with `lasting` all after it too.
  void fail_at(std::int64_t n, Fault fault, bool lasting);
  void heal();
  /// Calls that the fault could have hit since fail_at().
  std::int64_t calls() const { return calls_; }
  bool has_failed() const { return failed_; }

  const std::vector<Event>& events() const { return events_; }

 private:
  struct File;
  struct Methods;
  bool fails(Fault fault);

  sqlite3_vfs* real_;
  sqlite3_vfs vfs_;
  std::vector<Event> events_;
  std::set<std::string> known_;  ///< files that events are about
  std::int64_t left_ = -1;
  std::int64_t calls_ = 0;
  Fault fault_ = Fault::io_error;
  bool lasting_ = false;
  bool failed_ = false;
};

/// What a power cut leaves of a folder. Sectors that were not synced are on the disk or not, each by itself,
/// which covers every order in which they may get there; a file's name and its removal are durable once the
/// folder was synced.
class PowerCut {
 public:
  /// What of the unsynced reached the disk.
  enum class Kept { nothing, everything, some };
  /// After the first `count` events.
  PowerCut(const std::vector<Event>& events, std::size_t count);
  void write(const std::filesystem::path& folder, Kept kept, std::mt19937& random) const;

 private:
  struct File {
    std::string synced;
    std::vector<const Event*> pending;  ///< writes and truncations
  };
  using Names = std::map<std::string, std::size_t>;
  std::vector<File> files_;
  Names names_;    ///< as the running system sees the folder
  Names durable_;  ///< as the disk has it
};

}  // namespace hone::db::testing
