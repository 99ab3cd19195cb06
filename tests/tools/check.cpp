// hone db check: what it says of sound, damaged and older databases.
#include <catch2/catch.hpp>
#include <fstream>

#include "db/schema.hpp"
#include "tests/db/sample_database.hpp"
#include "tests/tools/command.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("damage that SQLite finds is a check that failed, however much of the file it takes") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "a.db").string();
  {
    db::Store store = db::Store::open(file, db::Access::create);
    db::testing::populate(store);
  }
  const std::string sound = read_file(file);
  const auto check = [&](const std::string& bytes) {
    write_file(file, bytes);
    Ended ended = run_hone({"db", "check", file}, folder.path);
    INFO(ended.out << ended.err);
    CHECK(ended.err.empty());
    CHECK_THAT(ended.out, !Contains("run `hone db check`"));
    return ended;
  };
  CHECK(check(sound).code == 0);
  const Ended cut = check(sound.substr(0, sound.size() / 2));
  CHECK(cut.code == 1);
  CHECK_THAT(cut.out, Contains("damaged, 1 fault in ") && Contains("restore a backup"));
  std::string schema = sound;  // the tree of the schema itself
  schema.replace(100, 300, 300, '\xff');
  CHECK(check(schema).code == 1);
  std::string row = sound;
  row[row.find("Other CPU")] = 'M';
  CHECK(check(row).code == 1);
}

TEST_CASE("a database of an older schema is checked as a migrated copy, and stays as it is") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "older.db").string();
  const auto steps = db::schema::steps();
  {
    db::sqlite::Connection connection(file, db::sqlite::Mode::create);
    db::schema::create_or_migrate(connection, steps.first(steps.size() - 1));
  }
  const std::string before = read_file(file);
  const Ended ended = run_hone({"db", "check", file}, folder.path);
  INFO(ended.out << ended.err);
  CHECK(ended.code == 0);
  CHECK_THAT(ended.out, Contains("older.db: sound, ") &&
                            Contains("its schema is version " + std::to_string(steps.size() - 1)));
  CHECK(read_file(file) == before);
  const Ended elsewhere = run_hone({"db", "check", file}, folder.path, {{"TMPDIR", "/nonexistent"}});
  INFO(elsewhere.err);
  CHECK(elsewhere.code == 0);
  CHECK(elsewhere.out == ended.out);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 5);  // and four outputs
}

}  // namespace
}  // namespace hone::test
