// Bad input: one clear line on stderr, the documented exit code, nothing on stdout.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "db/store.hpp"
#include "tests/tools/command.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;
using Words = std::vector<std::string>;

void refused(const Words& words, int code, const std::string& told, const std::filesystem::path& folder) {
  const Ended ended = run_hone(words, folder);
  std::string line = "hone";
  for (const std::string& word : words) line += " " + word;
  INFO(line << "\nstdout: " << ended.out << "\nstderr: " << ended.err);
  CHECK(ended.code == code);
  CHECK(ended.error_lines() == 1);
  CHECK(ended.out.empty());
  CHECK_THAT(ended.notes(), Contains(told));
}

TEST_CASE("bad words and flags are usage errors") {
  const TemporaryFolder folder;
  refused({}, 2, "no verb", folder.path);
  refused({"tun"}, 2, "`tune`", folder.path);
  refused({"--verson"}, 2, "--verson", folder.path);
  refused({"--versio"}, 2, "did you mean `--version`?", folder.path);
  refused({"--db="}, 2, "before a verb", folder.path);
  refused({"query"}, 2, "no verb", folder.path);
  refused({"query", "winners", "--db="}, 2, "--db needs a value", folder.path);
  refused({"query", "winners", ""}, 2, "an argument is empty; give [FAMILY] or leave it out", folder.path);
  refused({"devices", "--columns", ","}, 2, "leave out the comma", folder.path);
  refused({"query", "winers"}, 2, "`winners`", folder.path);
  refused({"db", "chek"}, 2, "`check`", folder.path);
  refused({"tune"}, 2, "FAMILY", folder.path);
  refused({"tune", "relu", "gelu"}, 2, "gelu", folder.path);
  refused({"tune", "relu", "--shpe", "numel=4"}, 2, "--shape", folder.path);
  refused({"tune", "relu", "--shape"}, 2, "--shape", folder.path);
  refused({"tune", "relu", "--db", "a", "--db", "b"}, 2, "twice", folder.path);
  refused({"tune", "relu", "--quiet=yes"}, 2, "quiet", folder.path);
  refused({"tune", "relu"}, 2, "--shape numel=", folder.path);
  refused({"tune", "relu", "--shape", "numel=1024", "--search", "lucky"}, 2, "--search", folder.path);
  refused({"tune", "relu", "--shape", "numel=1024", "--budget", "soon"}, 2, "--budget", folder.path);
  refused({"tune", "relu", "--shape", "numel=1024", "--jobs", "0"}, 2, "--jobs", folder.path);
  refused({"tune", "relu", "--shape", "numel=1024", "--regime", "hot"}, 2, "--regime", folder.path);
  refused({"tune", "relu", "--sweep", "4GiB:1MiB"}, 2, "--sweep", folder.path);
  refused({"tune", "relu", "--device", "host", "--dtype", "f32", "--sweep", "1B:3B"}, 2,
          "smaller than that of any problem of relu f32: 8 B (numel=1)", folder.path);
  refused({"tune", "relu", "--shape", "numel=4", "--dry-run", "--refresh"}, 2, "--dry-run", folder.path);
  refused({"tune", "relu", "--sweep", "1MiB:4MiB", "--resolution", "1"}, 2, "--resolution", folder.path);
  refused({"tune", "relu", "--shape", "numel=1024", "--templates", "/nowhere/at/all"}, 2, "/nowhere/at/all",
          folder.path);
  refused({"devices", "--format", "xml"}, 2, "--format", folder.path);
  refused({"devices", "--columns", "nmae"}, 2, "`name`", folder.path);
  refused({"compile", "relu"}, 2, "--arch", folder.path);
  refused({"compile", "relu", "--arch", "z80"}, 2, "z80", folder.path);
  refused({"compile", "relu", "--arch", "gfx90a:foo+"}, 2, "gfx90a has no feature `foo`", folder.path);
  refused({"compile", "relu", "--arch", "gfx90a:xnac+"}, 2, "did you mean `xnack`?", folder.path);
  refused({"compile", "relu", "--arch", "gfx90a:xnack+:xnack-"}, 2, "twice", folder.path);
  refused({"compile", "relu", "--arch", "gfx1030:xnack+"}, 2, "has no feature `xnack`; there is none",
          folder.path);
}

TEST_CASE("bad shapes are usage errors") {
  const TemporaryFolder folder;
  const auto shape = [&](const std::string& text, const std::string& told) {
    refused({"tune", "relu", "--device", "host", "--quiet", "--shape", text}, 2, told, folder.path);
  };
  shape("numel=abc", "numel");
  shape("numel=-1", "numel");
  shape("numel=9223372036854775808", "numel");
  shape("numel=9223372036854775807", "numel");  // its bytes pass 64 bits
  shape("numel=1.5", "numel");
  shape("nmel=4", "numel");
  shape("numel", "numel");
}

