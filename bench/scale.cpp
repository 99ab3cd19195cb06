// A database of ten million measurements: how large it is, and how long what people ask of it takes.
#include <fmt/format.h>
#include <sys/wait.h>

#include <chrono>

#include "bench/fleet.hpp"
#include "bench/rig.hpp"
#include "hone/error.hpp"
#include "tools/exit_code.hpp"
#include "tools/parse.hpp"

namespace hone::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void generate(const std::filesystem::path& file, std::int64_t measurements) {
  constexpr std::int64_t devices = 16;
  FleetPlan plan;
  plan.configurations = 1;
  plan.configurations =
      std::max<std::int64_t>(1, measurements / devices / Fleet(plan, 0).measurements_of_device());
  const auto start = Clock::now();
  Fleet fleet(plan, 1);
  db::Store store = db::Store::open(file, db::Access::create);
  std::int64_t written = 0;
  for (std::int64_t i = 0; i < devices; ++i) {
    written += fleet.tune(store, Fleet::device(i));
    fmt::print(stderr, "{} measurements, {:.0f} s\n", written, seconds_since(start));
  }
  fmt::print("{} measurements written in {:.0f} s\n", written, seconds_since(start));
}

/// Runs the hone command beside this program, its output counted in lines.
std::pair<double, std::int64_t> timed(const std::string& words, const std::filesystem::path& file) {
  const std::filesystem::path hone = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "hone";
  const std::string command =
      fmt::format("'{}' {} --db '{}' --format csv", hone.string(), words, file.string());
  const auto start = Clock::now();
  FILE* const out = ::popen(command.c_str(), "r");
  if (out == nullptr) throw Error(ErrorCode::environment, "cannot run hone");
  std::int64_t lines = 0;
  for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out)) lines += c == '\n';
  const int status = ::pclose(out);
  const double seconds = seconds_since(start);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(ErrorCode::failed, fmt::format("`{}` failed", command));
  return {seconds, lines - 1};
}

int measure(const tools::Options& options) {
  if (options.positional().size() != 1)
    throw Error(ErrorCode::invalid, "give the file, as in `bench_scale /var/tmp/scale.db`");
  const std::filesystem::path file = options.positional()[0];
  if (!std::filesystem::exists(file))
    generate(file, tools::parse_integer("--measurements", options.get("measurements", "10000000"), 100'000));
  fmt::print("file: {:.2f} GB\n", static_cast<double>(std::filesystem::file_size(file)) / 1e9);
  auto start = Clock::now();
  db::Store store = db::Store::open(file, db::Access::read_only);
  fmt::print("open: {:.3f} s\n", seconds_since(start));
  start = Clock::now();
  std::size_t blocks = 0;
  store.winner_blocks(Fleet::device(3).id(), db::Regime::steady,
                      [&](const db::WinnerBlock& block) { blocks += block.size(); });
  fmt::print("a device's winners, as the runtime reads them: {:.3f} s, {} winners\n", seconds_since(start),
             blocks);
  const auto runs = store.runs();
  // In the middle, and of the family that is asked for below.
  std::string run;
  for (std::size_t i = runs.size() / 2; run.empty(); ++i)
    if (runs.at(i).first.command.starts_with("hone tune relu ")) run = runs[i].first.id.hex();
  const std::vector<std::string> filters{"relu",
                                         "--device '#3'",
                                         "--dtype f16",
                                         "--regime cold",
                                         "--run " + run,
                                         "--since '2023-11-15 03:00'",
                                         "--shape numel=4194304"};
  const char* const device = " --device '#3'";
  fmt::print("query,seconds,rows\n");
  for (const char* verb : {"winners", "bands", "failures", "stale", "runs"})
    for (const std::string& filter : filters) {
      // Bands are of all shapes.
      if (verb == std::string("bands") && filter.starts_with("--shape")) continue;
      const auto [seconds, rows] = timed(fmt::format("query {} {}", verb, filter), file);
      fmt::print("{} {},{:.2f},{}\n", verb, filter, seconds, rows);
    }
  for (const std::string& words : {std::string("query runs"), std::string("query winners")}) {
    const auto [seconds, rows] = timed(words, file);
    fmt::print("{},{:.2f},{}\n", words.substr(6), seconds, rows);
  }
  for (const std::string verb : {"ladder relu", "importance relu", "pivot relu --rows block --cols unroll",
                                 "gain relu --parameter store --from default --to nt"})
    for (const std::string& filter :
         {std::string(device), "--run " + run, std::string("--shape numel=4194304"),
          std::string("--dtype f16"), std::string("--regime cold"), std::string()}) {
      const auto [seconds, rows] = timed(fmt::format("query {} {}", verb, filter), file);
      fmt::print("{} {},{:.2f},{}\n", verb, filter, seconds, rows);
    }
  return tools::exit_done;
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  hone::tools::Options options(
      "bench_scale", "FILE", "bench_scale /var/tmp/scale.db",
      "Writes a database of ten million measurements where FILE is not there, and times "
      "what is asked of it.");
  options.value("measurements", "N", "how many (10000000)");
  return hone::bench::run(argc, argv, options, hone::bench::measure);
}
