// Torture: a disk that fails at any call, memory that runs out, and power that is cut at any moment. What was
// committed stays, what was not leaves no trace, and whoever wrote gets one line.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <optional>

#include "contents.hpp"
#include "faulty_vfs.hpp"
#include "sample_database.hpp"

namespace hone::db {
namespace {

using namespace testing;

// The quick tier tries a twentieth of the moments.
constexpr std::int64_t quick_stride = 20;

/// A small run: the file is made, then a tuner's records are committed one step after another.
class SmallRun {
 public:
  SmallRun() : run_(run()), simt_(source("simt", "kernel")) {
    for (std::int64_t i = 0; i < 3; ++i) {
      measured_.push_back(measurement(run_, problem(1024 << i), configuration(64), simt_.source_hash));
      failed_.push_back(measurement(run_, problem(1024 << i), configuration(128), simt_.source_hash, {}));
      failed_.back().outcome = Outcome::timed_out;
      failed_.back().condition.temperature_c = 61;
      decided_.push_back(decision(measured_.back(), 100 + i));
      point_.push_back({});
      point_.back().run = run_.id;
      point_.back().problem = problem(1024 << i).id();
      point_.back().working_set = 4096 << i;
      point_.back().measurements = {measured_.back().id};
      swept_.points.push_back(point_.back().id);
    }
    swept_.run = run_.id;
    swept_.family = "relu";
    swept_.element_type = "f16";
    swept_.resolution = 2;
  }

  /// Calls `committed` after each transaction.
  void operator()(const std::filesystem::path& file, const std::function<void()>& committed) const {
    Store store = Store::open(file, Access::create);
    committed();
    store.transaction([&] {
      prepare(store, run_);
      store.put(simt_);
      for (const std::int64_t block : {64, 128}) store.put(configuration(block));
      for (std::int64_t i = 0; i < 3; ++i) store.put(problem(1024 << i));
    });
    committed();
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      store.put(failed_[i]);
      committed();
      store.transaction([&] {
        store.put(measured_[i]);
        store.put(CodeObject{measured_[i].build_key, "x86-64-v3", "g++ 12.2.0", "relu",
                             std::vector<std::byte>(9000, std::byte{7})});
        store.put(decided_[i]);
      });
      committed();
    }
    store.transaction([&] {
      for (const SweepPoint& point : point_) store.put(point);
      store.put(swept_);
    });
    committed();
    store.rebuild_derived();
    committed();
  }

 private:
  Run run_;
  Template simt_;
  std::vector<Measurement> measured_, failed_;
  std::vector<Decision> decided_;
  std::vector<SweepPoint> point_;
  Sweep swept_;
};

/// All but when a template was put to use, which differs between runs.
std::string content(const std::filesystem::path& file) {
  return everything(file, &tables::template_use);
}

/// What the file holds before the run and after each of its transactions.
std::vector<std::string> states_of(const SmallRun& run) {
  Folder folder;
  std::vector<std::string> states{""};
  run(folder.file(), [&] { states.push_back(content(folder.file())); });
  return states;
}

/// The file is sound, and is as after the first `committed` transactions, or as after the one that was being
/// committed too.
void require_whole(const std::filesystem::path& file, const std::vector<std::string>& states,
                   std::size_t committed) {
  std::string found;
  try {
    Store store = Store::open(file, Access::create);
    const CheckReport report = store.check();
    INFO(fmt::format("{}", fmt::join(report.faults, "; ")));
    REQUIRE(report.faults.empty());
    store.winners({});
    store.bands({});
    found = content(file);
  } catch (const Error& error) {
    FAIL(error.what());
  }
  // Opening makes what an interrupted creation did not.
  committed = std::max<std::size_t>(committed, 1);
  const bool as_committed = found == states[committed];
  const bool one_more = committed + 1 < states.size() && found == states[committed + 1];
  INFO(committed << " transactions were committed; the file holds:\n" << found);
  REQUIRE((as_committed || one_more));
}

void require_one_line(const Error& error, const std::filesystem::path& file) {
  const std::string line = error.what();
  INFO(line);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.find(file.string()) != std::string::npos);
  CHECK(error.kind() != Error::Kind::internal);
  CHECK(error.kind() != Error::Kind::busy);
}

/// Has the run fail at every `stride`-th call that the fault can hit, until it hits none; how many were hit.
int fail_everywhere(Fault fault, bool lasting, std::int64_t stride) {
  const SmallRun run;
  const std::vector<std::string> states = states_of(run);
  REQUIRE(states.size() == 11);
  int hit = 0;
  for (std::int64_t n = 1;; n += stride) {
    INFO("fault " << static_cast<int>(fault) << (lasting ? ", lasting" : "") << ", call " << n);
    Folder folder;
    std::size_t committed = 0;
    bool told = false;
    FaultyVfs disk;
    disk.fail_at(n, fault, lasting);
    try {
      run(folder.file(), [&] { ++committed; });
    } catch (const Error& error) {
      told = true;
      require_one_line(error, folder.file());
      if (fault == Fault::full_disk) {
        CHECK(error.kind() == Error::Kind::full);
        CHECK(std::string(error.what()).find("the disk is full; make room") != std::string::npos);
      } else {
        CHECK(error.kind() == Error::Kind::unusable);
      }
    }
    if (!disk.has_failed()) {
      CHECK_FALSE(told);
      CHECK(committed + 1 == states.size());
      return hit;
    }
    ++hit;
    // What SQLite could do without (looking for a journal that is not there, say) goes on unheard.
    if (!told) CHECK(committed + 1 == states.size());
    disk.heal();
    require_whole(folder.file(), states, committed);
  }
}

