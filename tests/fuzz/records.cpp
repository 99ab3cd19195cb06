// Fuzzes what a database says when all its checksums are right: somebody who writes one can make them so. The
// input names values of rows of a sound database and what to put there; checksums and seals are made anew.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/derived.hpp"
#include "db/tables.hpp"
#include "runtime/family.hpp"
#include "runtime/host_device.hpp"
#include "scratch_file.hpp"
#include "serve.hpp"

namespace hone::fuzz {
namespace {

/// What is left of the input; zeros behind its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::int64_t word() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return static_cast<std::int64_t>(value);
  }
  std::string text() {
    std::string text(std::min<std::size_t>(byte(), left_), '\0');
    for (char& c : text) c = static_cast<char>(byte());
    return text;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

/// A little of everything, tuned on this host.
std::string sound_database(const ScratchFolder& folder) {
  const auto file = folder.path / "sound.db";
  const Family family = parse_family(HONE_SOURCE_DIR "/tests/templates/saxpy/saxpy.toml");
  const Variant& variant = family.variants.front();
  {
    db::Store store = db::Store::open(file, db::Access::create);
    store.transaction([&] {
      db::Run run;
      run.device = store.put(host_device_info().record());
      run.environment = store.put(db::Environment{{{"compiler", "fuzz"}}});
      run.command = "fuzz";
      run.settings = {{"search", "exhaustive"}};
      store.put(run);
      for (const Variant& each : family.variants)
        store.put(db::Template{family.name, each.name, each.source_hash, family.manifest, each.source});
      const db::Configuration configuration{family.name, variant.name, variant.defaults};
      store.put(configuration);
      db::Sweep sweep;
      sweep.run = run.id;
      sweep.family = family.name;
      sweep.element_type = "f32";
      sweep.resolution = 2;
      for (const std::int64_t n : {1000, 4096, 100000}) {
        const db::Problem problem{family.name, "f32", "", {{"n", n}}};
        store.put(problem);
        db::Measurement m;
        m.run = run.id;
        m.problem = problem.id();
        m.configuration = configuration.id();
        m.source_hash = variant.source_hash;
        m.stage = db::Stage::race;
        m.alignment = 4;
        m.launches = 10;
        m.samples = {1, 2, 3};
        m.statistics = {3, 1, 1, 2, 3};
        m.condition.temperature_c = 50;
        m.build_key = db::KeyBuilder().add("code").id();
        store.put(m);
        store.put(
            db::CodeObject{m.build_key, "x86-64-v3", "fuzz", variant.entry, std::vector<std::byte>(40)});
        db::Decision decision;
        decision.run = run.id;
        decision.problem = m.problem;
        decision.alignment = 16;
        decision.chosen = m.id;
        decision.tied = {m.id};
        decision.tie_bound = 0.02;
        store.put(decision);
        db::SweepPoint point;
        point.run = run.id;
        point.problem = m.problem;
        point.working_set = 12 * n;
        point.measurements = {m.id};
        store.put(point);
        sweep.points.push_back(point.id);
        store.put_default(
            {family.name, "f32", "", configuration, 4, variant.source_hash, m.build_key, run.device});
      }
      store.put(sweep);
      store.put_peak({run.device, "memory", 40'000'000'000});
      store.finish(run.id, "done");
    });
  }
  {
    // Small pages: little to copy for each input.
    db::sqlite::Connection small(file, db::sqlite::Mode::read_write);
    small.execute("PRAGMA page_size=512; VACUUM");
  }
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Puts a value of the input in the place of one of a row.
void change(db::sqlite::Connection& connection, Input& input) {
  const auto tables = db::tables::all();
  const db::Table& table = *tables[input.byte() % tables.size()];
  const std::uint8_t number = input.byte();
  const std::size_t changed = input.byte() % table.columns.size();
  db::Row row(table);
  std::int64_t before = 0;
  {
    db::sqlite::Statement count(connection.get(), connection.file(), "SELECT count(*) FROM " + table.name);
    if (!count.step() || count.integer(0) == 0) return;
    db::sqlite::Statement old(
        connection.get(), connection.file(),
        fmt::format("SELECT {} FROM {} t ORDER BY {} LIMIT 1 OFFSET {}", table.select("t"), table.name,
                    table.key, number % count.integer(0)));
    if (!old.step()) return;
    before = old.integer(table.width() - 1);
    for (int column = 0; column + 1 < table.width(); ++column) {
      const bool here = static_cast<std::size_t>(column) == changed;
      switch (old.type(column)) {
        case SQLITE_INTEGER:
          row << (here ? input.word() : old.integer(column));
          break;
        case SQLITE_FLOAT: {
          double real = old.real(column);
          const std::int64_t bits = here ? input.word() : 0;
          if (here) std::memcpy(&real, &bits, sizeof real);
          row << real;
          break;
        }
        case SQLITE_TEXT:
          row << (here ? input.text() : std::string(old.text(column)));
          break;
        case SQLITE_BLOB: {
          if (!here) {
            row << old.bytes(column);
            break;
          }
          // A part of it, so that ids and packed records keep their size more often than not.
          std::vector<std::byte> bytes(old.bytes(column).begin(), old.bytes(column).end());
          const std::size_t at =
              bytes.empty() ? 0 : static_cast<std::size_t>(input.byte()) * 7 % bytes.size();
          const std::string text = input.text();
          if (input.byte() % 4 == 0) bytes.resize(at);
          if (bytes.size() < at + text.size()) bytes.resize(at + text.size());
          for (std::size_t i = 0; i < text.size(); ++i) bytes[at + i] = static_cast<std::byte>(text[i]);
          row << std::span<const std::byte>(bytes);
          break;
        }
        default:
          row << std::optional<db::Id>();
          break;
      }
    }
  }
  // A statement that SQLite refuses changes nothing.
  attempt([&] {
    db::sqlite::Transaction transaction(connection, db::sqlite::Transaction::Kind::write);
    connection.execute(fmt::format("DELETE FROM {} WHERE checksum={}", table.name, before).c_str());
    row.insert(connection);
    transaction.commit();
  });
}

void seal(db::Database& database, const db::derived::DerivedTable& table) {
  db::derived::Seal seal;
  {
    db::sqlite::Query query(database.connection(), "SELECT device,regime,checksum FROM " + table.rows.name +
                                                       " WHERE length(device)=16");
    while (query->step()) {
      const auto regime = db::parse_regime(query->text(1));
      if (regime) seal[{query->id(0), *regime}].add(query->integer(2));
    }
  }
  db::derived::write_seal(database, table, seal);
}

}  // namespace
}  // namespace hone::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hone;
  static const fuzz::ScratchFolder folder;
  static const std::string sound = fuzz::sound_database(folder);
  const auto file = folder.write("hone.db", sound);
  fuzz::attempt([&] {
    db::sqlite::Connection connection(file, db::sqlite::Mode::read_write);
    sqlite3_db_config(connection.get(), SQLITE_DBCONFIG_ENABLE_FKEY, 0, nullptr);
    sqlite3_db_config(connection.get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    connection.execute("PRAGMA ignore_check_constraints=ON; PRAGMA synchronous=OFF");
    fuzz::Input input(data, size);
    for (int i = 0; i < 8 && !input.empty(); ++i) fuzz::change(connection, input);
  });
  fuzz::attempt([&] {
    db::Database database(file, db::Access::read_write);
    database.connection().execute("PRAGMA synchronous=OFF");
    for (const auto& table : {db::derived::winners(), db::derived::winner_blocks(), db::derived::bands()})
      fuzz::seal(database, table);
  });
  fuzz::serve(file);
  return 0;
}
