// hone db export: what the database holds, as text for other programs.
#include <fmt/format.h>

#include "db/store.hpp"
#include "db/text_format.hpp"
#include "tools/exit_code.hpp"
#include "tools/filters.hpp"
#include "tools/flags.hpp"
#include "tools/output_file.hpp"
#include "tools/parse.hpp"
#include "tools/t1.hpp"
#include "tools/t4.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {
namespace {

constexpr const char* selecting[] = {"family", "device", "dtype", "shape", "regime", "run", "since"};
constexpr const char* of_measurements[] = {"regime", "run", "since"};

std::int64_t export_results(const Options& options, const std::filesystem::path& to) {
  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  return write_t4(store, Filters(options, store, options.get("family", "")), to);
}

std::string export_problem(const Options& options, const std::filesystem::path& to) {
  for (const char* flag : of_measurements)
    if (options.has(flag))
      throw Error(
          ErrorCode::invalid,
          fmt::format("--{}: a T1 problem has no measurements; it selects results for --as t4", flag));
  if (!options.has("family"))
    throw Error(ErrorCode::invalid, "db export --as t1: say of which family, as in `--family relu`");
  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  return write_t1(store, Filters(options, store, options.get("family", "")), options.get("variant", ""), to);
}

std::int64_t export_everything(const Options& options, db::TextFormat format,
                               const std::filesystem::path& to) {
  for (const char* flag : selecting)
    if (options.has(flag))
      throw Error(ErrorCode::invalid,
                  fmt::format("--{}: jsonl and csv hold everything; it selects for --as t4 and t1", flag));
  return db::export_records(database_of(options), format, to);
}

}  // namespace

int database_export(const Arguments& arguments) {
  Options options(
      "db export", "FILE", "hone db export fleet.jsonl --as jsonl",
      "Writes everything recorded as text, from which `hone db import` makes the same database to the last "
      "bit: "
      "JSON Lines, a file, or CSV, a folder with a file for each table. Or writes results in the autotuning "
      "community's T4 format, with device and shape in keys of their own; what failed has its kind and no "
      "time. Or one problem in its T1 format: a folder with the space that a variant has for it on a CUDA "
      "device, and the kernel's source.");
  const std::vector<std::string> formats{"jsonl", "csv", "t4", "t1"};
  options.value("as", "FORMAT", "jsonl, csv, t4, t1; without it as FILE ends: .jsonl, .csv", formats)
      .value("family", "F", "only this family's results; whose problem")
      .value("variant", "V", "of t1: whose space, where the family has several for the device");
  add_filter_flags(options);
  add_bounds_flag(options);
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const std::filesystem::path to = options.positional()[0];
  const std::string ending = to.extension().string();
  if (!options.has("as") && ending != ".jsonl" && ending != ".csv")
    throw Error(
        ErrorCode::invalid,
        fmt::format("db export: say how {} is to be written: --as jsonl, csv, t4 or t1", to.string()));
  const std::string as =
      parse_choice("--as", options.get("as", ending.empty() ? "" : ending.substr(1)), formats);
  if (as != "t1" && options.has("variant"))
    throw Error(ErrorCode::invalid, "--variant: is for --as t1; records and results have theirs");
  require_new_file(to);
  if (as == "t1") {
    write_out(export_problem(options, to) + "\n");
    return exit_done;
  }
  const std::int64_t rows =
      as == "t4"
          ? export_results(options, to)
          : export_everything(options, as == "csv" ? db::TextFormat::csv : db::TextFormat::json_lines, to);
  write_out(fmt::format("{}: {} {}\n", to.string(), rows, as == "t4" ? "results" : "records"));
  if (rows > 0) return exit_done;
  write_error("hone: nothing matches");
  return exit_failed;
}

}  // namespace hone::tools
