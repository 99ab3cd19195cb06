// Damage: whatever bit flips and wherever a file ends, nothing crashes, and what is served is what was
// written or an error.
#include <catch2/catch.hpp>
#include <fstream>
#include <limits>
#include <map>
#include <random>

#include "contents.hpp"
#include "sample_database.hpp"

namespace hone::db {
namespace {

using namespace testing;
using Catch::Matchers::Contains;

std::string digest(const Winner& w) {
  std::string text = w.problem.text() + '|' + w.configuration.text() + '|' + name(w.regime);
  for (const Id& id :
       {w.source_hash, w.build_key, w.device, w.environment, w.run, w.measurement, w.decision}) {
    text += '|' + id.hex();
  }
  for (const double value : {w.statistics.minimum, w.statistics.q1, w.statistics.median, w.statistics.q3}) {
    text += '|' + std::to_string(value);
  }
  for (const std::int64_t value : {w.alignment, w.needs_alignment, w.tied, w.decided_us, w.statistics.n}) {
    text += '|' + std::to_string(value);
  }
  return text;
}

// What a runtime reads, as texts that can be compared.
std::vector<std::string> served(Store& store) {
  std::vector<std::string> all;
  for (const Winner& w : store.winners({})) {
    all.push_back(digest(w));
    if (const auto object = store.code_object(w.build_key)) {
      all.push_back(object->architecture + object->compiler + object->entry +
                    std::string(reinterpret_cast<const char*>(object->bytes.data()), object->bytes.size()));
    } else {
      all.push_back("no code object");
    }
  }
  for (const auto& [id, device] : store.devices()) {
    store.winner_blocks(id, Regime::steady, [&](const WinnerBlock& block) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        const auto record = block[i];
        all.push_back(std::string(block.family) + '|' + std::to_string(record.extent(0)) + '|' +
                      std::to_string(record.alignment));
        for (const Id& each :
             {record.configuration, record.source_hash, record.build_key, record.measurement})
          all.back() += '|' + each.hex();
        all.back() += '|' + std::to_string(record.statistics.median);
      }
    });
  }
  for (const Band& b : store.bands({})) {
    all.push_back(b.configuration.text() + b.device.hex() + b.build_key.hex() + b.measurement.hex());
    for (const std::int64_t value : {b.alignment, b.lo, b.hi, b.points, b.first, b.last})
      all.back() += '|' + std::to_string(value);
  }
  return all;
}

/// A copy with a bit flipped, its end cut off, or a sector that holds zeros or another's bytes. It holds
/// something: an empty file is one to make a database of.
std::string damaged_copy(const std::string& original, int number, std::mt19937& random) {
  constexpr std::size_t sector = 512;
  std::uniform_int_distribution<std::size_t> anywhere(0, original.size() - 1);
  std::string copy = original;
  switch (number % 8) {
    case 0:
      copy.resize(std::max<std::size_t>(1, anywhere(random)));
      break;
    case 1:
      copy.resize(std::max<std::size_t>(1, anywhere(random) / 4096) * 4096);
      break;
    case 2:
      copy.replace(anywhere(random) / sector * sector, sector, sector, '\0');
      break;
    case 3:
      copy.replace(anywhere(random) / sector * sector, sector,
                   original.substr(anywhere(random) / sector * sector, sector));
      break;
    default: {
      // Half of them in the header and the schema, where a flip does the oddest things.
      const std::size_t at = number % 2 == 0 ? anywhere(random) % 16384 : anywhere(random);
      copy[at] = static_cast<char>(copy[at] ^ 1 << random() % 8);
    }
  }
  return copy;
}

