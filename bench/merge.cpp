// How long it takes to merge the databases of a fleet.
#include <fmt/format.h>

#include <chrono>

#include "bench/fleet.hpp"
#include "bench/rig.hpp"
#include "db/folder.hpp"
#include "tools/exit_code.hpp"
#include "tools/parse.hpp"

namespace hone::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int measure(const tools::Options& options) {
  const std::int64_t databases = tools::parse_integer("--databases", options.get("databases", "10"), 1, 1000);
  const std::int64_t measurements =
      tools::parse_integer("--measurements", options.get("measurements", "100000"), 3000);
  const db::PrivateFolder folder(options.get("folder", "."));
  FleetPlan plan;
  plan.problems = 10;
  plan.configurations = std::max<std::int64_t>(
      1, measurements / static_cast<std::int64_t>(plan.families.size() * plan.element_types.size() *
                                                  plan.regimes.size() * 10));
  std::vector<std::filesystem::path> files;
  std::int64_t recorded = 0;
  double megabytes = 0;
  auto start = Clock::now();
  for (std::int64_t i = 0; i < databases; ++i) {
    files.push_back(folder.path() / fmt::format("{}.db", i));
    db::Store store = db::Store::open(files.back(), db::Access::create);
    // Two machines in a row have the same card: they have different winners for the same keys.
    recorded += Fleet(plan, static_cast<std::uint64_t>(i)).tune(store, Fleet::device(i / 2));
    megabytes += static_cast<double>(std::filesystem::file_size(files.back())) / 1e6;
  }
  fmt::print("{} databases, {} measurements, {:.0f} MB, written in {:.1f} s\n", databases, recorded,
             megabytes, seconds_since(start));
  const std::filesystem::path to = folder.path() / "merged.db";
  start = Clock::now();
  const db::MergeReport report = db::Store::merge(files, to);
  const double merging = seconds_since(start);
  fmt::print("merged in {:.1f} s: {} rows, {} in more than one, {} winners, {} in conflict, {:.0f} MB\n",
             merging, report.rows, report.repeated, report.winners, report.conflicts.size(),
             static_cast<double>(std::filesystem::file_size(to)) / 1e6);
  start = Clock::now();
  const auto faults = db::Store::open(to, db::Access::read_only).check().faults;
  fmt::print("checked in {:.1f} s: {} faults\n", seconds_since(start), faults.size());
  return faults.empty() ? tools::exit_done : tools::exit_failed;
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  hone::tools::Options options("bench_merge", "", "bench_merge --databases 10 --measurements 100000",
                               "Writes a fleet's databases and merges them.");
  options.value("databases", "N", "how many (10)")
      .value("measurements", "N", "in each (100000)")
      .value("folder", "DIR", "where there is room for them twice, until it ends (here)");
  return hone::bench::run(argc, argv, options, hone::bench::measure);
}