void fail_everywhere(std::int64_t stride) {
  for (const Fault fault : {Fault::io_error, Fault::short_write, Fault::full_disk, Fault::failed_sync}) {
    for (const bool lasting : {false, true}) {
      const int hit = fail_everywhere(fault, lasting, stride);
      WARN("fault " << static_cast<int>(fault) << (lasting ? ", lasting: " : ": ") << hit << " calls failed");
      CHECK(hit >= 30 / stride);
    }
  }
}

TEST_CASE("a disk that fails at some call costs what was not committed, and is told in one line") {
  fail_everywhere(quick_stride);
}

TEST_CASE("a disk that fails at any call costs what was not committed, and is told in one line", "[long]") {
  fail_everywhere(1);
}

/// Cuts the power after every `stride`-th change, each time with nothing, all and `samples` random parts of
/// what was not synced on the disk; how many cuts.
int cut_power_everywhere(std::size_t stride, int samples, unsigned seed) {
  const SmallRun run;
  std::vector<Event> events;
  std::vector<std::string> states{""};
  std::vector<std::size_t> committed_at;  // events before each transaction was said to be committed
  {
    Folder folder;
    FaultyVfs disk;
    run(folder.file(), [&] {
      committed_at.push_back(disk.events().size());
      states.push_back(content(folder.file()));
    });
    events = disk.events();
  }
  std::mt19937 random(seed);
  int cuts = 0;
  for (std::size_t count = 0; count <= events.size(); count += stride) {
    const PowerCut cut(events, count);
    const auto committed = static_cast<std::size_t>(
        std::upper_bound(committed_at.begin(), committed_at.end(), count) - committed_at.begin());
    for (int i = 0; i < 2 + samples; ++i) {
      INFO("seed " << seed << ", event " << count << " of " << events.size() << ", sample " << i);
      Folder folder;
      cut.write(folder.path(),
                i == 0   ? PowerCut::Kept::nothing
                : i == 1 ? PowerCut::Kept::everything
                         : PowerCut::Kept::some,
                random);
      // A reader comes first every other time.
      if (count / stride % 2 == 0 && committed > 0) {
        Store reader = Store::open(folder.file(), Access::read_only);
        REQUIRE(reader.check().faults == std::vector<std::string>{});
      }
      require_whole(folder.file(), states, committed);
      ++cuts;
    }
  }
  return cuts;
}

TEST_CASE("a power cut at some moment loses nothing committed and leaves no half outcome") {
  CHECK(cut_power_everywhere(quick_stride, 1, 1) > 25);
}

TEST_CASE("a power cut at any moment loses nothing committed and leaves no half outcome", "[long]") {
  CHECK(cut_power_everywhere(1, 6, std::random_device{}()) > 2000);
}

/// SQLite's memory, which can run out at any allocation.
class FaultyMemory {
 public:
  FaultyMemory() {
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
    sqlite3_mem_methods methods = real;
    methods.xMalloc = [](int size) { return fails() ? nullptr : real.xMalloc(size); };
    methods.xRealloc = [](void* memory, int size) { return fails() ? nullptr : real.xRealloc(memory, size); };
    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    left = -1;
    sqlite3_initialize();
  }
  ~FaultyMemory() {
    left = -1;
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_MALLOC, &real);
    sqlite3_initialize();
  }
  FaultyMemory(const FaultyMemory&) = delete;
  FaultyMemory& operator=(const FaultyMemory&) = delete;

  static inline sqlite3_mem_methods real{};
  static inline std::int64_t left = -1;  ///< allocations until one fails; below 0: none does
  static inline bool lasting = false;
  static inline bool failed = false;

 private:
  static bool fails() {
    if (left < 0) return false;
    if (left > 0) --left;
    if (left > 0 || (failed && !lasting)) return false;
    failed = true;
    return true;
  }
};

int exhaust_everywhere(std::int64_t points) {
  const SmallRun run;
  const std::vector<std::string> states = states_of(run);
  const FaultyMemory memory;
  constexpr std::int64_t plenty = std::int64_t{1} << 40;
  std::int64_t needed = 0;
  {
    Folder folder;
    FaultyMemory::left = plenty;
    run(folder.file(), [] {});
    needed = plenty - FaultyMemory::left;
    FaultyMemory::left = -1;
  }
  REQUIRE(needed > 1000);
  int told = 0;
  for (std::int64_t point = 0; point < points; ++point) {
    const std::int64_t n = 1 + point * needed / points;
    for (const bool lasting : {false, true}) {
      INFO("allocation " << n << " of " << needed << (lasting ? ", lasting" : ""));
      Folder folder;
      std::size_t committed = 0;
      std::optional<Error> refused;
      FaultyMemory::failed = false;
      FaultyMemory::lasting = lasting;
      FaultyMemory::left = n;
      try {
        run(folder.file(), [&] { ++committed; });
      } catch (const Error& error) {
        refused = error;
      }
      FaultyMemory::left = -1;
      if (refused) {
        ++told;
        CHECK(refused->kind() == Error::Kind::full);
        CHECK(std::string(refused->what()).find("out of memory; ") != std::string::npos);
      }
      require_whole(folder.file(), states, committed);
    }
  }
  return told;
}

TEST_CASE("memory that runs out costs what was not committed, and is told in one line") {
  CHECK(exhaust_everywhere(30) > 15);
}

TEST_CASE("memory that runs out anywhere costs what was not committed", "[long]") {
  CHECK(exhaust_everywhere(3000) > 1500);
}

}  // namespace
}  // namespace hone::db