TEST_CASE("an unknown family, type or device is named with what there is") {
  const TemporaryFolder folder;
  refused({"tune", "rleu", "--shape", "numel=4"}, 2, "`relu`", folder.path);
  refused({"compile", "rleu", "--arch", "gfx90a"}, 2, "`relu`", folder.path);
  refused({"verify", "rleu"}, 2, "`relu`", folder.path);
  refused({"tune", "relu", "--dtype", "f17", "--shape", "numel=4"}, 2, "f16", folder.path);
  refused({"tune", "relu", "--dtype", "f64", "--shape", "numel=4", "--device", "host"}, 2, "f64",
          folder.path);
  refused({"tune", "relu", "--device", "tpu", "--shape", "numel=4"}, 3, "tpu", folder.path);
  refused({"devices", "--device", "tpu"}, 3, "tpu", folder.path);
  refused({"verify", "relu", "--device", "tpu"}, 3, "tpu", folder.path);
}

TEST_CASE("a database that cannot be used is an environment error") {
  const TemporaryFolder folder;
  const std::string missing = (folder.path / "no" / "such.db").string();
  refused({"query", "winners", "--db", missing}, 3, missing, folder.path);
  refused({"db", "check", missing}, 3, missing, folder.path);
  const std::string text = (folder.path / "text.db").string();
  write_file(text, std::string(8192, 'x'));
  refused({"query", "winners", "--db", text}, 3, text, folder.path);
  refused({"db", "check", text}, 3, text, folder.path);
  refused({"tune", "relu", "--device", "host", "--quiet", "--shape", "numel=1024", "--db", text}, 3, text,
          folder.path);
  CHECK(read_file(text) == std::string(8192, 'x'));
  refused({"db", "backup", text, "--db", missing}, 2, "exists", folder.path);
  refused({"explain", "relu", "--dtype", "f32", "--shape", "numel=1024", "--db", missing}, 3, missing,
          folder.path);
}

TEST_CASE("no verb makes folders for the files that it writes, nor a database of an empty file") {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string(), empty = (folder.path / "empty.db").string();
  const std::string inside = (folder.path / "none" / "file").string();
  { db::Store::open(database, db::Access::create); }
  refused({"db", "backup", inside, "--db", database}, 3, "there is no folder", folder.path);
  refused({"db", "pack", "--device", "all", "-o", inside, "--db", database}, 3, "there is no folder",
          folder.path);
  refused({"report", "-o", inside, "--db", database}, 3, "there is no folder", folder.path);
  CHECK_FALSE(std::filesystem::exists(folder.path / "none"));
  write_file(empty, "");
  refused({"db", "peak", "H200", "4800GB/s", "--db", empty}, 3, "holds no tuning database yet", folder.path);
  CHECK(std::filesystem::file_size(empty) == 0);
}

void check_damaged(int copies, unsigned seed) {
  const TemporaryFolder folder;
  const std::string database = (folder.path / "a.db").string();
  const std::string sound = read_file(HONE_SOURCE_DIR "/tests/data/schemas/v6.db");
  std::mt19937 random(seed);
  for (int i = 0; i < copies; ++i) {
    std::string copy = sound;
    const std::size_t at = random() % copy.size();
    if (i % 3 == 0)
      copy.resize(at);
    else
      copy[at] = static_cast<char>(copy[at] ^ 1 << random() % 8);
    write_file(database, copy);
    for (const Words& words : {Words{"db", "check", database}, Words{"query", "winners", "--db", database}}) {
      const Ended ended = run_hone(words, folder.path);
      INFO("seed " << seed << ", copy " << i << ": " << ended.out << ended.err);
      CHECK((ended.code == 0 || ended.code == 1 || ended.code == 3));
      CHECK(ended.error_lines() <= 1);
      CHECK((ended.code != 3 || ended.error_lines() == 1));
    }
  }
}

TEST_CASE("what a damaged database makes of a command is an answer or one line") {
  check_damaged(10, 1);
}

TEST_CASE("what two hundred damaged databases make of commands is an answer or one line", "[long]") {
  check_damaged(200, std::random_device{}());
}

TEST_CASE("output that cannot be written is told") {
  const TemporaryFolder folder;
  const std::string hone = HONE_BINARY_DIR "/bin/hone";
  CHECK(std::system((hone + " --help > /dev/full 2>/dev/null").c_str()) >> 8 == 3);
  CHECK(std::system((hone + " --help | true").c_str()) == 0);
}

}  // namespace
}  // namespace hone::test
