#include "db/check.hpp"

#include <fmt/format.h>

#include <set>

#include "db/content.hpp"
#include "db/one_line.hpp"
#include "db/schema.hpp"
#include "db/store_state.hpp"
#include "db/swept.hpp"
#include "db/winners.hpp"

namespace hone::db {
namespace {

constexpr std::size_t most_faults = 100;  // of one kind: a torn file has thousands

class Check {
 public:
  Check(Database& database, CheckReport& report) : database_(database), report_(report) {}

  void run() {
    part([&] { sqlite_check("PRAGMA integrity_check(100)"); });
    part([&] { schema(); });
    for (const Table* table : tables::all()) part([&] { rows(*table); });
    relations();
    part([&] {
      const winners::Rows wanted = winners::rows(database_);
      derived(derived::winners(), wanted.winners);
      derived(derived::winner_blocks(), wanted.blocks);
    });
    part([&] {
      const swept::Rows wanted = swept::rows(database_);
      derived(derived::bands(), wanted.bands);
      derived(derived::portfolio(), wanted.portfolio);
    });
  }

  void relations() {
    part([&] { foreign_keys(); });
    part([&] { decisions(); });
    part([&] { sweeps(); });
  }

 private:
  // A part that cannot go on is a fault of its own; the others still run. Each reads one moment of the
  // database by itself, so that writers need not wait for all of them.
  void part(const std::function<void()>& body) {
    before_ = report_.faults.size();
    try {
      database_.read(body);
    } catch (const Error& error) {
      report_.faults.emplace_back(error.what());
    }
  }

  void fault(std::string line) {
    const std::size_t found = report_.faults.size() - before_;
    if (found < most_faults) report_.faults.push_back(one_line(std::move(line)));
    if (found == most_faults) report_.faults.emplace_back("and more of the same kind");
  }

  sqlite::Connection& connection() { return database_.connection(); }
  sqlite::Statement statement(const std::string& sql) {
    return {connection().get(), connection().file(), sql};
  }

  void sqlite_check(const char* pragma) {
    sqlite::Statement lines = statement(pragma);
    while (lines.step()) {
      if (lines.text(0) != "ok") fault(fmt::format("SQLite: {}", lines.text(0)));
    }
  }

  void foreign_keys() {
    sqlite::Statement lines = statement("PRAGMA foreign_key_check");
    while (lines.step()) {
      fault(fmt::format("table {}: a row points to a missing row of table {}", lines.text(0), lines.text(2)));
    }
  }

  void schema() {
    const std::string differs = schema::difference(connection());
    if (!differs.empty()) fault(differs);
  }

  static std::string key(const sqlite::Statement& row) {
    if (row.type(0) != SQLITE_BLOB) return "?";
    std::string text;
    for (const std::byte byte : row.bytes(0)) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
    return text;
  }

  void rows(const Table& table) {
    sqlite::Statement row =
        statement(fmt::format("SELECT {} FROM {} t NOT INDEXED", table.select("t"), table.name));
    while (row.step()) {
      ++report_.rows;
      if (!sound(row, table)) {
        fault(fmt::format("table {}: row {} does not match its checksum", table.name, key(row)));
        continue;
      }
      const std::string wrong = fault_in_content(table, row);
      if (!wrong.empty()) fault(fmt::format("table {}: row {}: {}", table.name, key(row), wrong));
    }
  }

  void decisions() {
    sqlite::Statement tied =
        statement("SELECT " + tables::decision.select("t") + " FROM decision t NOT INDEXED");
    while (tied.step()) {
      if (!sound(tied, tables::decision)) continue;  // reported as a row already
      for (const Id& id : rows::decision(tied).tied) {
        sqlite::Query query(connection(), "SELECT 1 FROM measurement WHERE id=?1");
        if (!query->bind(1, id).step())
          fault(fmt::format("table decision: row {}: a measurement tied with its choice is missing",
                            key(tied)));
      }
    }
    sqlite::Statement row = statement(
        "SELECT d.id FROM decision d LEFT JOIN measurement m ON m.id=d.chosen LEFT JOIN run r ON r.id=d.run "
        "WHERE (m.outcome,m.problem,m.regime,m.device,r.device,d.alignment%m.alignment) IS NOT "
        "('ok',d.problem,d.regime,d.device,d.device,0)");
    while (row.step()) {
      fault(fmt::format(
          "table decision: row {}: what it chose is not a measurement for its key with outcome ok",
          key(row)));
    }
  }

  void sweeps() {
    sqlite::Statement row = statement("SELECT " + tables::sweep.select("t") + " FROM sweep t NOT INDEXED");
    while (row.step()) {
      if (!sound(row, tables::sweep)) continue;  // reported as a row already
      for (const Id& id : rows::sweep(row).points) {
        sqlite::Query query(connection(), "SELECT 1 FROM sweep_point WHERE id=?1");
        if (!query->bind(1, id).step())
          fault(fmt::format("table sweep: row {}: one of its points is missing", key(row)));
      }
    }
    sqlite::Statement point =
        statement("SELECT " + tables::sweep_point.select("t") + " FROM sweep_point t NOT INDEXED");
    while (point.step()) {
      if (!sound(point, tables::sweep_point)) continue;
      for (const Id& id : rows::sweep_point(point).measurements) {
        sqlite::Query query(connection(), "SELECT 1 FROM measurement WHERE id=?1 AND problem=?2");
        if (!query->bind(1, id).bind(2, point.id(3)).step()) {
          fault(
              fmt::format("table sweep_point: row {}: one of its measurements is missing, or of another "
                          "problem",
                          key(point)));
        }
      }
    }
  }

  void derived(const derived::DerivedTable& table, const std::vector<derived::DerivedRow>& wanted) {
    derived::Seal sealed;
    std::multiset<std::int64_t> missing;
    for (const auto& each : wanted) missing.insert(each.row.checksum());
    const std::string& name = table.rows.name;
    sqlite::Statement row =
        statement(fmt::format("SELECT {} FROM {} t NOT INDEXED", table.rows.select("t"), name));
    while (row.step()) {
      const auto regime = parse_regime(row.text(1));
      if (!regime) continue;  // its checksum is wrong and reported
      const std::int64_t checksum = row.integer(table.rows.width() - 1);
      sealed[{row.id(0), *regime}].add(checksum);
      if (const auto found = missing.find(checksum); found != missing.end())
        missing.erase(found);
      else
        fault(fmt::format("table {}: a row of device {} is not what the records say", name, key(row)));
    }
    if (!missing.empty()) fault(fmt::format("table {}: {} {}s are missing", name, missing.size(), name));
    if (derived::read_seal(database_, table) != sealed)
      fault(fmt::format("table {}: does not match the {}s", table.seal.name, name));
  }

  Database& database_;
  CheckReport& report_;
  std::size_t before_ = 0;
};

}  // namespace

std::vector<std::string> faults_between_records(Database& database) {
  CheckReport report;
  Check(database, report).relations();
  return report.faults;
}

CheckReport Store::check() {
  CheckReport report;
  Check(state_->database, report).run();
  return report;
}

}  // namespace hone::db
