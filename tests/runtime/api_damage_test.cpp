// Picks from damaged copies of a database: what answers is a record of the sound one, whole, or an error.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <set>

#include "tests/runtime/tuned_database.hpp"

using namespace hone;
using namespace hone::test;

namespace {

std::string read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What each of some calls gets, empty where there is an error; its code is loaded.
std::vector<std::string> answers(const std::filesystem::path& file) {
  std::vector<std::string> all(8);
  Status status;
  auto runtime = Runtime::open(on_host(file), status);
  if (!runtime) return all;
  const auto relu = runtime->family("relu", status);
  if (!relu) return all;
  std::size_t at = 0;
  for (const std::int64_t numel : {1024, 3000, 4096, 1 << 20}) {
    for (const std::size_t alignment : {4, 16}) {
      std::string& answer = all[at++];
      const auto problem = relu->problem(ElementType::f32, std::span(&numel, 1), 0, status);
      if (!problem) continue;
      const Pick pick = runtime->prepare(*problem, alignment, status);
      if (status.code != ErrorCode::ok || pick.rung() == Rung::none) continue;
      // Where a winner's code is damaged, another rung's sound record may answer: which one is no matter
      // here.
      answer = std::string(pick.variant()) + ' ' + pick.configuration() + ' ' + pick.build_key() + ' ' +
               pick.measurement() + ' ' + std::to_string(pick.statistics().median);
    }
  }
  return all;
}

void pick_from_damaged(int copies, unsigned seed) {
  const Scratch scratch;
  const auto file = scratch.path() / "damaged.db";
  {
    TunedDatabase database(scratch.path() / "sound.db");
    database.winner({.dimensions = {{"numel", 1024}}});
    database.winner({.dimensions = {{"numel", 4096}}, .changes = {{"unroll", std::int64_t{2}}}});
    database.winner({.dimensions = {{"numel", 1 << 20}}});
    database.checked_default("f32");
  }
  const std::vector<std::string> wanted = answers(scratch.path() / "sound.db");
  // Pointers aligned to 4 bytes only get what serves them.
  REQUIRE(std::count(wanted.begin(), wanted.end(), std::string()) <= 4);
  const std::set<std::string> records(wanted.begin(), wanted.end());
  const std::string original = read_bytes(scratch.path() / "sound.db");
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::size_t> anywhere(0, original.size() - 1);
  int refused = 0, same = 0;
  for (int i = 0; i < copies; ++i) {
    std::string copy = original;
    if (i % 4 == 0)
      copy.resize(anywhere(random));
    else
      for (int flips = 0; flips < i % 3 + 1; ++flips)
        copy[anywhere(random)] ^= static_cast<char>(1 << random() % 8);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << copy;
    INFO("seed " << seed << ", copy " << i);
    const std::vector<std::string> found = answers(file);
    for (std::size_t call = 0; call < wanted.size(); ++call) {
      INFO("call " << call << ": " << found[call] << "\nwanted: " << wanted[call]);
      CHECK((found[call].empty() || records.contains(found[call])));
      refused += found[call].empty();
      same += found[call] == wanted[call];
    }
  }
  WARN(copies << " copies: " << same << " picks as from the sound one, " << refused << " refused");
  CHECK(refused > 0);
  CHECK(same > 0);
}

}  // namespace

TEST_CASE("a hundred damaged copies give no wrong pick") {
  pick_from_damaged(100, 1);
}

TEST_CASE("a thousand damaged copies give no wrong pick", "[long]") {
  pick_from_damaged(1000, std::random_device{}());
}
