// Ids and texts of records: canonical, unambiguous, and the words of the schema.
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <set>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "db/canonical.hpp"
#include "db/id.hpp"
#include "db/json.hpp"
#include "db/records.hpp"
#include "db/tables.hpp"

namespace hone::db {
namespace {

TEST_CASE("ids are written and read as hexadecimal digits") {
  Id id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(17 * i);
  CHECK(id.hex() == "00112233445566778899aabbccddeeff");
  CHECK(Id::parse(id.hex()) == id);
  CHECK(Id::parse("00112233445566778899AABBCCDDEEFF") == id);
  for (const char* bad : {"", "00", "00112233445566778899aabbccddeef", "00112233445566778899aabbccddeeffa",
                          "00112233445566778899aabbccddeefg", "0011223344556677 899aabbccddeeff"}) {
    CHECK(!Id::parse(bad));
  }
}

TEST_CASE("random ids are UUIDs of version 4 and differ") {
  std::set<Id> seen;
  for (int i = 0; i < 1000; ++i) {
    const Id id = Id::random();
    CHECK((id.bytes[6] >> 4) == 4);
    CHECK((id.bytes[8] >> 6) == 2);
    CHECK(seen.insert(id).second);
  }
}

TEST_CASE("the hash of a key is the documented one") {
  CHECK(KeyBuilder().id().hex() == "99aa06d3014798d86001c324468d497f");  // of nothing, as published for XXH3
  const std::string_view form(
      "t\x02\0\0\0\0\0\0\0abi\xff\xff\xff\xff\xff\xff\xff\xff"
      "b\1\0\0\0\0\0\0\0z",
      30);
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits(form.data(), form.size()));
  Id wanted;
  std::memcpy(wanted.bytes.data(), digest.digest, sizeof digest.digest);
  const std::byte z[] = {std::byte{'z'}};
  CHECK(KeyBuilder().add("ab").add(std::int64_t{-1}).add(std::span<const std::byte>(z)).id() == wanted);
}

TEST_CASE("a row's checksum is the documented one") {
  Row row(tables::run_end);
  row << std::optional<Id>() << std::int64_t{258} << "hi";
  const std::string_view form(
      "t\7\0\0\0\0\0\0\0run_end"
      "n"
      "i\2\1\0\0\0\0\0\0"
      "t\2\0\0\0\0\0\0\0hi",
      37);
  CHECK(row.checksum() == static_cast<std::int64_t>(XXH3_64bits(form.data(), form.size())));
  std::string real;
  canonical::append_real(real, 1.0);
  CHECK(real == std::string("r\0\0\0\0\0\0\xf0\x3f", 9));
  real.clear();
  canonical::append_real(real, -0.0);
  CHECK(real == std::string("r\0\0\0\0\0\0\0\0", 9));
}

TEST_CASE("a shifted field gives another key") {
  CHECK(KeyBuilder().add("12,345").id() != KeyBuilder().add("12").add("345").id());
  CHECK(KeyBuilder().add("12").id() != KeyBuilder().add(std::int64_t{12}).id());
  CHECK(KeyBuilder().add("").id() != KeyBuilder().id());
  const std::byte bytes[] = {std::byte{'1'}, std::byte{'2'}};
  CHECK(KeyBuilder().add(std::span<const std::byte>(bytes)).id() != KeyBuilder().add("12").id());
  rc::prop("lists of texts that differ have keys that differ", [](const std::vector<std::string>& fields) {
    // Any other way to cut the same characters.
    std::string joined;
    for (const std::string& field : fields) joined += field;
    const auto cut = *rc::gen::inRange<std::size_t>(0, joined.size() + 1);
    const std::vector<std::string> other{joined.substr(0, cut), joined.substr(cut)};
    KeyBuilder a, b;
    for (const std::string& field : fields) a.add(field);
    for (const std::string& field : other) b.add(field);
    RC_ASSERT((a.id() == b.id()) == (fields == other));
  });
}

TEST_CASE("configurations are the same whatever order their parameters came in") {
  Configuration a{"relu", "simt", {}}, b = a;
  a.parameters.emplace("block", std::int64_t{256});
  a.parameters.emplace("load", std::string("cs"));
  b.parameters.emplace("load", std::string("cs"));
  b.parameters.emplace("block", std::int64_t{256});
  CHECK(a.id() == b.id());
  CHECK(a.text() == "simt block=256 load=cs");
  b.parameters["block"] = std::string("256");
  CHECK(a.id() != b.id());
  CHECK(a.text() == b.text());
  CHECK(Configuration{"relu", "simt", {}}.text() == "simt");
  CHECK(Configuration{"relus", "imt", {}}.id() != Configuration{"relu", "simt", {}}.id());
}

TEST_CASE("problems depend on the order of their dimensions") {
  const Problem a{"gemm", "f16", "nt", {{"m", 1}, {"n", 2}}}, b{"gemm", "f16", "nt", {{"n", 2}, {"m", 1}}};
  CHECK(a.id() != b.id());
  CHECK(a.text() == "gemm f16 nt m=1 n=2");
  CHECK(Problem{"relu", "f16", "", {{"numel", 1048576}}}.text() == "relu f16 numel=1048576");
  CHECK(Problem{"relu", "f16", "", {{"numel", 12}, {"ld", 3}}}.id() !=
        Problem{"relu", "f16", "", {{"numel", 1}, {"ld", 23}}}.id());
}

TEST_CASE("every property of a device is part of its id") {
  const Device device{"cuda", "H200", "sm_90a", 132, 1, 2, ""};
  std::set<Id> ids{device.id()};
  Device other = device;
  other.backend = "hip";
  CHECK(ids.insert(other.id()).second);
  other = device, other.name = "H100";
  CHECK(ids.insert(other.id()).second);
  other = device, other.architecture = "sm_90";
  CHECK(ids.insert(other.id()).second);
  other = device, other.compute_units = 1;
  CHECK(ids.insert(other.id()).second);
  other = device, other.memory_bytes = 2, other.last_level_cache_bytes = 1;
  CHECK(ids.insert(other.id()).second);
  other = device, other.partition = "MIG 1g";
  CHECK(ids.insert(other.id()).second);
}

TEST_CASE("regimes and outcomes have their words") {
  for (int i = 0; i <= static_cast<int>(Outcome::crashed); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    CHECK(parse_outcome(name(outcome)) == outcome);
  }
  CHECK(name(Outcome::raced_out) == std::string("raced_out"));
  CHECK(name(Outcome::over_launched) == std::string("over_launched"));
  CHECK(parse_regime("cold") == Regime::cold);
  CHECK(name(Regime::steady) == std::string("steady"));
  CHECK(!parse_regime("Cold"));
  CHECK(!parse_outcome(""));
}

TEST_CASE("names with values survive JSON") {
  const json::Members members{{"block", std::int64_t{-256}}, {"load", std::string("c\"s\\\n\x01\xc3\xa9")}};
  CHECK(json::write(members) == "{\"block\":-256,\"load\":\"c\\\"s\\\\\\u000a\\u0001\xc3\xa9\"}");
  CHECK(json::read(json::write(members)) == members);
  CHECK(json::read("{}").empty());
  for (const char* bad :
       {"", "{", "}", "{}x", "{\"a\":}", "{\"a\":1,}", "{\"a\":1.5}", "{\"a\":99999999999999999999}", "{a:1}",
        "{\"a\":[1]}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u00", "{\"a\":\"\\u0141\"}", "[]", "{\"a\":\"open",
        "{ }", "{\"a\":null}", "{\"a\":\"\\u00-1\"}"}) {
    INFO(bad);
    CHECK_THROWS_AS(json::read(bad), std::invalid_argument);
  }
  rc::prop("any bytes and numbers", [](const std::vector<std::pair<std::string, std::int64_t>>& numbers,
                                       const std::vector<std::pair<std::string, std::string>>& texts) {
    json::Members all;
    for (const auto& [name, value] : numbers) all.emplace_back(name, value);
    for (const auto& [name, value] : texts) all.emplace_back(name, value);
    RC_ASSERT(json::read(json::write(all)) == all);
  });
  rc::prop("damaged JSON is read or refused", [](const std::string& text) {
    try {
      json::read("{\"" + text + "\":1}");
    } catch (const std::invalid_argument&) {
    }
  });
}

}  // namespace
}  // namespace hone::db
