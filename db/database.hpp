// An open tuning database: its connection, how it was opened, and the transactions that its operations run
// in.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "db/records.hpp"
#include "db/sqlite.hpp"
#include "db/store.hpp"
#include "db/tables.hpp"

namespace hone::db {

class Database {
 public:
  Database(const std::filesystem::path& file, Access access);

  const std::filesystem::path& file() const { return file_; }
  sqlite::Connection& connection() { return connection_; }

  /// Runs `body` on one moment of the database. Rolls back what a killed writer left half done.
  void read(const std::function<void()>& body);
  /// Runs `body` as one unit: committed when it returns, rolled back when it throws.
  void write(const std::function<void()>& body);

 private:
  std::filesystem::path file_;
  sqlite::Connection connection_;
};

/// Where a database can be read as it is at one moment, for as long as it takes: `to`, a copy for this
/// process alone, migrated where its schema is older; `file` itself where it is a pack, which nothing writes.
/// Nothing waits for the disk. Throws for what opening refuses.
std::filesystem::path settle(const std::filesystem::path& file, const std::filesystem::path& to);

// Records as they are read back, each verified against its checksum and, where it has one, its content id.
namespace rows {
Device device(const sqlite::Statement& row, int first = 0);
Environment environment(const sqlite::Statement& row, int first = 0);
Problem problem(const sqlite::Statement& row, int first = 0);
Configuration configuration(const sqlite::Statement& row, int first = 0);
Run run(const sqlite::Statement& row, int first = 0);
/// Without its samples.
Measurement measurement(const sqlite::Statement& row, int first = 0);
/// Of a measurement's row, which measurement() has verified.
std::vector<double> samples(const sqlite::Statement& row, int first = 0);
Decision decision(const sqlite::Statement& row, int first = 0);
SweepPoint sweep_point(const sqlite::Statement& row, int first = 0);
Sweep sweep(const sqlite::Statement& row, int first = 0);
}  // namespace rows

/// Reads records by id, each once. What it gives stays where it is.
class Lookup {
 public:
  explicit Lookup(Database& database) : database_(database) {}
  const Device& device(const Id& id);
  const Problem& problem(const Id& id);
  const Configuration& configuration(const Id& id);
  const Run& run(const Id& id);

 private:
  Database& database_;
  std::unordered_map<Id, Device, IdHash> devices_;
  std::unordered_map<Id, Problem, IdHash> problems_;
  std::unordered_map<Id, Configuration, IdHash> configurations_;
  std::unordered_map<Id, Run, IdHash> runs_;
};

/// Ids one after another, as columns that list several hold them.
std::vector<std::byte> concatenated(const std::vector<Id>& ids);

/// Microseconds since 1970, UTC.
std::int64_t now_us();

}  // namespace hone::db
