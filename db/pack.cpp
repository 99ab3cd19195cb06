#include "db/pack.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <set>

#include "db/backup.hpp"
#include "db/derived.hpp"
#include "db/schema.hpp"
#include "db/store_state.hpp"
#include "db/swept.hpp"
#include "db/winners.hpp"

namespace hone::db {
namespace {

class Packer {
 public:
  Packer(Database& from, Database& to) : from_(from), to_(to) {}

  void run(const std::vector<Id>& devices) {
    for (const Id& device : devices) {
      winners(device);
      sweeps(device);
      defaults(device, *from_device(device));
      peaks(device);
    }
    for (const std::string& family : families_) templates(family);
    to_.write([&] {
      // In the order in which rows point to each other.
      copy(tables::device, devices_);
      copy(tables::environment, environments_);
      copy(tables::text, texts_);
      copy(tables::template_, templates_);
      copy(tables::problem, problems_);
      copy(tables::configuration, configurations_);
      copy(tables::run, runs_);
      copy(tables::measurement, measurements_);
      copy(tables::decision, decisions_);
      copy(tables::sweep_point, points_);
      copy(tables::sweep, sweeps_);
      copy(tables::code_object, build_keys_);
      for (const Id& run : runs_)
        copy(tables::run_end, "t.run=?1", [&](sqlite::Statement& query) { query.bind(1, run); });
      for (const auto& each : rows_) copy(*each.table, each.where, each.bind);
      winners::rebuild(to_);
      swept::rebuild(to_);
    });
  }

 private:
  using Bind = std::function<void(sqlite::Statement&)>;
  struct Rows {
    const Table* table;
    std::string where;
    Bind bind;
  };

  /// The row of that id, which others point to: `missing` says so of the database where it is not there.
  template <typename Row>
  Row row(const Table& table, const Id& id, Row (*read)(const sqlite::Statement&, int), const char* missing) {
    sqlite::Query query(from_.connection(),
                        fmt::format("SELECT {} FROM {} t WHERE t.id=?1", table.select("t"), table.name));
    query->bind(1, id);
    if (!query->step()) throw sqlite::damaged(from_.connection().file(), missing);
    return read(*query, 0);
  }

  std::optional<Device> from_device(const Id& id) {
    sqlite::Query query(from_.connection(),
                        "SELECT " + tables::device.select("t") + " FROM device t WHERE t.id=?1");
    query->bind(1, id);
    if (!query->step())
      throw Error(Error::Kind::unusable,
                  fmt::format("{}: holds no device {}", from_.file().string(), id.hex()));
    return rows::device(*query);
  }

  void winners(const Id& device) {
    derived::read(from_, derived::winners(), device, std::nullopt, [&](const sqlite::Statement& row) {
      decision(row.id(11));
      if (const auto build_key = row.optional_id(7)) build_keys_.insert(*build_key);
    });
  }

  void decision(const Id& id) {
    if (!decisions_.insert(id).second) return;
    const Decision decision = row(tables::decision, id, rows::decision, "a winner's decision is missing");
    run(decision.run);
    measurement(decision.chosen);
    for (const auto& other : {decision.incumbent, decision.by_default})
      if (other) measurement(*other);
    for (const Id& tied : decision.tied) measurement(tied);
  }

  /// Those that bands and portfolios follow from.
  void sweeps(const Id& device) {
    std::set<Id> sweeps;
    derived::read(from_, derived::bands(), device, std::nullopt, [&](const sqlite::Statement& row) {
      sweeps.insert(row.id(22));
      if (const auto build_key = row.optional_id(19)) build_keys_.insert(*build_key);
    });
    derived::read(from_, derived::portfolio(), device, std::nullopt, [&](const sqlite::Statement& row) {
      sweeps.insert(row.id(16));
      if (const auto build_key = row.optional_id(13)) build_keys_.insert(*build_key);
    });
    for (const Id& id : sweeps) {
      const Sweep sweep =
          row(tables::sweep, id, rows::sweep, "a sweep that bands or a portfolio follow from is missing");
      sweeps_.insert(id);
      run(sweep.run);
      for (const Id& point : sweep.points) sweep_point(point);
    }
  }

  void sweep_point(const Id& id) {
    const SweepPoint point = row(tables::sweep_point, id, rows::sweep_point, "a sweep's point is missing");
    points_.insert(id);
    run(point.run);
    problems_.insert(point.problem);
    for (const Id& each : point.measurements) measurement(each);
  }

