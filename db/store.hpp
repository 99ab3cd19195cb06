// A tuning database: opens, checks and migrates the file, appends records, derives winners, answers queries.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/error.hpp"
#include "db/records.hpp"

namespace hone::db {

namespace sqlite {
class Statement;
}

enum class Access {
  read_only,   ///< must exist; works on read-only media
  read_write,  ///< must exist
  create,      ///< created with its folder when missing
};

/// What `read` filters by; empty fields match all.
struct Filter {
  std::string family;
  std::string element_type;
  std::optional<Regime> regime;
  std::optional<Id> device;
  std::optional<Id> run;
  std::int64_t since_us = INT64_MIN;                      ///< of measurements: taken then or later
  bool failed = false;                                    ///< of measurements: those that failed alone
  bool raced = false;                                     ///< of measurements: those that came through races
  std::function<bool(const Problem&)> problem = nullptr;  ///< whether one counts; none: all do
};

/// A measurement with the records it points to, for queries: of millions of rows, which share them.
struct MeasuredRow {
  Measurement measurement;
  const Problem& problem;
  const Configuration& configuration;
  const Device& device;
  std::shared_ptr<const void> records;  ///< keeps those three
};

/// Sorted by when they were taken.
std::vector<MeasuredRow> in_order_taken(std::vector<MeasuredRow>&& rows);

/// Winners of one device, regime, family, element type, layout and list of dimensions, packed. Views into a
/// row: valid while it is visited.
class WinnerBlock {
 public:
  explicit WinnerBlock(const sqlite::Statement& row);

  std::string_view family, element_type, layout;
  std::vector<std::string_view> dimensions;  ///< names, in the order of the problems'

  struct Record {
    std::int64_t alignment = 1;  ///< the alignment class served
    Id configuration, source_hash, build_key, measurement;
    Statistics statistics;
    std::int64_t extent(std::size_t dimension) const;

   private:
    friend class WinnerBlock;
    const std::byte* extents_ = nullptr;
  };
  std::size_t size() const;
  Record operator[](std::size_t index) const;

 private:
  std::span<const std::byte> records_;
  std::size_t width_ = 0;  ///< bytes of a record
};

/// A winner of one of several databases that were merged, where the merged one serves another configuration.
struct Conflict {
  std::filesystem::path file;  ///< whose winner it is
  Winner winner;
  Device device;
  std::optional<Winner> served;  ///< instead; none: its source is no longer current
};

struct MergeReport {
  std::int64_t rows = 0;      ///< recorded, in the merged database
  std::int64_t repeated = 0;  ///< that more than one of the databases had
  std::int64_t winners = 0, bands = 0, portfolios = 0;
  /// By problem, device, regime and alignment, then in the order of the files.
  std::vector<Conflict> conflicts;
};

/// How many portfolios these are the members of.
std::int64_t portfolios_of(const std::vector<PortfolioMember>& members);

struct CheckReport {
  std::vector<std::string> faults;  ///< one line each; empty: sound
  std::int64_t rows = 0;            ///< records whose checksum was verified
};

/// Not thread-safe: one a thread. Several processes may hold one file; a writer waits up to 5 s for another.
/// Every error is a db::Error whose line names the file.
class Store {
 public:
  static Store open(const std::filesystem::path& file, Access access);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::filesystem::path& file() const;

  /// Runs `body` in one transaction, rolled back when it throws.
  void transaction(const std::function<void()>& body);

  // Append. Content-identified records may be put again at no cost; each returns its id.
  Id put(const Device& device);
  Id put(const Environment& environment);
  Id put(const Problem& problem);
  Id put(const Configuration& configuration);
  void put(const Template& source);
  void put(const Run& run);
  void put(const Measurement& measurement);
  void put(const Decision& decision);
  void put(const SweepPoint& point);
  /// Bands or a portfolio follow from it in the same transaction.
  void put(const Sweep& sweep);
  void put(const CodeObject& object);
  /// Remembers that the manifest's default passed its checks on a device.
  void put_default(const CheckedDefault& checked);
  /// Gives a device's peak from now on.
  void put_peak(const Peak& peak);
  /// Marks a run's end, with how it ended (`done`, `interrupted`, `failed`). A run without an end can be
  /// resumed.
  void finish(const Id& run, const std::string& how);
  /// Derives the winners again from the decisions and the bands and portfolios from the sweeps; called once a
  /// run, and by check's repair and merge.
  void rebuild_derived();

