// What the runtime was asked for and could not answer exactly, for the tuner: one append-only file a process.
//
// A file is text. Its first line is `hone misses 1`; each other line is one miss, ten fields between tabs:
//   family, element type, layout, dimensions as `numel=1048576,lda=64`, alignment in bytes, rung, regime,
//   device (its id in the database, hexadecimal), count, time of the newest (seconds since 1970)
// Lines are written whole, all that wait by one write; a file stops growing at kLargestMissFile bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "hone/hone.hpp"

namespace hone {

inline constexpr std::size_t kLargestMissFile = std::size_t{1} << 20;

struct Miss {
  db::Problem problem;
  std::int64_t alignment = 1;
  Rung rung = Rung::none;
  db::Regime regime = db::Regime::steady;
  db::Id device;
  std::int64_t count = 1;
  std::int64_t newest_s = 0;
};

/// The writer's side. For one thread at a time.
class MissWriter {
 public:
  /// An empty folder: nothing is noted.
  explicit MissWriter(std::filesystem::path folder);
  ~MissWriter();
  MissWriter(const MissWriter&) = delete;
  MissWriter& operator=(const MissWriter&) = delete;

  /// Kept in memory until flush(), so that no file is waited for here; what no longer fits a file is dropped.
  void note(const Miss& miss) noexcept;
  /// Whether all could be written; what could not is forgotten.
  bool flush() noexcept;

 private:
  std::filesystem::path folder_;
  std::filesystem::path file_;
  std::string waiting_;  ///< whole lines
  int process_ = 0;      ///< that `file_` is named after: a forked child writes its own
};

struct MissesRead {
  std::vector<Miss> misses;         ///< each problem, alignment, regime and device once, most asked for first
  std::vector<std::string> faults;  ///< lines that are no misses: `file:line: why`
  struct File {
    std::filesystem::path path;
    std::uintmax_t bytes = 0;
  };
  std::vector<File> files;
};

/// `misses` in the user's data folder.
std::filesystem::path default_misses_folder();

/// Every process's misses. A folder that does not exist has none.
MissesRead read_misses(const std::filesystem::path& folder);

/// Removes what was read; a file that has grown since stays whole.
void clear_misses(const MissesRead& read);

}  // namespace hone
