// hone db import: what hone and other tuners wrote as text, into the database.
#include <fmt/format.h>

#include "db/store.hpp"
#include "db/text_format.hpp"
#include "runtime/plural.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/parse.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tuner/external_space.hpp"

namespace hone::tools {
namespace {

tuner::ExternalSettings settings_of(const Options& options) {
  tuner::ExternalSettings settings;
  const std::vector<std::string> types = element_types_of(options);
  if (types.size() > 1) throw Error(ErrorCode::invalid, "--dtype: a problem has one element type");
  if (!types.empty()) settings.element_type = types[0];
  settings.family = options.get("family", "");
  if (options.has("working-set"))
    settings.working_set = parse_bytes("--working-set", options.get("working-set", ""));
  settings.command = command_line("db import", options.positional());
  return settings;
}

int import_spaces(const Options& options) {
  const tuner::ExternalSettings settings = settings_of(options);
  if (settings.element_type.empty())
    throw Error(
        ErrorCode::invalid,
        "db import: a cache does not say its element type; give it, as in `--as kernel-tuner --dtype f32`");
  db::Store store = db::Store::open(database_of(options), db::Access::create);
  for (const std::string& file : options.positional()) {
    const tuner::KernelTunerCache cache(file);
    const tuner::ExternalSummary summary = tuner::import_external(cache, settings, store);
    write_out(fmt::format("{}: {} on {}: {}, {} failed{}\n", file, summary.family, cache.device(),
                          plural(summary.measured, "configuration"), summary.failed,
                          summary.known ? ", all there already" : ""));
  }
  return exit_done;
}

int import_problems(const Options& options) {
  const tuner::ExternalSettings settings = settings_of(options);
  std::vector<tuner::T1Problem> problems;
  for (const std::string& file : options.positional()) problems.push_back(tuner::read_t1(file));
  db::Store store = db::Store::open(database_of(options), db::Access::create);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const db::Problem problem = tuner::import_external(problems[i], settings, store);
    write_out(fmt::format("{}: {}: {}, {}\n", options.positional()[i], problem.text(),
                          plural(problems[i].parameters.size(), "parameter"),
                          plural(problems[i].constraints.size(), "condition")));
  }
  return exit_done;
}

}  // namespace

int database_import(const Arguments& arguments) {
  Options options(
      "db import", "FILE...", "hone db import fleet.jsonl --db copy.db",
      "Adds what `hone db export` wrote (JSON Lines, or a folder of CSV) to the database, all of "
      "it or nothing, "
      "and derives winners and bands again. With --as kernel-tuner, the measured spaces of "
      "Kernel Tuner's cache "
      "files, as a family whose device is no device of hone's: they are there to be queried, and "
      "serve nothing. With --as t1, problems in the autotuning community's T1 format and the spaces "
      "of their kernels, of which nothing is measured.");
  const std::vector<std::string> formats{"records", "kernel-tuner", "t1"};
  options
      .value("as", "FORMAT", "records (what `hone db export` writes), kernel-tuner or t1 (records)", formats)
      .value("family", "F", "what to call the family, instead of its kernel's name")
      .value("working-set", "BYTES", "what the problem moves at least once, for GB/s");
  add_type_flag(options);
  add_database_flag(options);
  if (!options.parse(arguments, 1, 1000)) return exit_done;
  const std::string as = parse_choice("--as", options.get("as", "records"), formats);
  if (as == "kernel-tuner") return import_spaces(options);
  if (as == "t1") return import_problems(options);
  for (const char* flag : {"family", "working-set", "dtype"})
    if (options.has(flag))
      throw Error(ErrorCode::invalid,
                  fmt::format("--{}: is for --as kernel-tuner and t1; records have their own", flag));
  const std::filesystem::path database = database_of(options);
  const db::ImportReport report =
      db::import_records({options.positional().begin(), options.positional().end()}, database);
  write_out(
      fmt::format("{}: {} read, {} new\n", database.string(), plural(report.rows, "record"), report.added));
  return exit_done;
}

}  // namespace hone::tools
