// Choosing devices, their names for expressions, their records.
#include <catch2/catch.hpp>

#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/device_choice.hpp"

using namespace hone;
using Catch::Contains;

namespace {

DeviceInfo device(Backend backend, int index, const std::string& name, const std::string& architecture) {
  DeviceInfo info;
  info.backend = backend;
  info.index = index;
  info.name = name;
  info.architecture = architecture;
  info.compute_units = 100;
  info.memory_bytes = std::uint64_t{80} << 30;
  info.last_level_cache_bytes = 50 << 20;
  info.shared_memory_bytes = 227 << 10;
  info.max_threads = 1024;
  info.warp_size = 32;
  return info;
}

DeviceList machine() {
  DeviceList list;
  list.devices = {device(Backend::cuda, 0, "NVIDIA H200", "sm_90a"),
                  device(Backend::cuda, 1, "NVIDIA H200", "sm_90a"),
                  device(Backend::cuda, 2, "NVIDIA A100", "sm_80"),
                  device(Backend::hip, 0, "AMD Instinct MI210", "gfx90a:sramecc+:xnack-"),
                  device(Backend::host, 0, "AMD EPYC", "x86-64-v4")};
  list.problems = {};
  return list;
}

std::vector<std::string> chosen(const std::string& choice) {
  std::vector<std::string> texts;
  for (const DeviceInfo& info : choose_devices(machine(), choice)) {
    texts.push_back(std::string(name(info.backend)) + std::to_string(info.index));
  }
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("devices are chosen by index, backend, architecture and part of a name") {
  CHECK(chosen("") == Texts{"cuda0"});
  CHECK(chosen("0") == Texts{"cuda0"});
  CHECK(chosen("1") == Texts{"cuda1"});
  CHECK(chosen("3") == Texts{"hip0"});
  CHECK(chosen("4") == Texts{"host0"});
  CHECK(chosen("all") == Texts{"cuda0", "cuda1", "cuda2", "hip0", "host0"});
  // Equal devices have one answer between them.
  CHECK(chosen("cuda") == Texts{"cuda0", "cuda2"});
  CHECK(chosen("hip") == Texts{"hip0"});
  CHECK(chosen("host") == Texts{"host0"});
  CHECK(chosen("sm_90a") == Texts{"cuda0"});
  CHECK(chosen("sm_90") == Texts{"cuda0"});
  CHECK(chosen("sm_80") == Texts{"cuda2"});
  CHECK(chosen("gfx90a") == Texts{"hip0"});
  CHECK(chosen("gfx90a:sramecc+:xnack-") == Texts{"hip0"});
  CHECK(chosen("h200") == Texts{"cuda0"});
  CHECK(chosen("AMD") == Texts{"hip0", "host0"});
  CHECK(chosen("EPYC") == Texts{"host0"});
  CHECK(chosen("0,1") == Texts{"cuda0", "cuda1"});
  CHECK(chosen("1,cuda,host,4") == Texts{"cuda1", "cuda0", "cuda2", "host0"});
}

TEST_CASE("a choice that matches nothing names what there is") {
  for (const char* const choice : {",", "0,", ",0", "0,,1"}) {
    INFO(choice);
    CHECK_THROWS_WITH(chosen(choice), Contains("empty device"));
  }
  CHECK_THROWS_WITH(chosen("0,7"), Contains("no device 7"));
  for (const char* const choice : {"5", "99999999999999999999", "sm_9", "gfx90", "B200", "-1", "0x0", " "}) {
    INFO(choice);
    const auto failure = [&] { static_cast<void>(choose_devices(machine(), choice)); };
    if (std::string(choice) == " ") {
      CHECK(chosen(choice).size() > 1);  // every name has one
      continue;
    }
    CHECK_THROWS_WITH(failure(),
                      Contains("0: cuda sm_90a NVIDIA H200") && Contains("4: host x86-64-v4 AMD EPYC"));
    try {
      failure();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::environment);
    }
  }
  DeviceList host_only;
  host_only.devices = {device(Backend::host, 0, "CPU", "x86-64-v3")};
  host_only.problems = {{Backend::cuda, "NVIDIA's driver: library not found (tried libcuda.so.1)"}};
  CHECK_THROWS_WITH(choose_devices(host_only, "cuda"),
                    "no cuda device: NVIDIA's driver: library not found (tried libcuda.so.1)");
}

TEST_CASE("this machine's list ends with the host, and every backend is there or says why not") {
  const DeviceList list = list_devices();
  REQUIRE_FALSE(list.devices.empty());
  CHECK(list.devices.back().backend == Backend::host);
  for (const Backend backend : {Backend::cuda, Backend::hip}) {
    bool told = false;
    for (const DeviceInfo& info : list.devices) told |= info.backend == backend;
    for (const BackendProblem& problem : list.problems) {
      told |= problem.backend == backend;
      CHECK(problem.why.find('\n') == std::string::npos);
    }
    CHECK(told);
  }
}

TEST_CASE("a device's names and record") {
  const DeviceInfo info = device(Backend::hip, 3, "AMD Instinct MI210", "gfx90a:sramecc+:xnack-");
  const db::Values names = info.names();
  CHECK(names.size() == 8);
  CHECK(std::get<std::string>(names.at("backend")) == "hip");
  CHECK(std::get<std::string>(names.at("architecture")) == "gfx90a");
  CHECK(std::get<std::int64_t>(names.at("compute_units")) == 100);
  CHECK(std::get<std::int64_t>(names.at("last_level_cache")) == 50 << 20);
  CHECK(std::get<std::int64_t>(names.at("shared_memory")) == 227 << 10);
  CHECK(std::get<std::int64_t>(names.at("max_threads")) == 1024);
  CHECK(std::get<std::int64_t>(names.at("warp_size")) == 32);
  CHECK(std::get<std::int64_t>(names.at("capability")) == 0);
  CHECK(std::get<std::int64_t>(nominal_device("sm_90a").names().at("capability")) == 90);
  CHECK(std::get<std::int64_t>(nominal_device("sm_120a").names().at("capability")) == 120);
  CHECK(std::get<std::int64_t>(nominal_device("x86-64-v3").names().at("capability")) == 0);

  const db::Device record = info.record();
  CHECK(record.backend == "hip");
  CHECK(record.architecture == "gfx90a:sramecc+:xnack-");
  CHECK(record.memory_bytes == std::int64_t{80} << 30);
  DeviceInfo elsewhere = info;
  elsewhere.index = 0;
  elsewhere.bus = "0000:c1:00.0";
  elsewhere.driver = "HIP 7.0";
  CHECK(elsewhere.record().id() == record.id());
  elsewhere.partition = "CPX";
  CHECK(elsewhere.record().id() != record.id());
}
