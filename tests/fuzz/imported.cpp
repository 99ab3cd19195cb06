// Fuzzes the texts that come from elsewhere. The first byte says which reader gets the rest; a new import
// format gets the next number.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "db/error.hpp"
#include "db/expression.hpp"
#include "db/json.hpp"
#include "runtime/misses.hpp"
#include "scratch_file.hpp"
#include "tools/parse.hpp"
#include "tuner/kernel_tuner_cache.hpp"
#include "tuner/t1_problem.hpp"

namespace hone::fuzz {
namespace {

/// The database's JSON: what is read is written again as it was, but for numbers' leading zeros.
void json(std::string_view text) {
  db::json::Members members;
  try {
    members = db::json::read(text);
  } catch (const std::invalid_argument&) {
    return;
  }
  const std::string written = db::json::write(members);
  if (db::json::write(db::json::read(written)) != written) __builtin_trap();
}

void misses(std::string_view text) {
  static const ScratchFolder folder;
  folder.write("1-a.tsv", text);
  const MissesRead read = read_misses(folder.path);
  for (const std::string& fault : read.faults)
    if (fault.find('\n') != std::string::npos) __builtin_trap();
  for (const Miss& miss : read.misses) miss.problem.id();
}

void peak(std::string_view text) {
  try {
    if (tools::parse_rate("RATE", text) <= 0) __builtin_trap();
  } catch (const Error&) {
  }
}

void expression(std::string_view text) {
  static db::Evaluator evaluator;
  try {
    evaluator.evaluate(text, {{"n", std::int64_t{1} << 40}, {"block", std::int64_t{256}}, {"mode", "a"}});
  } catch (const db::Error& error) {
    if (error.kind() == db::Error::Kind::internal) __builtin_trap();
  }
}

/// A file of another tuner: it is read, or one line says what is wrong with it.
template <typename Read>
void file(std::string_view text, const Read& read) {
  static const ScratchFolder folder;
  const auto file = folder.write("other.json", text);
  try {
    read(file);
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
  }
}

void t1(std::string_view text) {
  file(text, [](const std::filesystem::path& from) {
    const tuner::T1Problem problem = tuner::read_t1(from);
    std::set<std::string> names;
    for (const db::Parameter& parameter : problem.parameters) names.insert(parameter.name);
    // What Python says is an expression of the manifest's, or none of SQL's either.
    db::Evaluator evaluator;
    for (const std::string& constraint : problem.constraints) {
      try {
        evaluator.names(constraint, names);
      } catch (const db::Error& error) {
        if (error.kind() == db::Error::Kind::internal) __builtin_trap();
      }
    }
  });
}

void kernel_tuner_cache(std::string_view text) {
  file(text, [](const std::filesystem::path& from) { tuner::KernelTunerCache cache(from); });
}

}  // namespace
}  // namespace hone::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr void (*readers[])(std::string_view) = {hone::fuzz::json, hone::fuzz::misses,
                                                   hone::fuzz::peak, hone::fuzz::expression,
                                                   hone::fuzz::t1,   hone::fuzz::kernel_tuner_cache};
  if (size == 0) return 0;
  // '0' and on, so that a corpus can be read and written by hand.
  const std::size_t reader = data[0] - std::size_t{'0'};
  if (reader >= std::size(readers)) return 0;
  readers[reader]({reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
