#include "db/schema.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "db/backup.hpp"
#include "db/tables.hpp"

namespace hone::db::schema {
namespace {

constexpr const char* version_1 = R"sql(
CREATE TABLE device(
  id BLOB PRIMARY KEY NOT NULL CHECK(length(id) = 16),
  backend TEXT NOT NULL,
  name TEXT NOT NULL,
  architecture TEXT NOT NULL,
  compute_units INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  last_level_cache_bytes INTEGER NOT NULL,
  partition TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE environment(
  id BLOB PRIMARY KEY NOT NULL CHECK(length(id) = 16),
  items TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE text(
  id BLOB PRIMARY KEY NOT NULL CHECK(length(id) = 16),
  content TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;

CREATE TABLE template(
  id BLOB PRIMARY KEY NOT NULL CHECK(length(id) = 16),
  family TEXT NOT NULL,
  variant TEXT NOT NULL,
  source_hash BLOB NOT NULL CHECK(length(source_hash) = 16),
  manifest BLOB NOT NULL REFERENCES text(id),
  source BLOB NOT NULL REFERENCES text(id),
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE template_use(
  family TEXT NOT NULL,
  variant TEXT NOT NULL,
  used_us INTEGER NOT NULL,
  template BLOB NOT NULL REFERENCES template(id),
  checksum INTEGER NOT NULL,
  PRIMARY KEY(family, variant, used_us, template)
) STRICT, WITHOUT ROWID;

CREATE TABLE problem(
  id BLOB PRIMARY KEY NOT NULL CHECK(length(id) = 16),
  family TEXT NOT NULL,
  element_type TEXT NOT NULL,
  layout TEXT NOT NULL,
  dimensions TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE configuration(
  id BLOB PRIMARY KEY NOT NULL CHECK(length(id) = 16),
  family TEXT NOT NULL,
  variant TEXT NOT NULL,
  parameters TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE run(
  id BLOB PRIMARY KEY NOT NULL CHECK(length(id) = 16),
  started_us INTEGER NOT NULL,
  device BLOB NOT NULL REFERENCES device(id),
  environment BLOB NOT NULL REFERENCES environment(id),
  command TEXT NOT NULL,
  hone_version TEXT NOT NULL,
  seed INTEGER NOT NULL,
  settings TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE run_end(
  run BLOB NOT NULL REFERENCES run(id),
  ended_us INTEGER NOT NULL,
  how TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY(run, ended_us)
) STRICT, WITHOUT ROWID;

CREATE TABLE measurement(
  id BLOB PRIMARY KEY NOT NULL CHECK(length(id) = 16),
  run BLOB NOT NULL REFERENCES run(id),
  device BLOB NOT NULL REFERENCES device(id),
  problem BLOB NOT NULL REFERENCES problem(id),
  configuration BLOB NOT NULL REFERENCES configuration(id),
  source_hash BLOB NOT NULL CHECK(length(source_hash) = 16),
  regime TEXT NOT NULL CHECK(regime IN ('steady', 'cold')),
  stage TEXT NOT NULL CHECK(stage IN ('first_look', 'race')),
  outcome TEXT NOT NULL CHECK(outcome IN ('ok', 'raced_out', 'pruned', 'compile_failed', 'resources_exceeded',
    'launch_failed', 'wrong_result', 'wrote_outside', 'input_changed', 'over_launched', 'timed_out', 'crashed')),
  reason TEXT NOT NULL,
  alignment INTEGER NOT NULL CHECK(alignment > 0),
  launches INTEGER NOT NULL CHECK(launches >= 0),
  n INTEGER NOT NULL CHECK(n >= 0),
  minimum REAL NOT NULL,
  q1 REAL NOT NULL,
  median REAL NOT NULL,
  q3 REAL NOT NULL,
  clock_mhz INTEGER NOT NULL,
  throttled INTEGER NOT NULL CHECK(throttled IN (0, 1)),
  build_key BLOB CHECK(build_key IS NULL OR length(build_key) = 16),
  taken_us INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX measurement_known ON measurement(device, problem, source_hash, regime);
CREATE INDEX measurement_run ON measurement(run);

CREATE TABLE samples(
  measurement BLOB PRIMARY KEY NOT NULL REFERENCES measurement(id),
  data BLOB NOT NULL CHECK(length(data) % 8 = 0),
  checksum INTEGER NOT NULL
) STRICT;

CREATE TABLE decision(
  id BLOB PRIMARY KEY NOT NULL CHECK(length(id) = 16),
  run BLOB NOT NULL REFERENCES run(id),
  device BLOB NOT NULL REFERENCES device(id),
  problem BLOB NOT NULL REFERENCES problem(id),
  regime TEXT NOT NULL CHECK(regime IN ('steady', 'cold')),
  alignment INTEGER NOT NULL CHECK(alignment > 0),
  chosen BLOB NOT NULL REFERENCES measurement(id),
  incumbent BLOB REFERENCES measurement(id),
  by_default BLOB REFERENCES measurement(id),
  tied BLOB NOT NULL CHECK(length(tied) % 16 = 0),
  tie_bound REAL NOT NULL,
  decided_us INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX decision_key ON decision(device, problem, regime, alignment, decided_us);

CREATE TABLE checked_default(
  device BLOB NOT NULL REFERENCES device(id),
  family TEXT NOT NULL,
  element_type TEXT NOT NULL,
  layout TEXT NOT NULL,
  checked_us INTEGER NOT NULL,
  configuration BLOB NOT NULL REFERENCES configuration(id),
  needs_alignment INTEGER NOT NULL CHECK(needs_alignment > 0),
  source_hash BLOB NOT NULL CHECK(length(source_hash) = 16),
  build_key BLOB CHECK(build_key IS NULL OR length(build_key) = 16),
  checksum INTEGER NOT NULL,
  PRIMARY KEY(device, family, element_type, layout, checked_us)
) STRICT, WITHOUT ROWID;

CREATE TABLE code_object(
  build_key BLOB PRIMARY KEY NOT NULL CHECK(length(build_key) = 16),
  architecture TEXT NOT NULL,
  compiler TEXT NOT NULL,
  entry TEXT NOT NULL,
  hash BLOB NOT NULL CHECK(length(hash) = 16),
  bytes BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;

CREATE TABLE winner(
  device BLOB NOT NULL REFERENCES device(id),
  regime TEXT NOT NULL CHECK(regime IN ('steady', 'cold')),
  problem BLOB NOT NULL REFERENCES problem(id),
  alignment INTEGER NOT NULL,
  configuration BLOB NOT NULL REFERENCES configuration(id),
  needs_alignment INTEGER NOT NULL,
  source_hash BLOB NOT NULL,
  build_key BLOB,
  environment BLOB NOT NULL REFERENCES environment(id),
  run BLOB NOT NULL REFERENCES run(id),
  measurement BLOB NOT NULL REFERENCES measurement(id),
  decision BLOB NOT NULL REFERENCES decision(id),
  n INTEGER NOT NULL,
  minimum REAL NOT NULL,
  q1 REAL NOT NULL,
  median REAL NOT NULL,
  q3 REAL NOT NULL,
  tied INTEGER NOT NULL,
  decided_us INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY(device, regime, problem, alignment)
) STRICT, WITHOUT ROWID;

CREATE TABLE winner_seal(
  id INTEGER PRIMARY KEY NOT NULL CHECK(id = 1),
  groups BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
)sql";

constexpr const char* version_2 = R"sql(
CREATE TABLE condition(
  measurement BLOB PRIMARY KEY NOT NULL REFERENCES measurement(id),
  temperature_c INTEGER NOT NULL,
  discarded INTEGER NOT NULL CHECK(discarded >= 0),
  checksum INTEGER NOT NULL
) STRICT;
)sql";

constexpr const char* version_3 = R"sql(
CREATE TABLE sweep_point(
  id BLOB PRIMARY KEY NOT NULL CHECK(length(id) = 16),
  run BLOB NOT NULL REFERENCES run(id),
  device BLOB NOT NULL REFERENCES device(id),
  problem BLOB NOT NULL REFERENCES problem(id),
  regime TEXT NOT NULL CHECK(regime IN ('steady', 'cold')),
  working_set INTEGER NOT NULL CHECK(working_set >= 0),
  measurements BLOB NOT NULL CHECK(length(measurements) % 16 = 0),
  taken_us INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX sweep_point_key ON sweep_point(device, problem, regime, taken_us);

CREATE TABLE sweep(
  id BLOB PRIMARY KEY NOT NULL CHECK(length(id) = 16),
  run BLOB NOT NULL REFERENCES run(id),
  device BLOB NOT NULL REFERENCES device(id),
  family TEXT NOT NULL,
  element_type TEXT NOT NULL,
  layout TEXT NOT NULL,
  regime TEXT NOT NULL CHECK(regime IN ('steady', 'cold')),
  resolution REAL NOT NULL CHECK(resolution >= 1),
  points BLOB NOT NULL CHECK(length(points) % 16 = 0),
  refused BLOB NOT NULL CHECK(length(refused) % 16 = 0),
  swept_us INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX sweep_key ON sweep(device, regime, family, element_type, layout, swept_us);

CREATE TABLE band(
  device BLOB NOT NULL REFERENCES device(id),
  regime TEXT NOT NULL CHECK(regime IN ('steady', 'cold')),
  family TEXT NOT NULL,
  element_type TEXT NOT NULL,
  layout TEXT NOT NULL,
  alignment INTEGER NOT NULL,
  lo INTEGER NOT NULL,
  hi INTEGER NOT NULL CHECK(hi > lo),
  extrapolated TEXT NOT NULL CHECK(extrapolated IN ('', 'below', 'above', 'both')),
  configuration BLOB NOT NULL REFERENCES configuration(id),
  needs_alignment INTEGER NOT NULL,
  regret REAL NOT NULL,
  points INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  worst INTEGER NOT NULL,
  resolution REAL NOT NULL,
  measurement BLOB NOT NULL REFERENCES measurement(id),
  source_hash BLOB NOT NULL,
  build_key BLOB,
  environment BLOB NOT NULL REFERENCES environment(id),
  run BLOB NOT NULL REFERENCES run(id),
  sweep BLOB NOT NULL REFERENCES sweep(id),
  swept_us INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY(device, regime, family, element_type, layout, alignment, lo)
) STRICT, WITHOUT ROWID;

CREATE TABLE band_seal(
  id INTEGER PRIMARY KEY NOT NULL CHECK(id = 1),
  groups BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
)sql";

constexpr const char* version_4 = R"sql(
CREATE TABLE peak(
  device BLOB NOT NULL REFERENCES device(id),
  kind TEXT NOT NULL,
  given_us INTEGER NOT NULL,
  per_second INTEGER NOT NULL CHECK(per_second > 0),
  checksum INTEGER NOT NULL,
  PRIMARY KEY(device, kind, given_us)
) STRICT, WITHOUT ROWID;
)sql";

constexpr const char* version_5 = R"sql(
CREATE TABLE winner_block(
  device BLOB NOT NULL REFERENCES device(id),
  regime TEXT NOT NULL CHECK(regime IN ('steady', 'cold')),
  family TEXT NOT NULL,
  element_type TEXT NOT NULL,
  layout TEXT NOT NULL,
  dimensions TEXT NOT NULL,
  first_byte INTEGER NOT NULL CHECK(first_byte BETWEEN 0 AND 255),
  winners BLOB NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY(device, regime, family, element_type, layout, dimensions, first_byte)
) STRICT;

CREATE TABLE winner_block_seal(
  id INTEGER PRIMARY KEY NOT NULL CHECK(id = 1),
  groups BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
)sql";

// What two more tables held is a part of each measurement: their keys and indexes were a third of a large
// file.
constexpr const char* version_6 = R"sql(
CREATE TABLE whole_measurement(
  id BLOB PRIMARY KEY NOT NULL CHECK(length(id) = 16),
  run BLOB NOT NULL REFERENCES run(id),
  device BLOB NOT NULL REFERENCES device(id),
  problem BLOB NOT NULL REFERENCES problem(id),
  configuration BLOB NOT NULL REFERENCES configuration(id),
  source_hash BLOB NOT NULL CHECK(length(source_hash) = 16),
  regime TEXT NOT NULL CHECK(regime IN ('steady', 'cold')),
  stage TEXT NOT NULL CHECK(stage IN ('first_look', 'race')),
  outcome TEXT NOT NULL CHECK(outcome IN ('ok', 'raced_out', 'pruned', 'compile_failed', 'resources_exceeded',
    'launch_failed', 'wrong_result', 'wrote_outside', 'input_changed', 'over_launched', 'timed_out', 'crashed')),
  reason TEXT NOT NULL,
  alignment INTEGER NOT NULL CHECK(alignment > 0),
  launches INTEGER NOT NULL CHECK(launches >= 0),
  n INTEGER NOT NULL CHECK(n >= 0),
  minimum REAL NOT NULL,
  q1 REAL NOT NULL,
  median REAL NOT NULL,
  q3 REAL NOT NULL,
  clock_mhz INTEGER NOT NULL,
  throttled INTEGER NOT NULL CHECK(throttled IN (0, 1)),
  build_key BLOB CHECK(build_key IS NULL OR length(build_key) = 16),
  taken_us INTEGER NOT NULL,
  temperature_c INTEGER NOT NULL,
  discarded INTEGER NOT NULL CHECK(discarded >= 0),
  samples BLOB NOT NULL CHECK(length(samples) = 8 * n),
  checksum INTEGER NOT NULL
) STRICT;
)sql";

constexpr const char* version_6_end = R"sql(
DROP TABLE condition;
DROP TABLE samples;
DROP TABLE measurement;
ALTER TABLE whole_measurement RENAME TO measurement;
CREATE INDEX measurement_problem ON measurement(problem, device);
CREATE INDEX measurement_run ON measurement(run);
CREATE INDEX measurement_failed ON measurement(problem)
  WHERE outcome NOT IN ('ok', 'raced_out', 'pruned');
CREATE INDEX problem_family ON problem(family, element_type);
)sql";

constexpr const char* version_7 = R"sql(
CREATE TABLE portfolio(
  device BLOB NOT NULL REFERENCES device(id),
  regime TEXT NOT NULL CHECK(regime IN ('steady', 'cold')),
  family TEXT NOT NULL,
  element_type TEXT NOT NULL,
  layout TEXT NOT NULL,
  alignment INTEGER NOT NULL,
  configuration BLOB NOT NULL REFERENCES configuration(id),
  needs_alignment INTEGER NOT NULL,
  points INTEGER NOT NULL,
  regret REAL NOT NULL,
  costs BLOB NOT NULL CHECK(length(costs) % 24 = 0),
  measurement BLOB NOT NULL REFERENCES measurement(id),
  source_hash BLOB NOT NULL,
  build_key BLOB,
  environment BLOB NOT NULL REFERENCES environment(id),
  run BLOB NOT NULL REFERENCES run(id),
  sweep BLOB NOT NULL REFERENCES sweep(id),
  swept_us INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY(device, regime, family, element_type, layout, alignment, configuration)
) STRICT, WITHOUT ROWID;

CREATE TABLE portfolio_seal(
  id INTEGER PRIMARY KEY NOT NULL CHECK(id = 1),
  groups BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
)sql";

// A run's measurements are found through its problems; races, of which there are few, by themselves.
constexpr const char* version_8 = R"sql(
DROP INDEX measurement_problem;
DROP INDEX measurement_run;
CREATE INDEX measurement_problem ON measurement(problem, device, run);
CREATE INDEX measurement_raced ON measurement(problem, device, regime)
  WHERE stage = 'race' AND outcome = 'ok';
)sql";

// Each row is verified before it gets a checksum of its new form.
void join_measurements(sqlite::Connection& connection) {
  namespace before = tables::before_6;
  {
    sqlite::Statement row(
        connection.get(), connection.file(),
        fmt::format("SELECT {},{},{} FROM measurement m LEFT JOIN condition c ON c.measurement=m.id "
                    "LEFT JOIN samples s ON s.measurement=m.id ORDER BY m.rowid",
                    before::measurement.select("m"), before::condition.select("c"),
                    before::samples.select("s")));
    const std::string insert = [] {
      std::string sql = "INSERT INTO whole_measurement VALUES(";
      for (int i = 0; i < tables::measurement.width(); ++i) sql += i == 0 ? "?" : ",?";
      return sql + ")";
    }();
    sqlite::Statement whole(connection.get(), connection.file(), insert);
    const int condition = before::measurement.width(), samples = condition + before::condition.width();
    while (row.step()) {
      verify(row, before::measurement);
      if (row.type(condition) != SQLITE_NULL) verify(row, before::condition, condition);
      if (row.type(samples) != SQLITE_NULL) verify(row, before::samples, samples);
      Row joined(tables::measurement);
      for (int column = 0; column < condition - 1; ++column) joined.append(row, column);
      const bool told = row.type(condition) != SQLITE_NULL;
      joined << (told ? row.integer(condition + 1) : 0) << (told ? row.integer(condition + 2) : 0);
      if (row.type(samples) == SQLITE_NULL)
        joined << std::span<const std::byte>();
      else
        joined.append(row, samples + 1);
      whole.reset();
      joined.bind_all(whole);
      whole.step();
    }
  }
  connection.execute(version_6_end);
}

constexpr Step history[] = {{1, version_1}, {2, version_2}, {3, version_3},
                            {4, version_4}, {5, version_5}, {6, version_6, join_measurements},
                            {7, version_7}, {8, version_8}};

/// What is recorded, by the version that made its table as it is.
constexpr std::pair<std::int64_t, const char*> recorded[] = {
    {1, "device"},          {1, "environment"},   {1, "text"},        {1, "template"},   {1, "template_use"},
    {1, "problem"},         {1, "configuration"}, {1, "run"},         {1, "run_end"},    {1, "measurement"},
    {1, "samples"},         {1, "decision"},      {1, "code_object"}, {2, "condition"},  {3, "sweep_point"},
    {1, "checked_default"}, {3, "sweep"},         {4, "peak"},        {6, "measurement"}};

// Nothing may change or delete what was recorded. Derived tables are free; code objects may be packed away.
void forbid_changes(sqlite::Connection& connection, std::int64_t version) {
  for (const auto& [since, table] : recorded) {
    if (since != version) continue;
    connection.execute(fmt::format("CREATE TRIGGER {0}_is_never_changed BEFORE UPDATE ON {0} BEGIN "
                                   "SELECT RAISE(ABORT, 'table {0} is append-only'); END",
                                   table)
                           .c_str());
    if (table == tables::code_object.name) continue;
    connection.execute(fmt::format("CREATE TRIGGER {0}_is_never_deleted BEFORE DELETE ON {0} BEGIN "
                                   "SELECT RAISE(ABORT, 'table {0} is append-only'); END",
                                   table)
                           .c_str());
  }
}

void seal_nothing(sqlite::Connection& connection, const Table& seal) {
  Row empty(seal);
  empty << std::int64_t{1} << std::span<const std::byte>();
  empty.insert(connection);
}

void apply(sqlite::Connection& connection, const Step& step) {
  connection.execute(step.sql);
  if (step.move != nullptr) step.move(connection);
  forbid_changes(connection, step.version);
  if (step.version == 1) {
    seal_nothing(connection, tables::winner_seal);
    connection.execute(fmt::format("PRAGMA application_id={}", application_id).c_str());
  }
  if (step.version == 3) seal_nothing(connection, tables::band_seal);
  if (step.version == 5) seal_nothing(connection, tables::winner_block_seal);
  if (step.version == 7) seal_nothing(connection, tables::portfolio_seal);
  connection.execute(fmt::format("PRAGMA user_version={}", step.version).c_str());
}

std::map<std::string, std::string> objects(sqlite::Connection& connection) {
  std::map<std::string, std::string> found;
  sqlite::Statement list(
      connection.get(), connection.file(),
      "SELECT type || ' ' || name, coalesce(tbl_name || ': ' || sql, '') FROM sqlite_schema");
  while (list.step()) found.emplace(list.text(0), list.text(1));
  return found;
}

// The objects that the steps make in an empty file.
std::map<std::string, std::string> model(std::span<const Step> steps) {
  sqlite::Connection empty("the model of the schema", sqlite::Mode::memory);
  for (const Step& step : steps) apply(empty, step);
  return objects(empty);
}

enum class Standing { empty, older, current };

// Where the file stands; throws for a file that no step leads on from.
Standing standing(sqlite::Connection& connection, std::span<const Step> steps) {
  const std::int64_t version = connection.integer("PRAGMA user_version");
  const std::int64_t application = connection.integer("PRAGMA application_id");
  const std::int64_t latest = steps.back().version;
  using Kind = Error::Kind;
  if (application != application_id && application != pack_application_id) {
    if (application == 0 && version == 0 && connection.integer("SELECT count(*) FROM sqlite_schema") == 0) {
      return Standing::empty;
    }
    throw Error(Kind::unusable,
                fmt::format("{}: an SQLite database, but not one of hone's (application id {:#x}); "
                            "name another file",
                            connection.file(), application));
  }
  if (version > latest) {
    throw Error(Kind::unusable,
                fmt::format("{}: its schema has version {}, newer than the {} that this hone knows; "
                            "use a newer hone, or name another file",
                            connection.file(), version, latest));
  }
  if (version < 1) {
    throw sqlite::damaged(connection.file(), fmt::format("its schema version is {}", version));
  }
  return version < latest ? Standing::older : Standing::current;
}

void require_same(sqlite::Connection& connection, std::span<const Step> steps) {
  const std::string differs = difference(connection, steps);
  if (!differs.empty()) throw sqlite::damaged(connection.file(), differs);
}

// A step may put another table in the place of one that others point to, which SQLite allows where it does
// not watch them.
class WithoutForeignKeys {
 public:
  explicit WithoutForeignKeys(sqlite::Connection& connection) : connection_(connection) {
    connection_.execute("PRAGMA foreign_keys=OFF");
  }
  ~WithoutForeignKeys() { connection_.try_execute("PRAGMA foreign_keys=ON"); }
  WithoutForeignKeys(const WithoutForeignKeys&) = delete;
  WithoutForeignKeys& operator=(const WithoutForeignKeys&) = delete;

 private:
  sqlite::Connection& connection_;
};

void require_references(sqlite::Connection& connection) {
  sqlite::Statement broken(connection.get(), connection.file(), "PRAGMA foreign_key_check");
  if (broken.step())
    throw sqlite::damaged(connection.file(), fmt::format("table {} points to a missing row of table {}",
                                                         broken.text(0), broken.text(2)));
}

}  // namespace

std::span<const Step> steps() {
  return history;
}

std::string difference(sqlite::Connection& connection, std::span<const Step> steps) {
  // The schema of this library's own steps is made once a process: databases are opened often.
  static const std::map<std::string, std::string> latest = model(history);
  const auto found = objects(connection);
  const bool own = steps.data() == history && steps.size() == std::size(history);
  const auto wanted = own ? latest : model(steps);
  for (const auto& [name, sql] : wanted) {
    const auto same = found.find(name);
    if (same == found.end()) return fmt::format("its schema lacks the {}", name);
    if (same->second != sql) return fmt::format("its schema has another {} than hone wrote", name);
  }
  // A trigger runs with what hone writes, a view or an index with what it reads; whoever sent the file may
  // have put them there. SQLite's own statistics are data.
  for (const auto& [name, sql] : found)
    if (!wanted.contains(name) && !name.starts_with("table sqlite_stat"))
      return fmt::format("its schema has a {} that hone did not write", name);
  return {};
}

void require_current(sqlite::Connection& connection, std::span<const Step> steps) {
  using Kind = Error::Kind;
  switch (standing(connection, steps)) {
    case Standing::empty:
      throw Error(Kind::unusable,
                  fmt::format("{}: holds no tuning database yet; create it with `hone tune FAMILY`",
                              connection.file()));
    case Standing::older:
      if (connection.integer("PRAGMA application_id") == pack_application_id)
        throw Error(Kind::unusable, fmt::format("{}: a pack whose schema is older than version {}; pack it "
                                                "again with this hone",
                                                connection.file(), steps.back().version));
      throw Error(
          Kind::unusable,
          fmt::format(
              "{}: its schema is older than version {}; run `hone tune` on it where the "
              "file can be written, which migrates it after a backup, or `hone db merge FILE -o NEW`, which "
              "migrates a copy",
              connection.file(), steps.back().version));
    case Standing::current:
      break;
  }
  require_same(connection, steps);
}

bool is_older(sqlite::Connection& connection) {
  return standing(connection, history) == Standing::older;
}

void create_or_migrate(sqlite::Connection& connection, std::span<const Step> steps,
                       const std::function<void()>& derive) {
  {
    sqlite::Transaction look(connection, sqlite::Transaction::Kind::read);
    const Standing now = standing(connection, steps);
    if (now == Standing::current) return require_same(connection, steps);
    if (now == Standing::older) {
      const std::int64_t version = connection.integer("PRAGMA user_version");
      std::filesystem::path copy = fmt::format("{}.version-{}", connection.file(), version);
      for (int i = 2; std::filesystem::exists(copy); ++i) {
        copy = fmt::format("{}.version-{}.{}", connection.file(), version, i);
      }
      copy_database(connection, copy);
    }
  }
  const WithoutForeignKeys rebuilding(connection);
  sqlite::Transaction transaction(connection, sqlite::Transaction::Kind::write);
  // Another process may have been quicker.
  const Standing now = standing(connection, steps);
  const std::int64_t version = now == Standing::empty ? 0 : connection.integer("PRAGMA user_version");
  for (const Step& step : steps) {
    if (step.version > version) apply(connection, step);
  }
  require_same(connection, steps);
  require_references(connection);
  // What a later version derives from the records of an earlier one.
  if (now == Standing::older && derive) derive();
  transaction.commit();
}

}  // namespace hone::db::schema