  // Read.
  std::vector<std::pair<Id, Device>> devices();
  std::optional<Device> device(const Id& id);
  std::optional<Peak> peak(const Id& device, const std::string& kind = "memory");  ///< the newest
  std::optional<Environment> environment(const Id& id);
  std::optional<Run> run(const Id& id);
  std::vector<std::pair<Run, std::string>> runs();  ///< newest first, with how each ended (empty: it did not)
  std::vector<Winner> winners(const Filter& filter);
  /// Every winner of a device and regime, in no order of problems: one checksum a block, where winners()
  /// reads and verifies each with its problem and configuration.
  void winner_blocks(const Id& device, Regime regime, const std::function<void(const WinnerBlock&)>& visit);
  std::vector<Band> bands(const Filter& filter);  ///< by device, regime, family, type, layout, alignment, lo
  /// By device, regime, family, type, layout, alignment, the configuration that is the fastest at most points
  /// first.
  std::vector<PortfolioMember> portfolio(const Filter& filter);
  std::vector<CheckedDefault> defaults(const Id& device);
  std::vector<Template> templates(const std::string& family);  ///< the current ones, one a variant
  /// Whether a variant of the family (empty: of any) was tuned with other sources than its current one.
  bool has_older_sources(const std::string& family);
  std::optional<std::string> text(const Id& id);               ///< such as a manifest's
  std::optional<CodeObject> code_object(const Id& build_key);  ///< verified against its hash
  /// Without samples, which measurement() reads; in the order taken.
  std::vector<MeasuredRow> measurements(const Filter& filter);
  /// The same, one at a time and in no order, without holding all of them.
  void each_measurement(const Filter& filter, const std::function<void(MeasuredRow&&)>& visit);
  /// The runs that measured what the filter matches.
  std::set<Id> runs_of(const Filter& filter);
  /// Those that decisions chose, newest decision first; without samples, too.
  std::vector<MeasuredRow> choices(const Filter& filter);
  /// Of the filter's family, element type and `problem` alone, in no order, measured or not.
  std::vector<Problem> problems(const Filter& filter);
  std::vector<std::string> families();  ///< of the problems, in alphabetical order
  std::optional<Problem> problem(const Id& id);
  std::optional<Configuration> configuration(const Id& id);
  std::optional<Measurement> measurement(const Id& id);
  std::optional<Decision> decision(const Id& id);
  /// The rows of unfinished or finished runs for one problem and source hash on one device, newest run first:
  /// what a resumed run need not do again. Without samples, as measurements().
  std::vector<Measurement> known(const Id& device, const Id& problem, const Id& source_hash, Regime regime);

  /// What sweeps measured at a problem, in the order taken: what a resumed sweep need not measure again.
  std::vector<SweepPoint> sweep_points(const Id& device, const Id& problem, Regime regime);
  std::optional<SweepPoint> sweep_point(const Id& id);
  std::vector<Sweep> sweeps(const Filter& filter);  ///< newest first

  /// SQLite's own check, then every row's checksum, every code object's hash, winners against decisions and
  /// bands and portfolios against sweeps.
  CheckReport check();

  /// A consistent copy, made while others read and write.
  void backup(const std::filesystem::path& to);

  /// Writes a pack: a read-only database with all that calls on these devices are served from.
  void pack(const std::vector<Id>& devices, const std::filesystem::path& to);

  /// Makes `to`, which must not exist, of all that these databases and packs recorded, and derives what
  /// follows. They are read as they are at one moment each, and migrated in a copy where their schema is
  /// older. The contents do not depend on their order, on merging some of them before, or on one being given
  /// twice. Throws where two hold different records of one identity; then nothing is left of `to`.
  static MergeReport merge(const std::vector<std::filesystem::path>& files, const std::filesystem::path& to);

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// `HONE_DB` (first entry), else `$XDG_DATA_HOME/hone/hone.db`, else `~/.local/share/hone/hone.db`.
std::filesystem::path default_file();

}  // namespace hone::db