void damage(int copies, unsigned seed) {
  Folder folder;
  const auto whole = folder.file("original.db"), file = folder.file("damaged.db");
  std::vector<std::string> wanted;
  std::map<Id, std::string> reasons;
  {
    Store store = Store::open(whole, Access::create);
    populate(store);
    wanted = served(store);
    for (const auto& row : store.measurements({})) reasons[row.measurement.id] = row.measurement.reason;
  }
  REQUIRE(wanted.size() == 66);
  const std::string original = contents(whole), rows = everything(whole);
  std::mt19937 random(seed);
  int refused = 0, failed = 0, found_by_check = 0, unused = 0;
  for (int i = 0; i < copies; ++i) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged_copy(original, i, random);
    INFO("seed " << seed << ", copy " << i);
    const auto check_line = [](const Error& error) {
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
    };
    std::vector<std::string> answer = wanted;
    bool opened = false, answered = false, sound = false;
    try {
      Store store = Store::open(file, Access::read_only);
      opened = true;
      sound = store.check().faults.empty();
      answer = served(store);
      answered = true;
      for (const auto& row : store.measurements({})) {
        const bool same =
            reasons.contains(row.measurement.id) && reasons[row.measurement.id] == row.measurement.reason;
        CHECK(same);
      }
      store.templates("relu");
      store.runs();
      for (const auto& [id, device] : store.devices()) store.defaults(id);
    } catch (const Error& error) {
      check_line(error);
    }
    CHECK((answer == wanted));
    refused += !opened;
    failed += opened && !answered;
    found_by_check += opened && !sound;
    unused += sound;
    if (sound) {
      CHECK(answered);
      const bool same = everything(file) == rows;
      CHECK(same);
    }
    answer = wanted;
    try {
      Store writer = Store::open(file, Access::create);
      writer.rebuild_derived();
      answer = served(writer);
    } catch (const Error& error) {
      check_line(error);
    }
    CHECK((answer == wanted));
  }
  WARN(copies << " copies: " << refused << " refused when opened, " << failed << " when read, "
              << found_by_check << " found by check, " << unused << " damaged in bytes that hold nothing");
  CHECK(refused > copies / 10);
  CHECK(found_by_check > copies / 10);
}

TEST_CASE("a hundred damaged copies: never a crash, never a changed answer") {
  damage(100, 20240607);
}

TEST_CASE("a thousand damaged copies: never a crash, never a changed answer", "[long]") {
  damage(1000, std::random_device{}());
}

TEST_CASE("no winner goes for want of what says which templates were in use") {
  Folder folder;
  {
    Store store = Store::open(folder.file(), Access::create);
    populate(store);
    REQUIRE(!store.winners({}).empty());
  }
  const auto page_of = [&](const std::string& table) {
    sqlite::Connection connection(folder.file(), sqlite::Mode::read_only);
    return static_cast<std::size_t>(
        connection.integer(("SELECT rootpage FROM sqlite_schema WHERE name='" + table + "'").c_str()));
  };
  const std::string original = contents(folder.file());
  for (const std::string table : {"template_use", "template"}) {
    INFO(table);
    // The page's rows are at its end, and are found in order of what they hold.
    std::string bytes = original;
    bytes.replace(page_of(table) * 4096 - 512, 512, 512, '\0');
    std::ofstream(folder.file(), std::ios::binary | std::ios::trunc) << bytes;
    const auto before = served(*std::make_unique<Store>(Store::open(folder.file(), Access::read_only)));
    REQUIRE(before.size() == 66);
    CHECK_THROWS_WITH(Store::open(folder.file(), Access::read_write).rebuild_derived(),
                      Contains("the database is damaged"));
    CHECK_THROWS_WITH(Store::open(folder.file(), Access::read_only).templates("relu"),
                      Contains("the database is damaged"));
    CHECK(served(*std::make_unique<Store>(Store::open(folder.file(), Access::read_only))) == before);
    std::ofstream(folder.file(), std::ios::binary | std::ios::trunc) << original;
  }
}

TEST_CASE("pages of garbage are reported, not served") {
  Folder folder;
  {
    Store store = Store::open(folder.file(), Access::create);
    populate(store);
  }
  const std::string original = contents(folder.file());
  std::mt19937 random(7);
  for (std::size_t page = 0; page < original.size() / 4096; page += 3) {
    std::string damaged = original;
    for (std::size_t i = 0; i < 4096; ++i) damaged[page * 4096 + i] = static_cast<char>(random());
    std::ofstream(folder.file(), std::ios::binary | std::ios::trunc) << damaged;
    INFO("page " << page);
    try {
      Store store = Store::open(folder.file(), Access::read_only);
      CHECK(!store.check().faults.empty());
    } catch (const Error&) {
    }
  }
}

