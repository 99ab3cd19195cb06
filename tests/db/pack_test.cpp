// Packs: all that serves calls on a device, in a file that nothing writes.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "sample_database.hpp"

using namespace hone::db;
using namespace hone::db::testing;
using Catch::Contains;

namespace {

std::vector<std::string> served(Store& store, const Id& device) {
  std::vector<std::string> lines;
  Filter filter;
  filter.device = device;
  for (const Winner& w : store.winners(filter))
    lines.push_back(w.problem.text() + w.configuration.text() + std::to_string(w.alignment) +
                    w.measurement.hex() + w.decision.hex() + w.build_key.hex());
  for (const Band& b : store.bands(filter))
    lines.push_back(b.family + std::to_string(b.lo) + ":" + std::to_string(b.hi) + b.configuration.text() +
                    b.measurement.hex());
  for (const CheckedDefault& d : store.defaults(device))
    lines.push_back(d.family + d.element_type + d.configuration.text() + d.build_key.hex());
  for (const Template& t : store.templates("relu")) lines.push_back(t.variant + t.manifest + t.source);
  if (const auto peak = store.peak(device)) lines.push_back(std::to_string(peak->per_second));
  return lines;
}

}  // namespace

TEST_CASE("a pack serves one device as the database does, and holds no other's winners") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  populate(store);
  // What a pack leaves out: losers of first looks, templates of before.
  const std::string losers(100'000, 'x');
  const Run of = run();
  prepare(store, of);
  for (int i = 0; i < 30; ++i) {
    Measurement loser = measurement(of, problem(), configuration(1000 + i), id_of("gone"));
    loser.reason = losers;
    store.put(configuration(1000 + i));
    store.put(loser);
  }
  const Id own = device().id(), other = device("Other CPU").id();
  const auto file = folder.file("model.hone");
  store.pack({own}, file);

  Store pack = Store::open(file, Access::read_only);
  CHECK(pack.check().faults == std::vector<std::string>{});
  CHECK(served(pack, own).size() > 10);
  CHECK(served(pack, own) == served(store, own));
  Filter filter;
  filter.device = other;
  CHECK(pack.winners(filter).empty());
  CHECK(pack.bands(filter).empty());
  // Whose default may be asked for: it has the same architecture.
  CHECK(pack.defaults(other).size() == store.defaults(other).size());
  for (const Winner& w : pack.winners({})) {
    CHECK(pack.code_object(w.build_key)->bytes == store.code_object(w.build_key)->bytes);
    CHECK(pack.measurement(w.measurement)->samples == store.measurement(w.measurement)->samples);
    CHECK(pack.run(w.run));
  }
  CHECK(std::filesystem::file_size(file) * 2 < std::filesystem::file_size(folder.file()));

  store.pack({own, other}, folder.file("both.hone"));
  Store both = Store::open(folder.file("both.hone"), Access::read_only);
  CHECK(served(both, other) == served(store, other));
  CHECK(served(both, own) == served(store, own));
}

TEST_CASE("nothing writes a pack, and a pack that cannot be made leaves nothing behind") {
  Folder folder;
  Store store = Store::open(folder.file(), Access::create);
  populate(store);
  const auto file = folder.file("model.hone");
  store.pack({device().id()}, file);
  struct stat found {};
  REQUIRE(::stat(file.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0400);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  for (const Access access : {Access::read_write, Access::create})
    CHECK_THROWS_WITH(Store::open(file, access), Contains("model.hone: is a pack, which nothing writes"));
  CHECK_THROWS_WITH(store.pack({device().id()}, file), Contains("exists already"));
  CHECK_THROWS_WITH(store.pack({id_of("nobody")}, folder.file("none.hone")), Contains("holds no device"));
  CHECK_THROWS_WITH(store.pack({device().id()}, "/proc/no/model.hone"), Contains("/proc/no/model.hone"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()),
                      std::filesystem::directory_iterator()) == 2);
}

TEST_CASE("many processes read a pack at once where nothing may be written and no lock taken") {
  Folder folder;
  {
    Store store = Store::open(folder.file(), Access::create);
    populate(store);
    store.pack({device().id()}, folder.file("model.hone"));
  }
  const auto file = folder.file("model.hone");
  std::filesystem::permissions(file, std::filesystem::perms(0444));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int code = 1;
      try {
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(3);
        for (int round = 0; round < 10; ++round) {
          Store pack = Store::open(file, Access::read_only);
          code = pack.winners({}).empty() || pack.code_object(pack.winners({})[0].build_key)->bytes.empty();
          std::ifstream locks("/proc/locks");
          for (std::string line; std::getline(locks, line);)
            if (line.find(" " + std::to_string(::getpid()) + " ") != std::string::npos) code = 2;
        }
      } catch (...) {
        code = 4;
      }
      ::_exit(code);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 0);
  }
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()),
                      std::filesystem::directory_iterator()) == 2);
}
