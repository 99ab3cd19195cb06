// What one tuning database knows about one device: read once, then immutable. The file stays open, without a
// lock, for its code objects: of a file that is replaced meanwhile the former one still answers.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "db/store.hpp"
#include "runtime/device.hpp"
#include "runtime/family.hpp"
#include "runtime/predictor.hpp"
#include "runtime/shape_tree.hpp"

namespace hone {

/// A record that may serve calls: a winner, or a default that was checked.
struct Candidate {
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

/// The configurations among which the fastest for a problem never tuned is looked for, for one alignment
/// class.
struct Portfolio {
  struct Member {
    Candidate candidate;
    std::size_t problems = 0;  ///< that it was measured at
  };
  std::int64_t alignment = 1;
  std::vector<Member> members;
  Predictor predictor;  ///< of the members, in their order
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
    std::vector<Candidate> winners;     ///< by extents, then the larger alignment class first
    std::vector<std::int64_t> extents;  ///< of the winners' problems in the family's order, `rank` each
    std::vector<BandCandidate> bands;   ///< the larger alignment class first, then by working set
    std::vector<Portfolio> portfolios;  ///< the larger alignment class first
    std::vector<Candidate> defaults;    ///< the checked one first
    std::size_t rank = 0;
    /// The winners' positions in log-shape; apart by which extents are zero, as bits: what is best for
    /// nothing says nothing about something.
    std::map<std::uint32_t, ShapeTree> trees;

    std::span<const std::int64_t> shape(std::size_t winner) const {
      return std::span(extents).subspan(winner * rank, rank);
    }
    /// The winners for exactly these extents.
    std::span<const Candidate> exact(std::span<const std::int64_t> wanted) const;
    /// Winners' positions with their squared distances in log-shape, nearest first; of equally near ones in
    /// their order. None: no winner can be compared.
    std::optional<ShapeTree::Walk> walk(std::span<const std::int64_t> from) const;
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

  // For one thread at a time, which holds the runtime's lock:

  /// Throws db::Error where it is damaged.
  std::optional<db::CodeObject> code_object(const db::Id& build_key) const {
    return store_->code_object(build_key);
  }
  /// The family's current templates, of whatever device.
  std::vector<db::Template> templates(const std::string& family) const { return store_->templates(family); }

 private:
  using GroupKey = std::array<std::string, 3>;
  class Reader;

  std::filesystem::path file_;
  std::unique_ptr<db::Store> store_;
  std::array<FileStamp, 2> stamp_{};
  std::map<std::string, StoredFamily> families_;
  std::map<GroupKey, Group> groups_;
  std::vector<db::Configuration> configurations_;
  std::vector<std::string> devices_;
};

}  // namespace hone
