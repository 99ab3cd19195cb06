#include "runtime/amd_condition.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "db/id.hpp"

using namespace hone;
namespace fs = std::filesystem;

namespace {

struct Sysfs {
  fs::path root = fs::temp_directory_path() / ("hone-test-" + db::Id::random().hex());
  fs::path monitor = root / "0000:c1:00.0" / "hwmon" / "hwmon3";
  Sysfs() { fs::create_directories(monitor); }
  ~Sysfs() { fs::remove_all(root); }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(monitor / file) << text << '\n';
  }
  SystemFolders folders() const { return {root / "no topology", root}; }
};

}  // namespace

TEST_CASE("an AMD GPU's clock and temperature come from its hardware monitor") {
  const Sysfs sysfs;
  sysfs.write("freq1_input", "2100000000");
  sysfs.write("temp1_input", "44000");
  CHECK(amd_condition(sysfs.folders(), "0000:C1:00.0").clock_mhz == 2100);
  CHECK(amd_condition(sysfs.folders(), "0000:C1:00.0").temperature_c == 44);
  sysfs.write("temp2_label", "junction");
  sysfs.write("temp2_input", "58000");
  CHECK(amd_condition(sysfs.folders(), "0000:c1:00.0").temperature_c == 58);
  CHECK(amd_condition(sysfs.folders(), "0000:c2:00.0").clock_mhz == 0);
}

TEST_CASE("rocm_smi tells whether an AMD GPU is throttled") {
  const std::vector<std::string> stub{HONE_BINARY_DIR "/stubs/rocm_smi/librocm_smi64.so.6"};
  CHECK(rocm_smi_throttled(stub, "0000:c1:00.0"));
  CHECK_FALSE(rocm_smi_throttled(stub, "0000:c2:00.0"));  // runs as it should
  CHECK_FALSE(rocm_smi_throttled(stub, "0000:c3:00.0"));  // its metrics have no such field
  CHECK_FALSE(rocm_smi_throttled(stub, "0001:c1:00.0"));  // not there
  CHECK_FALSE(rocm_smi_throttled(stub, "nonsense"));
  CHECK_FALSE(rocm_smi_throttled({"libno_such_library.so"}, "0000:c1:00.0"));
}