// Changes rows as only somebody who goes round hone's connection can.
void tamper(const std::filesystem::path& file, const std::string& table, const std::string& sql) {
  sqlite::Connection connection(file, sqlite::Mode::read_write);
  sqlite3_db_config(connection.get(), SQLITE_DBCONFIG_ENABLE_FKEY, 0, nullptr);
  connection.execute("BEGIN");
  std::vector<std::string> triggers;
  {
    sqlite::Statement list(
        connection.get(), connection.file(),
        "SELECT name, sql FROM sqlite_schema WHERE type='trigger' AND tbl_name='" + table + "'");
    std::vector<std::string> names;
    while (list.step()) {
      names.emplace_back(list.text(0));
      triggers.emplace_back(list.text(1));
    }
    list.reset();
    for (const std::string& trigger : names) connection.execute(("DROP TRIGGER " + trigger).c_str());
  }
  connection.execute(sql.c_str());
  for (const std::string& trigger : triggers) connection.execute(trigger.c_str());
  connection.execute("COMMIT");
}

TEST_CASE("check names what is wrong") {
  Folder folder;
  const auto faults = [&](const std::string& table, const std::string& sql) {
    std::filesystem::remove(folder.file());
    {
      Store store = Store::open(folder.file(), Access::create);
      populate(store);
    }
    tamper(folder.file(), table, sql);
    std::string all;
    for (const std::string& line : Store::open(folder.file(), Access::read_only).check().faults)
      all += line + '\n';
    return all;
  };
  CHECK(faults("winner", "SELECT 1").empty());
  CHECK_THAT(faults("measurement", "UPDATE measurement SET median=median*2 WHERE n>0"),
             Contains("table measurement") && Contains("checksum"));
  CHECK_THAT(faults("code_object", "UPDATE code_object SET bytes=x'00'"), Contains("table code_object"));
  CHECK_THAT(faults("measurement", "UPDATE measurement SET samples=zeroblob(8*n)"),
             Contains("table measurement") && Contains("checksum"));
  CHECK_THAT(faults("winner", "DELETE FROM winner"),
             Contains("winners are missing") && Contains("winner_seal"));
  CHECK_THAT(faults("winner", "UPDATE winner SET tied=9"), Contains("table winner"));
  CHECK_THAT(faults("winner_seal", "DELETE FROM winner_seal"), Contains("seal over the winners is missing"));
  CHECK_THAT(faults("band", "DELETE FROM band WHERE alignment=4"),
             Contains("bands are missing") && Contains("band_seal"));
  CHECK_THAT(faults("band", "UPDATE band SET hi=hi-1 WHERE lo=0"), Contains("table band"));
  CHECK_THAT(faults("band_seal", "DELETE FROM band_seal"), Contains("seal over the bands is missing"));
  CHECK_THAT(faults("sweep", "DELETE FROM sweep"), Contains("table band"));
  CHECK_THAT(faults("sweep_point", "DELETE FROM sweep_point"), Contains("one of its points is missing"));
  CHECK_THAT(faults("problem", "DELETE FROM problem WHERE dimensions LIKE '%1024}'"),
             Contains("missing row of table problem"));
  CHECK_THAT(faults("template_use", "UPDATE template_use SET used_us=used_us+1"),
             Contains("table template_use"));
  CHECK_THAT(faults("decision", "DELETE FROM decision"), Contains("table winner"));
}

