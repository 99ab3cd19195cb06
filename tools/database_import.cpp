// hone db import: what hone and other tuners wrote as text, into the database.
#include <fmt/format.h>

#include "db/store.hpp"
#include "db/text_format.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/parse.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"
#include "tuner/external_space.hpp"

namespace hone::tools {
namespace {

int import_spaces(const Options& options) {
  tuner::ExternalSettings settings;
  const std::vector<std::string> types = element_types_of(options);
  if (types.size() != 1)
    throw Error(
        ErrorCode::invalid,
        "db import: a cache does not say its element type; give it, as in `--as kernel-tuner --dtype f32`");
  settings.element_type = types[0];
  settings.family = options.get("family", "");
  if (options.has("working-set"))
    settings.working_set = parse_bytes("--working-set", options.get("working-set", ""));
  settings.command = command_line("db import", options.positional());
  db::Store store = db::Store::open(database_of(options), db::Access::create);
  for (const std::string& file : options.positional()) {
    const tuner::KernelTunerCache cache(file);
    const tuner::ExternalSummary summary = tuner::import_external(cache, settings, store);
    write_out(fmt::format("{}: {} on {}: {} configurations, {} failed{}\n", file, summary.family,
                          cache.device(), summary.measured, summary.failed,
                          summary.known ? ", all there already" : ""));
  }
  return exit_done;
}

}  // namespace

int database_import(const Arguments& arguments) {
  Options options("db import", "FILE...", "hone db import fleet.jsonl --db copy.db",
                  "Adds what `hone db export` wrote (JSON Lines, or a folder of CSV) to the database, all of "
                  "it or nothing, "
                  "and derives winners and bands again. With --as kernel-tuner, the measured spaces of "
                  "Kernel Tuner's cache "
                  "files, as a family whose device is no device of hone's: they are there to be queried, and "
                  "serve nothing.");
  options.value("as", "FORMAT", "records (what `hone db export` writes) or kernel-tuner (records)")
      .value("family", "F", "what to call a cache's family, instead of its kernel's name")
      .value("working-set", "BYTES", "what a cache's problem moves at least once, for GB/s");
  add_type_flag(options);
  add_database_flag(options);
  if (!options.parse(arguments, 1, 1000)) return exit_done;
  if (parse_choice("--as", options.get("as", "records"), {"records", "kernel-tuner"}) == "kernel-tuner")
    return import_spaces(options);
  for (const char* flag : {"family", "working-set", "dtype"})
    if (options.has(flag))
      throw Error(ErrorCode::invalid,
                  fmt::format("--{}: is for --as kernel-tuner; records have their own", flag));
  const std::filesystem::path database = database_of(options);
  const db::ImportReport report =
      db::import_records({options.positional().begin(), options.positional().end()}, database);
  write_out(fmt::format("{}: {} records read, {} new\n", database.string(), report.rows, report.added));
  return exit_done;
}

}  // namespace hone::tools
