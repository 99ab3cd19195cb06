// hone devices, in its three formats.
#include <catch2/catch.hpp>

#include "tests/tools/command.hpp"

namespace hone::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("the host is listed last, in every format") {
  const TemporaryFolder folder;
  const Ended table = run_hone({"devices"}, folder.path);
  CHECK(table.code == 0);
  CHECK_THAT(table.out, StartsWith("#"));
  CHECK_THAT(table.out, Contains("host"));

  const Ended json = run_hone({"devices", "--format", "json"}, folder.path);
  CHECK(json.code == 0);
  CHECK_THAT(json.out, StartsWith("{\"format\": \"hone/devices\", \"version\": 1, \"rows\": ["));
  CHECK_THAT(json.out, Contains("\"backend\": \"host\""));

  const Ended csv =
      run_hone({"devices", "--format", "csv", "--columns", "backend,compute_units"}, folder.path);
  CHECK(csv.code == 0);
  CHECK_THAT(csv.out, StartsWith("backend,compute_units\n"));
  const std::size_t last = csv.out.rfind('\n', csv.out.size() - 2);
  CHECK_THAT(csv.out.substr(last + 1), StartsWith("host,"));
}

TEST_CASE("a device is chosen by its backend") {
  const TemporaryFolder folder;
  const Ended host =
      run_hone({"devices", "--device", "host", "--format", "csv", "--columns", "backend"}, folder.path);
  CHECK(host.code == 0);
  CHECK(host.out == "backend\nhost\n");
}

TEST_CASE("a backend without a device says why on stderr") {
  const TemporaryFolder folder;
  const Ended ended = run_hone({"devices"}, folder.path);
  for (const std::string backend : {"cuda", "hip"}) {
    INFO(ended.out << ended.err);
    const bool listed = ended.out.find(backend) != std::string::npos;
    const bool explained = ended.err.find(backend + ": no device: ") != std::string::npos;
    CHECK(listed != explained);
  }
}

}  // namespace
}  // namespace hone::test
