// The union of what several databases recorded. Rows of each table are taken from all of them at the same
// time, by their keys, so that the result does not depend on the order of the files.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

#include "db/backup.hpp"
#include "db/check.hpp"
#include "db/content.hpp"
#include "db/folder.hpp"
#include "db/snapshot.hpp"
#include "db/store_state.hpp"
#include "db/swept.hpp"
#include "db/winners.hpp"

namespace hone::db {
namespace {

/// As SQLite orders keys.
int compare(const sqlite::Statement& a, const sqlite::Statement& b, int column) {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (a.type(column) != b.type(column)) return order(a.type(column), b.type(column));
  switch (a.type(column)) {
    case SQLITE_INTEGER:
      return order(a.integer(column), b.integer(column));
    case SQLITE_FLOAT:
      return order(a.real(column), b.real(column));
    case SQLITE_TEXT:
      return a.text(column).compare(b.text(column));
    case SQLITE_BLOB: {
      const auto x = a.bytes(column), y = b.bytes(column);
      const std::size_t common = std::min(x.size(), y.size());
      const int bytes = common == 0 ? 0 : std::memcmp(x.data(), y.data(), common);
      return bytes != 0 ? bytes : order(x.size(), y.size());
    }
    default:
      return 0;
  }
}

int compare(const sqlite::Statement& a, const sqlite::Statement& b, const std::vector<int>& columns) {
  for (const int column : columns)
    if (const int difference = compare(a, b, column); difference != 0) return difference;
  return 0;
}

class Union {
 public:
  Union(const std::vector<Snapshot>& sources, Database& to, MergeReport& report)
      : sources_(sources), to_(to), report_(report) {}

  void copy(const Table& table) {
    const std::vector<int> key = key_of(table);
    std::vector<Cursor> cursors;
    for (const Snapshot& source : sources_) {
      sqlite::Connection& connection = source.connection();
      cursors.push_back({&source,
                         sqlite::Statement(connection.get(), connection.file(),
                                           fmt::format("SELECT {} FROM {} t ORDER BY {}", table.select("t"),
                                                       table.name, table.key)),
                         false});
    }
    std::erase_if(cursors, [](Cursor& cursor) { return !cursor.row.step(); });
    sqlite::Statement insert(to_.connection().get(), to_.connection().file(), table.insert);
    while (!cursors.empty()) {
      std::vector<Cursor*> same{&cursors[0]};  // those at the least key
      for (std::size_t i = 1; i < cursors.size(); ++i) {
        const int order = compare(cursors[i].row, same[0]->row, key);
        if (order < 0) same.clear();
        if (order <= 0) same.push_back(&cursors[i]);
      }
      for (const Cursor* cursor : same) require_sound(table, *cursor);
      const Cursor& chosen = choose(table, same);
      for (int column = 0; column < table.width(); ++column)
        sqlite3_bind_value(insert.get(), column + 1, sqlite3_column_value(chosen.row.get(), column));
      insert.step();
      insert.reset();
      ++report_.rows;
      if (same.size() > 1) ++report_.repeated;
      for (Cursor* cursor : same) cursor->ended = !cursor->row.step();
      std::erase_if(cursors, [](const Cursor& cursor) { return cursor.ended; });
    }
  }

 private:
  struct Cursor {
    const Snapshot* source;
    sqlite::Statement row;
    bool ended = false;
  };

  static std::vector<int> key_of(const Table& table) {
    std::vector<int> columns;
    for (std::size_t at = 0; at <= table.key.size(); at = table.key.find(',', at) + 1) {
      const std::string name = table.key.substr(at, table.key.find(',', at) - at);
      const auto found = std::find(table.columns.begin(), table.columns.end(), name);
      columns.push_back(static_cast<int>(found - table.columns.begin()));
      if (table.key.find(',', at) == std::string::npos) break;
    }
    return columns;
  }

  static void require_sound(const Table& table, const Cursor& cursor) {
    std::string fault;
    if (!sound(cursor.row, table)) fault = "it does not match its checksum";
    if (fault.empty()) fault = fault_in_content(table, cursor.row);
    if (!fault.empty())
      throw sqlite::damaged(cursor.source->file().string(),
                            fmt::format("a row of table {}: {}", table.name, fault));
  }

