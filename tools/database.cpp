// hone db check|backup: looks after the database file.
#include <fmt/format.h>

#include "db/folder.hpp"
#include "db/schema.hpp"
#include "db/snapshot.hpp"
#include "db/store.hpp"
#include "runtime/plural.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/output_file.hpp"
#include "tools/terminal.hpp"
#include "tools/units.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {
namespace {

/// The schema's version where the file is a tuning database of an older one.
std::optional<std::int64_t> older_version(const std::filesystem::path& file) {
  try {
    db::sqlite::Connection connection(file, db::sqlite::Mode::read_only);
    const std::int64_t version = connection.integer("PRAGMA user_version");
    const bool ours = connection.integer("PRAGMA application_id") == db::schema::application_id;
    if (ours && version > 0 && version < db::schema::steps().back().version) return version;
  } catch (const db::Error&) {
    // Whoever opened it before says why it cannot be used.
  }
  return std::nullopt;
}

/// A fault without the advice to run the check that is under way.
std::string without_advice(std::string fault) {
  const std::string advice = "run `hone db check`, then ";
  if (const std::size_t at = fault.find(advice); at != std::string::npos) fault.erase(at, advice.size());
  return fault;
}

/// Of an older schema a copy is migrated and checked; the file stays as it is. Damage that keeps a database
/// from being opened is a fault like others.
db::CheckReport check(const std::filesystem::path& file, bool older) {
  db::CheckReport report;
  try {
    if (older) {
      const db::PrivateFolder folder(db::temporary_folder());
      const db::Snapshot snapshot(file, folder.path() / file.filename());
      snapshot.read([&] { report = db::Store::open(snapshot.copy(), db::Access::read_only).check(); });
      for (std::string& fault : report.faults) fault = snapshot.told_of_file(fault);
    } else {
      report = db::Store::open(file, db::Access::read_only).check();
    }
  } catch (const db::Error& error) {
    if (!error.is_damage()) throw;
    report.faults.emplace_back(error.what());
  }
  for (std::string& fault : report.faults) fault = without_advice(fault);
  return report;
}

}  // namespace

int database_check(const Arguments& arguments) {
  Options options(
      "db check", "[FILE]", "hone db check",
      "Verifies the database: SQLite's own check, the checksum of every row, the hash of every code object, "
      "and winners against the decisions they follow from. A database of an older schema is checked as a "
      "migrated copy and stays as it is. Exit code 1 when it is damaged.");
  add_database_flag(options);
  if (!options.parse(arguments, 0, 1)) return exit_done;
  if (!options.positional().empty() && options.has("db")) {
    throw Error(ErrorCode::invalid, "db check: two files given; give FILE or --db");
  }
  const std::filesystem::path file =
      options.positional().empty() ? database_of(options) : std::filesystem::path(options.positional()[0]);
  const std::optional<std::int64_t> older = older_version(file);
  const db::CheckReport report = check(file, older.has_value());
  for (const std::string& fault : report.faults) write_out(fault + '\n');
  const auto faults = static_cast<std::int64_t>(report.faults.size());
  std::string line =
      fmt::format("{}: {}", file.string(),
                  faults == 0 ? fmt::format("sound, {} verified", plural(report.rows, "row"))
                              : fmt::format("damaged, {} in {}; restore a backup", plural(faults, "fault"),
                                            plural(report.rows, "row")));
  if (older)
    line += fmt::format(
        "; its schema is version {}, which the next `hone tune` into it makes version {}, after "
        "a backup",
        *older, db::schema::steps().back().version);
  write_out(line + '\n');
  return report.faults.empty() ? exit_done : exit_failed;
}

int database_backup(const Arguments& arguments) {
  Options options("db backup", "TO", "hone db backup ~/hone-copy.db",
                  "Makes a consistent copy of the database while others read and write it.");
  add_database_flag(options);
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const std::filesystem::path to = options.positional()[0];
  require_new_file(to);
  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  store.backup(to);
  write_out(fmt::format("{}: copied to {}\n", store.file().string(), to.string()));
  return exit_done;
}

}  // namespace hone::tools
