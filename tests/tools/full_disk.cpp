// A disk that fills up while hone tunes: one line, a sound database, and the same command goes on once there
// is room.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/tools/command.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;

/// Mounts a small file system of its own, tunes there, makes room, and tunes again.
constexpr const char* script = R"sh(
set -u
folder=$1 size=$2
mkdir -p "$folder/disk" && mount -t tmpfs -o size="$size" none "$folder/disk" || exit 99
tune() { "$HONE" tune steps --device host --templates "$TEMPLATES" --trust --shape n=4000 --quiet --db "$folder/disk/a.db"; }
tune 2>"$folder/full.err" >/dev/null
echo "full $?"
[[ -s $folder/disk/a.db ]] && { "$HONE" db check "$folder/disk/a.db" >"$folder/check.out" 2>&1; echo "check $?"; }
mount -o remount,size=8m "$folder/disk"
tune 2>&1 >/dev/null
echo "room $?"
"$HONE" db check "$folder/disk/a.db" >/dev/null; echo "check $?"
)sh";

/// Kernels that were compiled before are in `compiled`.
void fill(const std::string& size, const std::filesystem::path& compiled) {
  const TemporaryFolder folder;
  write_file(folder.path / "script.sh", script);
  const std::string out = (folder.path / "out").string();
  const std::string command =
      "HONE=" HONE_BINARY_DIR "/bin/hone TEMPLATES=" HONE_SOURCE_DIR
      "/tests/templates HONE_CXX=" HONE_SOURCE_DIR "/tests/tools/cached_compiler.sh HONE_TEST_CACHE=" +
      compiled.string() + " XDG_DATA_HOME=" + folder.path.string() + " unshare --mount bash " +
      (folder.path / "script.sh").string() + " " + folder.path.string() + " " + size + " >" + out + " 2>&1";
  const int code = std::system(command.c_str());
  if (code != 0) {
    WARN("not tried: no file system can be mounted here (" << read_file(out) << ")");
    return;
  }
  const std::string said = read_file(out), line = read_file(folder.path / "full.err");
  INFO(size << ": " << said << line << read_file(folder.path / "check.out"));
  CHECK_THAT(said, Contains("full 3") && Contains("room 0"));
  CHECK_THAT(said, !Contains("check 1"));
  CHECK_THAT(line, Contains("the disk is full; make room and run the same command again"));
  CHECK(line.find('\n') + 1 == line.size());
}

}  // namespace

TEST_CASE("a disk that fills up stops a tuning with one line, and it goes on once there is room",
          "[processes]") {
  const TemporaryFolder compiled;
  for (const char* size : {"100k", "212k", "228k"}) fill(size, compiled.path);
}

}  // namespace hone::test
