// What one tuning database knows about one device: read once, then immutable and independent of the file.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "runtime/device.hpp"
#include "runtime/family.hpp"

namespace hone {

/// A record that may serve calls: a winner, or a default that was checked.
struct Candidate {
  std::array<std::int64_t, kMaximumDimensions>
      dimensions{};                 ///< of a winner's problem, in the family's order
  std::int64_t alignment = 1;       ///< the class a winner serves
  std::uint32_t configuration = 0;  ///< into WinnerIndex::configurations
  bool checked = true;              ///< on this very device
  db::Id source_hash, build_key, measurement;
  db::Statistics statistics;
};

/// What serves working sets in [lo, hi).
struct BandCandidate {
  Candidate candidate;
  std::int64_t lo = 0, hi = 0;
  std::int64_t first = 0, last = 0;  ///< working sets of the smallest and the largest point measured in it
  std::int64_t points = 0;
  double regret = 0;
  std::int64_t worst = 0;  ///< the working set where the regret is
};

/// Tells whether a file is still the one that was read.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified_ns = 0;
  bool operator==(const FileStamp&) const = default;
  /// Of the database and, should there be one, of its write-ahead log.
  static std::array<FileStamp, 2> of(const std::filesystem::path& file);
};

class WinnerIndex {
 public:
  /// Throws Error{environment} where the file cannot be read.
  static std::shared_ptr<const WinnerIndex> read(const std::filesystem::path& file, const DeviceInfo& device,
                                                 db::Regime regime, bool allow_unchecked);

  struct StoredFamily {
    std::shared_ptr<const Family> family;
    std::string fault;  ///< why there is none
  };

  /// Of one family, element type and layout.
  struct Group {
    std::vector<Candidate> winners;    ///< by dimensions, then the larger alignment class first
    std::vector<BandCandidate> bands;  ///< the larger alignment class first, then by working set
    std::vector<float> logarithms;     ///< base 2 of the winners' dimensions, `rank` each
    std::vector<Candidate> defaults;   ///< the checked one first
    std::size_t rank = 0;

    /// The winners for exactly these dimensions.
    std::span<const Candidate> exact(std::span<const std::int64_t> dimensions) const;
    /// Winners' positions with their squared distances in log-shape, nearest first. Dimensions that are zero
    /// on either side do not count.
    std::vector<std::pair<float, std::uint32_t>> by_distance(std::span<const std::int64_t> dimensions) const;
  };

  const std::filesystem::path& file() const { return file_; }
  const std::array<FileStamp, 2>& stamp() const { return stamp_; }
  const std::map<std::string, StoredFamily>& families() const { return families_; }
  const Group* group(const std::string& family, const std::string& element_type,
                     const std::string& layout) const;
  const db::Configuration& configuration(const Candidate& candidate) const {
    return configurations_[candidate.configuration];
  }
  const std::vector<std::string>& devices() const { return devices_; }  ///< that it has records of

 private:
  using GroupKey = std::array<std::string, 3>;
  class Reader;

  std::filesystem::path file_;
  std::array<FileStamp, 2> stamp_{};
  std::map<std::string, StoredFamily> families_;
  std::map<GroupKey, Group> groups_;
  std::vector<db::Configuration> configurations_;
  std::vector<std::string> devices_;
};

}  // namespace hone
