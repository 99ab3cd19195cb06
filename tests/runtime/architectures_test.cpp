// Architectures' names and nominal limits.
#include "runtime/architectures.hpp"

#include <catch2/catch.hpp>

#include "runtime/compiler.hpp"

using namespace hone;
using Catch::Contains;

TEST_CASE("an architecture's name tells its backend") {
  for (const char* const name : {"sm_70", "sm_90", "sm_90a", "sm_100a", "sm_121", "sm_100f"}) {
    CHECK(backend_of(name) == Backend::cuda);
  }
  for (const char* const name :
       {"gfx906", "gfx90a", "gfx942", "gfx1030", "gfx90a:sramecc+:xnack-", "gfx908:xnack+"}) {
    CHECK(backend_of(name) == Backend::hip);
  }
  for (const char* const name : {"x86-64-v1", "x86-64-v4"}) CHECK(backend_of(name) == Backend::host);
  for (const char* const name :
       {"",         "sm_",  "sm_9",      "sm_9000",    "sm_90b",  "sm_9a",        "sm90",     "SM_90",
        "gfx",      "gfx9", "gfx90g",    "gfxabc",     "gfx90a:", "gfx90a:xnack", "gfx90a:+", "gfx90a xnack+",
        "gfx10300", "x86",  "x86-64-v5", "x86-64-v3 ", "H200",    "gfx90a;rm -rf"}) {
    INFO(name);
    CHECK_THROWS_WITH(backend_of(name), Contains("is no architecture") && Contains("sm_90a"));
  }
}

TEST_CASE("nominal limits are the documentation's") {
  struct Expected {
    const char* architecture;
    std::uint64_t shared_kib;
    int warp_size;
  };
  for (const Expected& expected : std::initializer_list<Expected>{{"sm_70", 96, 32},
                                                                  {"sm_75", 64, 32},
                                                                  {"sm_80", 163, 32},
                                                                  {"sm_86", 99, 32},
                                                                  {"sm_89", 99, 32},
                                                                  {"sm_90a", 227, 32},
                                                                  {"sm_90", 227, 32},
                                                                  {"sm_100a", 227, 32},
                                                                  {"sm_120", 99, 32},
                                                                  {"gfx90a", 64, 64},
                                                                  {"gfx90a:sramecc+:xnack-", 64, 64},
                                                                  {"gfx942", 64, 64},
                                                                  {"gfx950", 160, 64},
                                                                  {"gfx1030", 64, 32},
                                                                  {"gfx1100", 64, 32}}) {
    INFO(expected.architecture);
    const DeviceInfo info = nominal_device(expected.architecture);
    CHECK(info.architecture == expected.architecture);
    CHECK(info.backend == backend_of(expected.architecture));
    CHECK(info.shared_memory_bytes == expected.shared_kib * 1024);
    CHECK(info.warp_size == expected.warp_size);
    CHECK(info.max_threads == 1024);
    CHECK(info.compute_units > 0);
    CHECK(info.memory_bytes > 0);
    CHECK(info.last_level_cache_bytes > 0);
  }
  CHECK(nominal_device("sm_90a").compute_units == 132);
  CHECK(nominal_device("gfx942").last_level_cache_bytes == std::uint64_t{256} << 20);
  const DeviceInfo host = nominal_device("x86-64-v2");
  CHECK(host.backend == Backend::host);
  CHECK(host.architecture == "x86-64-v2");
  CHECK_THROWS_WITH(nominal_device("sm_42"),
                    Contains("the limits of sm_42 are not known") && Contains("sm_90"));
  CHECK_THROWS_WITH(nominal_device("gfx803"), Contains("gfx90a") && !Contains("sm_90"));
  CHECK_THROWS_AS(nominal_device("pony"), Error);
}

TEST_CASE("architecture names with and without feature flags") {
  CHECK(is_gfx_name("gfx90a"));
  CHECK(is_gfx_name("gfx942:sramecc+:xnack-"));
  CHECK_FALSE(is_gfx_name("gfx90a:SRAMECC+"));
  CHECK(without_flags("gfx942:sramecc+:xnack-") == "gfx942");
  CHECK(without_flags("sm_90a") == "sm_90a");
}
