// hone db check|backup: looks after the database file.
#include <fmt/format.h>

#include "db/store.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs.hpp"

namespace hone::tools {

int database_check(const Arguments& arguments) {
  Options options(
      "db check", "[FILE]", "hone db check",
      "Verifies the database: SQLite's own check, the checksum of every row, the hash of every code object, "
      "and winners against the decisions they follow from. Exit code 1 when it is damaged.");
  add_database_flag(options);
  if (!options.parse(arguments, 0, 1)) return exit_done;
  if (!options.positional().empty() && options.has("db")) {
    throw Error(ErrorCode::invalid, "db check: two files given; give FILE or --db");
  }
  const std::filesystem::path file =
      options.positional().empty() ? database_of(options) : std::filesystem::path(options.positional()[0]);
  db::Store store = db::Store::open(file, db::Access::read_only);
  const db::CheckReport report = store.check();
  for (const std::string& fault : report.faults) write_out(fault + '\n');
  write_out(report.faults.empty() ? fmt::format("{}: sound, {} rows verified\n", file.string(), report.rows)
                                  : fmt::format("{}: damaged, {} faults in {} rows\n", file.string(),
                                                report.faults.size(), report.rows));
  return report.faults.empty() ? exit_done : exit_failed;
}

int database_backup(const Arguments& arguments) {
  Options options("db backup", "TO", "hone db backup ~/hone-copy.db",
                  "Makes a consistent copy of the database while others read and write it.");
  add_database_flag(options);
  if (!options.parse(arguments, 1, 1)) return exit_done;
  const std::filesystem::path to = options.positional()[0];
  if (std::filesystem::exists(to)) {
    throw Error(ErrorCode::invalid,
                fmt::format("{}: exists already; name another file or remove it", to.string()));
  }
  db::Store store = db::Store::open(database_of(options), db::Access::read_only);
  store.backup(to);
  write_out(fmt::format("{}: copied to {}\n", store.file().string(), to.string()));
  return exit_done;
}

}  // namespace hone::tools
