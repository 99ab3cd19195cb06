// How good the runtime's answers are: at each size, drawn among those that were never tuned or given, its
// pick meets the best of a random sample of the space, and the winner of another database where the same
// problem was tuned.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include "bench/rig.hpp"
#include "hone/hone.hpp"
#include "runtime/plan.hpp"
#include "tools/exit_code.hpp"
#include "tools/flags.hpp"
#include "tools/parse.hpp"
#include "tuner/problems.hpp"
#include "tuner/space.hpp"

namespace hone::bench {
namespace {

using namespace hone::tuner;

constexpr std::size_t kAlignment = 256;  // what allocators give; the rig's buffers have it too
constexpr std::size_t kFinalists = 8;    // of the sample, by first look
constexpr double kGeometricMean = 0.99;  // what the answers must reach, of the best
constexpr double kMinimum = 0.95;

struct HeldOut {
  db::Problem problem;
  Pick pick;
};

HeldOut ask(Runtime& runtime, const db::Problem& problem) {
  std::vector<std::int64_t> dimensions;
  for (const auto& [name, extent] : problem.dimensions) dimensions.push_back(extent);
  const Pick pick = runtime.pick(
      runtime.family(problem.family).problem(problem.element_type, dimensions, problem.layout), kAlignment);
  if (!pick) throw Error(ErrorCode::no_answer, pick.why());
  return {problem, pick};
}

/// Problems of working sets drawn log-uniformly, each once, none that the database answers exactly.
std::vector<HeldOut> draw(Rig& rig, Runtime& runtime, const std::string& type,
                          const std::pair<std::int64_t, std::int64_t>& range, std::size_t count,
                          std::mt19937_64& random) {
  std::uniform_real_distribution<double> exponent(std::log2(static_cast<double>(range.first)),
                                                  std::log2(static_cast<double>(range.second)));
  std::set<db::Problem> drawn;
  std::vector<HeldOut> result;
  for (std::size_t tries = 0; result.size() < count; ++tries) {
    if (tries > 100 * count)
      throw Error(ErrorCode::invalid, fmt::format("--range has no {} sizes that were not tuned", count));
    const auto bytes = static_cast<std::int64_t>(std::exp2(exponent(random)));
    const db::Problem problem = at_working_set(rig.evaluator(), rig.family(), type, "", bytes);
    if (!drawn.insert(problem).second) continue;
    HeldOut held_out = ask(runtime, problem);
    if (held_out.pick.rung() != Rung::exact) result.push_back(std::move(held_out));
  }
  return result;
}

std::vector<HeldOut> given(Rig& rig, Runtime& runtime, const std::string& type, const std::string& layout,
                           const std::vector<Shape>& shapes) {
  std::vector<HeldOut> result;
  for (const Shape& shape : shapes)
    result.push_back(ask(runtime, make_problem(rig.evaluator(), rig.family(), type, layout, shape)));
  return result;
}

/// What a pick is: `simt block=256 vector=16`, of the rig's templates.
db::Configuration configuration_of(Rig& rig, const HeldOut& held_out) {
  std::istringstream text(held_out.pick.configuration());
  db::Configuration result{rig.family().name, "", {}};
  text >> result.variant;
  if (const Variant* variant = rig.family().variant(result.variant))
    for (std::string word; text >> word;) {
      const auto cut = word.find('=');
      for (const db::Parameter& parameter : variant->parameters)
        for (const db::Value& value : parameter.values)
          if (parameter.name == word.substr(0, cut) && db::to_string(value) == word.substr(cut + 1))
            result.parameters[parameter.name] = value;
    }
  if (result.text() != held_out.pick.configuration() ||
      !point_of(rig.evaluator(), rig.family(), *rig.family().variant(result.variant), result.parameters,
                held_out.problem, rig.device()))
    throw Error(ErrorCode::failed,
                fmt::format("{}: the pick, {}, is not in the space; are these its templates?",
                            held_out.problem.text(), held_out.pick.configuration()));
  return result;
}

/// The pick, what `against` answers where it was tuned for the problem, the default, and `size` others at
/// random.
std::vector<db::Configuration> field_of(Rig& rig, const HeldOut& held_out, Runtime* against, std::size_t size,
                                        std::mt19937_64& random) {
  std::vector<db::Configuration> field{configuration_of(rig, held_out)};
  const auto add = [&](db::Configuration configuration) {
    if (std::find(field.begin(), field.end(), configuration) == field.end())
      field.push_back(std::move(configuration));
  };
  if (against != nullptr) add(configuration_of(rig, ask(*against, held_out.problem)));
  add(default_configuration(rig.family(), rig.device()));
  for (Point& point :
       sample_space(rig.evaluator(), rig.family(), held_out.problem, rig.device(), size, random()).points)
    if (point.excess.empty()) add(std::move(point.configuration));
  return field;
}

/// The pick's slot first, then those of the fastest others by first look.
std::vector<std::uint32_t> finalists_of(const std::vector<Tried>& tried, const HeldOut& held_out) {
  if (tried.front().outcome != db::Outcome::ok)
    throw Error(ErrorCode::failed, fmt::format("{}: the pick, {}: {}", held_out.problem.text(),
                                               held_out.pick.configuration(), tried.front().reason));
  std::vector<std::uint32_t> slots;
  for (std::uint32_t i = 1; i < tried.size(); ++i)
    if (tried[i].outcome == db::Outcome::ok) slots.push_back(i);
  std::sort(slots.begin(), slots.end(),
            [&](auto a, auto b) { return tried[a].look.minimum < tried[b].look.minimum; });
  slots.resize(std::min(slots.size(), kFinalists));
  slots.insert(slots.begin(), 0);
  return slots;
}

struct Meeting {
  std::uint32_t best = 0;  ///< the fastest one's slot
  double pick_ns = 0, best_ns = 0;
};

/// Races all, then the fastest and the pick by themselves: the fastest median of many is so by luck in part.
Meeting meet(Rig& rig, const std::vector<Tried>& tried, const std::vector<std::uint32_t>& slots,
             std::uint64_t seed) {
  const auto faster = [](const auto& a, const auto& b) { return a.median < b.median; };
  std::int64_t launches = 0;
  const auto full = rig.measure_fully(tried, slots, seed, launches);
  const auto fastest = std::min_element(full.begin(), full.end(), faster);
  const std::uint32_t best = slots[static_cast<std::size_t>(fastest - full.begin())];
  if (best == slots.front()) return {best, fastest->median, fastest->median};
  const auto again = rig.measure_fully(tried, {slots.front(), best}, seed + 1, launches);
  return {best, again[0].median, again[1].median};
}

int compare(const tools::Options& options) {
  const auto range = tools::parse_sweep("--range", options.get("range", "1MiB:8GiB"));
  const auto sizes =
      static_cast<std::size_t>(tools::parse_integer("--sizes", options.get("sizes", "60"), 1, 10000));
  const auto sample =
      static_cast<std::size_t>(tools::parse_integer("--sample", options.get("sample", "150"), 0));
  const auto seed = static_cast<std::uint64_t>(tools::parse_integer("--seed", options.get("seed", "1"), 0));

  const std::vector<Shape> shapes = tools::shapes_of(options);

  OpenOptions open;
  open.databases = {tools::database_of(options).string()};
  open.device = options.get("device", "");
  open.record_misses = false;
  Runtime runtime = Runtime::open(open);
  std::optional<Runtime> against;
  if (!options.get("against", "").empty()) {
    open.databases = {options.get("against", "")};
    against = Runtime::open(open);
  }
  Rig rig(options);
  std::mt19937_64 random(seed);
  std::vector<double> ratios;
  std::map<Rung, std::vector<double>> by_rung;
  fmt::print("# {} on {}, samples of {}\n", rig.family().name, rig.device().name, sample);
  fmt::print("problem,rung,best_over_pick,pick_ns,best_ns,pick,best\n");
  for (const std::string& type : tuner::element_types_of(rig.family(), tools::element_types_of(options))) {
    for (const HeldOut& held_out : shapes.empty()
                                       ? draw(rig, runtime, type, range, sizes, random)
                                       : given(rig, runtime, type, options.get("layout", ""), shapes)) {
      rig.set_problem(held_out.problem);
      const auto tried = rig.look(field_of(rig, held_out, against ? &*against : nullptr, sample, random));
      const Meeting meeting = meet(rig, tried, finalists_of(tried, held_out), seed);
      const double ratio = std::min(1.0, meeting.best_ns / meeting.pick_ns);
      ratios.push_back(ratio);
      by_rung[held_out.pick.rung()].push_back(ratio);
      fmt::print("{},{},{:.4f},{:.1f},{:.1f},{},{}\n", held_out.problem.text(), name(held_out.pick.rung()),
                 ratio, meeting.pick_ns, meeting.best_ns, tried.front().configuration.text(),
                 tried[meeting.best].configuration.text());
      std::fflush(stdout);
    }
  }
  const auto summary = [](std::string_view what, const std::vector<double>& of) {
    fmt::print("# {}: {} picks reach {:.4f} of the best (geometric mean), at worst {:.4f}\n", what, of.size(),
               geometric_mean(of), *std::min_element(of.begin(), of.end()));
  };
  for (const auto& [rung, of] : by_rung) summary(name(rung), of);
  summary("all", ratios);
  fmt::print("# {}\n", rig.conditions().text());
  const bool good =
      geometric_mean(ratios) >= kGeometricMean && *std::min_element(ratios.begin(), ratios.end()) >= kMinimum;
  return good ? tools::exit_done : tools::exit_failed;
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  hone::tools::Options options(
      "bench_held_out", "", "bench_held_out --device 0 --db hone.db --dtype f16 --sizes 60 --sample 150",
      "Asks the runtime for sizes that were never tuned, and races its picks with the best of a random "
      "sample "
      "of the space. CSV on stdout; exit code 1 when the picks reach less than 0.99 of the best in the "
      "geometric mean, or less than 0.95 anywhere.");
  hone::bench::add_rig_flags(options);
  hone::tools::add_database_flag(options);
  hone::tools::add_type_flag(options);
  options.list("shape", "M=1024,N=64", "this problem, tuned or not, instead of sizes that are drawn")
      .value("layout", "L", "of the problems given by --shape")
      .value("against", "DB",
             "a database whose answers to the same problems take part, as where they were tuned")
      .value("range", "LO:HI", "working sets, drawn log-uniformly (1MiB:8GiB)")
      .value("sizes", "N", "sizes drawn for each element type (60)")
      .value("sample", "N", "random configurations tried on each besides; all there are if fewer (150)")
      .value("seed", "N", "of the sizes, the samples and the order of measuring (1)");
  return hone::bench::run(argc, argv, options, hone::bench::compare);
}