/// Writes a value that hone would not, with the checksum that makes its row sound; seals too.
void forge(const std::filesystem::path& file, const Table& table, int column, double value) {
  sqlite::Connection connection(file, sqlite::Mode::read_write);
  sqlite3_db_config(connection.get(), SQLITE_DBCONFIG_ENABLE_FKEY, 0, nullptr);
  sqlite3_db_config(connection.get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  connection.execute("PRAGMA ignore_check_constraints=ON");
  std::vector<Row> rows;
  {
    sqlite::Statement old(connection.get(), connection.file(),
                          "SELECT " + table.select("t") + " FROM " + table.name + " t");
    while (old.step()) {
      Row& row = rows.emplace_back(table);
      for (int i = 0; i + 1 < table.width(); ++i) {
        if (old.type(i) == SQLITE_INTEGER)
          row << (i == column ? static_cast<std::int64_t>(value) : old.integer(i));
        else if (old.type(i) == SQLITE_FLOAT)
          row << (i == column ? value : old.real(i));
        else if (old.type(i) == SQLITE_TEXT)
          row << old.text(i);
        else if (old.type(i) == SQLITE_BLOB)
          row << old.bytes(i);
        else
          row << std::optional<Id>();
      }
    }
  }
  REQUIRE(!rows.empty());
  sqlite::Transaction transaction(connection, sqlite::Transaction::Kind::write);
  connection.execute(("DELETE FROM " + table.name).c_str());
  for (const Row& row : rows) row.insert(connection);
  transaction.commit();
}

TEST_CASE("nonsense with right checksums is refused by readers, writers and the check") {
  Folder folder;
  populate(*std::make_unique<Store>(Store::open(folder.file("sound.db"), Access::create)));
  constexpr double infinite = std::numeric_limits<double>::infinity();
  struct Forged {
    const Table& table;
    const char* column;
    double value;
  };
  for (const auto& [table, name, value] : {Forged{tables::measurement, "alignment", 0},
                                           {tables::measurement, "q3", infinite},
                                           {tables::measurement, "minimum", -1},
                                           {tables::decision, "alignment", 0},
                                           {tables::decision, "tie_bound", infinite},
                                           {tables::sweep_point, "working_set", 7},
                                           {tables::sweep_point, "working_set", -1},
                                           {tables::sweep, "resolution", infinite}}) {
    INFO(table.name << '.' << name << " = " << value);
    std::filesystem::copy_file(folder.file("sound.db"), folder.file(),
                               std::filesystem::copy_options::overwrite_existing);
    const auto at = std::find(table.columns.begin(), table.columns.end(), name);
    REQUIRE(at != table.columns.end());
    forge(folder.file(), table, static_cast<int>(at - table.columns.begin()), value);
    Store store = Store::open(folder.file(), Access::read_write);
    CHECK(!store.check().faults.empty());
    CHECK_THROWS_WITH(store.rebuild_derived(), Contains("damaged"));
  }
}

TEST_CASE("missing winners and bands are an error to who reads them, and rebuild brings them back") {
  Folder folder;
  {
    Store store = Store::open(folder.file(), Access::create);
    populate(store);
  }
  for (const char* sql : {"DELETE FROM winner WHERE alignment=16", "UPDATE winner SET median=1",
                          "UPDATE winner SET device=(SELECT max(id) FROM device) WHERE problem IN "
                          "(SELECT problem FROM winner GROUP BY problem HAVING count(*)=1)",
                          "DELETE FROM winner_seal"}) {
    INFO(sql);
    tamper(folder.file(), "winner", sql);
    Store store = Store::open(folder.file(), Access::read_write);
    CHECK_THROWS_WITH(store.winners({}), Contains("damaged") && Contains("hone db check"));
    store.rebuild_derived();
    CHECK(store.winners({}).size() == 20);
    CHECK(store.check().faults == std::vector<std::string>{});
  }
  for (const char* sql : {"DELETE FROM band WHERE alignment=16", "UPDATE band SET hi=hi-1 WHERE lo=0",
                          "DELETE FROM band_seal"}) {
    INFO(sql);
    tamper(folder.file(), "band", sql);
    Store store = Store::open(folder.file(), Access::read_write);
    CHECK_THROWS_WITH(store.bands({}), Contains("damaged") && Contains("hone db check"));
    store.rebuild_derived();
    CHECK(store.bands({}).size() == 6);
    CHECK(store.check().faults == std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace hone::db
