#include <fmt/format.h>

#include <map>

#include "db/backup.hpp"
#include "db/check.hpp"
#include "db/content.hpp"
#include "db/database.hpp"
#include "db/swept.hpp"
#include "db/text_format.hpp"
#include "db/text_row.hpp"
#include "db/winners.hpp"

namespace hone::db {
namespace {

class Importer {
 public:
  explicit Importer(Database& to) : to_(to) {}

  void add(const Place& place, const Table& table, const Row& row) {
    ++report_.rows;
    Prepared& prepared = of(table);
    prepared.row.reset();
    row.bind_all(prepared.row);
    prepared.row.step();
    require_content(place, table, prepared.row);
    for (Reference& reference : prepared.references) {
      if (prepared.row.type(reference.column) == SQLITE_NULL) continue;
      reference.look_up.reset();
      reference.look_up.bind(1, prepared.row.bytes(reference.column));
      if (!reference.look_up.step())
        place.fail(
            fmt::format("{}.{}", table.name, table.columns[static_cast<std::size_t>(reference.column)]),
            fmt::format("there is no such {} before it", reference.table));
    }
    insert(place, table, row);
  }

  const ImportReport& report() const { return report_; }

 private:
  struct Reference {
    int column;
    std::string table;
    sqlite::Statement look_up;
  };
  struct Prepared {
    sqlite::Statement row;  ///< of what is bound to it: what it would be in the table
    std::vector<Reference> references;
  };

  sqlite::Statement statement(const std::string& sql) {
    return {to_.connection().get(), to_.connection().file(), sql};
  }

  Prepared& of(const Table& table) {
    const auto found = prepared_.find(&table);
    if (found != prepared_.end()) return found->second;
    std::string values;
    for (int i = 1; i <= table.width(); ++i) values += fmt::format("{}?{}", i == 1 ? "" : ",", i);
    Prepared prepared{statement("SELECT " + values), {}};
    sqlite::Statement list = statement(fmt::format("PRAGMA foreign_key_list({})", table.name));
    while (list.step()) {
      const std::string parent(list.text(2));
      const auto column = std::find(table.columns.begin(), table.columns.end(), list.text(3));
      prepared.references.push_back({static_cast<int>(column - table.columns.begin()), parent,
                                     statement(fmt::format("SELECT 1 FROM {} WHERE id=?1", parent))});
    }
    return prepared_.emplace(&table, std::move(prepared)).first->second;
  }

  static void require_content(const Place& place, const Table& table, const sqlite::Statement& row) {
    const std::string fault = fault_in_content(table, row);
    if (!fault.empty()) place.fail(table.name, fault);
  }

  void insert(const Place& place, const Table& table, const Row& row) {
    try {
      if (row.insert(to_.connection())) ++report_.added;
    } catch (const Error& error) {
      const bool taken = error.kind() == Error::Kind::unusable;
      if (!taken && error.kind() != Error::Kind::internal) throw;
      const bool may_differ = &table == &tables::code_object || &table == &tables::checked_default ||
                              &table == &tables::run_end || &table == &tables::peak;
      if (taken && may_differ) return;
      std::string why = error.what();
      const std::string prefix = to_.connection().file() + ": ";
      if (why.starts_with(prefix)) why.erase(0, prefix.size());
      place.fail(table.name, taken ? "the database holds another record of this identity" : why);
    }
  }

  Database& to_;
  std::map<const Table*, Prepared> prepared_;
  ImportReport report_;
};

ImportReport import_into(const std::filesystem::path& file, const std::vector<std::filesystem::path>& from) {
  Database to(file, Access::create);
  Importer importer(to);
  to.write([&] {
    for (const std::filesystem::path& each : from) {
      const auto add = [&](const Place& place, const Table& table, const Row& row) {
        importer.add(place, table, row);
      };
      if (std::filesystem::is_directory(each))
        read_csv(each, add);
      else
        read_json_lines(each, add);
    }
    const std::vector<std::string> faults = faults_between_records(to);
    if (!faults.empty())
      throw Error(Error::Kind::invalid, fmt::format("{}: its records do not fit together: {}",
                                                    from.back().string(), faults.front()));
    winners::rebuild(to);
    swept::rebuild(to);
  });
  return importer.report();
}

}  // namespace

ImportReport import_records(const std::vector<std::filesystem::path>& files,
                            const std::filesystem::path& database) {
  std::error_code ignored;
  if (std::filesystem::exists(database, ignored)) return import_into(database, files);
  ImportReport report;
  publish(database, [&](const std::filesystem::path& part) { report = import_into(part, files); });
  return report;
}

}  // namespace hone::db