  /// Of rows with one key. Records of one identity are equal. Compilers need not give the same bytes twice,
  /// and two may have said something of one key in the same microsecond: there the greatest row counts,
  /// whatever the order.
  const Cursor& choose(const Table& table, const std::vector<Cursor*>& same) const {
    const Cursor* chosen = same[0];
    if (same.size() == 1) return *chosen;
    std::vector<int> all(table.columns.size());
    std::iota(all.begin(), all.end(), 0);
    for (const Cursor* other : same) {
      const int order = compare(other->row, chosen->row, all);
      if (order == 0) continue;
      const bool may_differ = &table == &tables::code_object || &table == &tables::checked_default ||
                              &table == &tables::run_end || &table == &tables::peak;
      if (!may_differ)
        throw Error(
            Error::Kind::unusable,
            fmt::format("{} and {} hold different records of one identity in table {}; one of them was "
                        "changed: run `hone db check` on both and leave that one out",
                        chosen->source->file().string(), other->source->file().string(), table.name));
      if (order > 0) chosen = other;
    }
    return *chosen;
  }

  const std::vector<Snapshot>& sources_;
  Database& to_;
  MergeReport& report_;
};

void write_union(const std::vector<Snapshot>& sources, const std::filesystem::path& part,
                 MergeReport& report) {
  Database merged(part, Access::create);
  sqlite::Connection& connection = merged.connection();
  // The file is published whole or not at all; its references are checked as a whole, below.
  connection.execute("PRAGMA journal_mode=MEMORY");
  connection.execute("PRAGMA synchronous=OFF");
  connection.execute("PRAGMA foreign_keys=OFF");
  connection.execute("PRAGMA cache_size=-262144");
  merged.write([&] {
    Union rows(sources, merged, report);
    for (const Table* table : tables::all())
      if (!tables::is_derived(*table)) rows.copy(*table);
    winners::rebuild(merged);
    swept::rebuild(merged);
  });
  const auto faults = faults_between_records(merged);
  if (!faults.empty()) {
    throw Error(
        Error::Kind::unusable,
        fmt::format("merge: what the databases hold does not fit together ({}); run `hone db check` on "
                    "each",
                    faults.front()));
  }
  connection.execute("PRAGMA journal_mode=DELETE");
}

using Key = std::tuple<Problem, Id, Regime, std::int64_t>;  // the last: alignment

std::vector<Conflict> conflicts_of(const std::vector<Snapshot>& sources, std::vector<Winner> serving) {
  std::map<Key, std::vector<Conflict>> found;
  for (const Snapshot& source : sources) {
    source.read([&] {
      Store store = Store::open(source.copy(), Access::read_only);
      std::map<Id, Device> devices;
      for (auto& [id, device] : store.devices()) devices.emplace(id, std::move(device));
      for (Winner& winner : store.winners({})) {
        const Key key{winner.problem, winner.device, winner.regime, winner.alignment};
        const Device device = devices[winner.device];
        found[key].push_back({source.file(), std::move(winner), device, std::nullopt});
      }
    });
  }
  std::map<Key, Winner> served;
  for (Winner& winner : serving) {
    const Key key{winner.problem, winner.device, winner.regime, winner.alignment};
    served.emplace(key, std::move(winner));
  }
  std::vector<Conflict> conflicts;
  for (auto& [key, of_key] : found) {
    const Configuration& first = of_key.front().winner.configuration;
    const bool agree = std::all_of(of_key.begin(), of_key.end(),
                                   [&](const Conflict& each) { return each.winner.configuration == first; });
    if (agree) continue;
    const auto now = served.find(key);
    for (Conflict& each : of_key) {
      if (now != served.end()) each.served = now->second;
      if (!each.served || each.served->configuration != each.winner.configuration)
        conflicts.push_back(std::move(each));
    }
  }
  return conflicts;
}

}  // namespace

MergeReport Store::merge(const std::vector<std::filesystem::path>& files, const std::filesystem::path& to) {
  for (const std::filesystem::path& file : files) {
    std::error_code ignored;
    if (std::filesystem::equivalent(file, to, ignored))
      throw Error(Error::Kind::unusable,
                  fmt::format("{}: is one of the databases to be merged; name a new file", to.string()));
  }
  MergeReport report;
  publish(to, [&](const std::filesystem::path& part) {
    const PrivateFolder folder(std::filesystem::absolute(to).parent_path());
    std::vector<Snapshot> sources;
    for (const std::filesystem::path& file : files)
      sources.emplace_back(file, folder.path() / fmt::format("{}.db", sources.size()));
    write_union(sources, part, report);
    Store merged = open(part, Access::read_only);
    std::vector<Winner> winners = merged.winners({});
    report.winners = static_cast<std::int64_t>(winners.size());
    report.bands = static_cast<std::int64_t>(merged.bands({}).size());
    report.portfolios = portfolios_of(merged.portfolio({}));
    report.conflicts = conflicts_of(sources, std::move(winners));
  });
  return report;
}

}  // namespace hone::db