  /// Those of other devices too: a caller may ask for defaults that were checked elsewhere.
  void defaults(const Id& device, const Device& own) {
    Lookup lookup(from_);
    sqlite::Query query(from_.connection(),
                        "SELECT " + tables::checked_default.select("t") +
                            " FROM checked_default t JOIN device d ON d.id=t.device WHERE t.device=?1 OR "
                            "(d.backend=?2 AND d.architecture=?3)");
    query->bind(1, device).bind(2, own.backend).bind(3, own.architecture);
    while (query->step()) {
      verify(*query, tables::checked_default);
      devices_.insert(query->id(0));
      configuration(query->id(5), lookup);
      if (const auto build_key = query->optional_id(8)) build_keys_.insert(*build_key);
    }
    devices_.insert(device);
    rows_.push_back(
        {&tables::checked_default,
         "t.device=?1 OR t.device IN (SELECT id FROM device WHERE backend=?2 AND architecture=?3)",
         [device, own](sqlite::Statement& rows) {
           rows.bind(1, device).bind(2, own.backend).bind(3, own.architecture);
         }});
  }

  void peaks(const Id& device) {
    rows_.push_back(
        {&tables::peak, "t.device=?1", [device](sqlite::Statement& rows) { rows.bind(1, device); }});
  }

  /// Every variant's current one; what was current before serves nothing.
  void templates(const std::string& family) {
    sqlite::Query query(
        from_.connection(),
        "SELECT u.variant,u.used_us,t.id,t.manifest,t.source FROM template_use u JOIN template t "
        "ON t.id=u.template WHERE u.family=?1 ORDER BY u.variant,u.used_us DESC,u.template DESC");
    query->bind(1, family);
    std::string before;
    bool any = false;
    while (query->step()) {
      const std::string variant(query->text(0));
      if (any && variant == before) continue;
      any = true;
      before = variant;
      templates_.insert(query->id(2));
      texts_.insert(query->id(3));
      texts_.insert(query->id(4));
      rows_.push_back(
          {&tables::template_use, "t.family=?1 AND t.variant=?2 AND t.used_us=?3 AND t.template=?4",
           [family, variant, used_us = query->integer(1), id = query->id(2)](sqlite::Statement& rows) {
             rows.bind(1, family).bind(2, variant).bind(3, used_us).bind(4, id);
           }});
    }
  }

  void measurement(const Id& id) {
    if (!measurements_.insert(id).second) return;
    const Measurement measurement =
        row(tables::measurement, id, rows::measurement, "a measurement is missing");
    run(measurement.run);
    problems_.insert(measurement.problem);
    Lookup lookup(from_);
    configuration(measurement.configuration, lookup);
  }

  void configuration(const Id& id, Lookup& lookup) {
    if (configurations_.insert(id).second) families_.insert(lookup.configuration(id).family);
  }

  void run(const Id& id) {
    if (!runs_.insert(id).second) return;
    Lookup lookup(from_);
    const Run& run = lookup.run(id);
    devices_.insert(run.device);
    environments_.insert(run.environment);
  }

  /// The rows whose first column is one of these.
  void copy(const Table& table, const std::set<Id>& ids) {
    for (const Id& id : ids)
      copy(table, fmt::format("t.{}=?1", table.columns.front()),
           [&](sqlite::Statement& query) { query.bind(1, id); });
  }

  void copy(const Table& table, const std::string& where, const Bind& bind) {
    sqlite::Query query(from_.connection(),
                        fmt::format("SELECT {} FROM {} t WHERE {}", table.select("t"), table.name, where));
    bind(*query);
    while (query->step()) {
      verify(*query, table);
      sqlite::Query insert(to_.connection(), table.insert);
      for (int column = 0; column < table.width(); ++column)
        sqlite3_bind_value(insert->get(), column + 1, sqlite3_column_value(query->get(), column));
      insert->step();
    }
  }

  Database& from_;
  Database& to_;
  std::set<Id> devices_, environments_, texts_, templates_, problems_, configurations_, runs_, measurements_,
      decisions_, points_, sweeps_, build_keys_;
  std::set<std::string> families_;
  std::vector<Rows> rows_;
};

}  // namespace

void write_pack(Database& from, const std::vector<Id>& devices, const std::filesystem::path& to) {
  publish(to, [&](const std::filesystem::path& part) {
    {
      Database pack(part, Access::create);
      from.read([&] { Packer(from, pack).run(devices); });
      pack.connection().execute(fmt::format("PRAGMA application_id={}", schema::pack_application_id).c_str());
    }
    std::filesystem::permissions(part, std::filesystem::perms::owner_read);
  });
}

// Through SQLite's own descriptor: were another one opened and closed, this process would lose the locks that
// its other connections to the file hold, as POSIX has it.
bool is_pack(const sqlite::Connection& connection) {
  constexpr sqlite3_int64 application_id_at = 68;  // big-endian, in SQLite's header
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(connection.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
      file == nullptr || file->pMethods == nullptr)
    return false;
  std::array<unsigned char, 4> bytes{};
  if (file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), application_id_at) !=
      SQLITE_OK)
    return false;
  std::int64_t id = 0;
  for (const unsigned char byte : bytes) id = id << 8 | byte;
  return id == schema::pack_application_id;
}

void Store::pack(const std::vector<Id>& devices, const std::filesystem::path& to) {
  write_pack(state_->database, devices, to);
}

}  // namespace hone::db
