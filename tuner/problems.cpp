#include "tuner/problems.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "runtime/plan.hpp"

namespace hone::tuner {

db::Problem at_working_set(db::Evaluator& evaluator, const Family& family, const std::string& type,
                           const std::string& layout, std::int64_t bytes) {
  const std::string swept = family.sweep.empty() ? family.dimensions.front().name : family.sweep;
  const auto problem_at = [&](std::int64_t extent) {
    Shape shape;
    for (const Dimension& d : family.dimensions)
      if (d.by_default.empty())
        shape.emplace_back(d.name, d.name == swept ? extent : std::max<std::int64_t>(1, d.minimum));
    return make_problem(evaluator, family, type, layout, shape);
  };
  std::int64_t low = 1, high = bytes;  // an element is at least a byte
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    bool fits = false;
    try {
      fits = working_set(evaluator, family, problem_at(middle)) <= bytes;
    } catch (const Error&) {
      fits = false;  // beyond the dimension's maximum or 64 bits
    }
    if (fits)
      low = middle;
    else
      high = middle - 1;
  }
  db::Problem problem = problem_at(low);
  if (const std::int64_t least = working_set(evaluator, family, problem); least > bytes)
    throw Error(
        ErrorCode::invalid,
        fmt::format("a working set of {} B is smaller than that of any problem of {} {}: {} B ({}={})", bytes,
                    family.name, type, least, swept, low));
  return problem;
}

std::vector<std::int64_t> sweep_sizes(const std::pair<std::int64_t, std::int64_t>& sweep,
                                      std::uint64_t last_level_cache) {
  std::set<std::int64_t> sizes;
  for (std::int64_t bytes = sweep.first; bytes <= sweep.second; bytes *= 2) {
    sizes.insert(bytes);
    if (bytes > INT64_MAX / 2) break;
  }
  const auto cache = static_cast<std::int64_t>(last_level_cache);
  for (const std::int64_t bytes : {cache - cache / 4, cache})
    if (bytes > sweep.first && bytes < sweep.second) sizes.insert(bytes);
  return {sizes.begin(), sizes.end()};
}

std::vector<std::string> element_types_of(const Family& family, const std::vector<std::string>& asked) {
  std::vector<std::string> all;
  for (const ElementType type : family.element_types) all.emplace_back(name(type));
  if (asked.empty()) return all;
  for (const std::string& type : asked)
    if (std::find(all.begin(), all.end(), type) == all.end())
      throw Error(ErrorCode::invalid, fmt::format("family {} has no element type {}; it has {}", family.name,
                                                  type, fmt::join(all, ", ")));
  return asked;
}

void require_variant(const Family& family, const DeviceInfo& device) {
  if (family.default_variant(device) != nullptr) return;
  throw Error(ErrorCode::invalid,
              fmt::format("family {} has no variant for {} {}; see `targets` in {}", family.name,
                          name(device.backend), device.architecture, family.file.string()));
}

void require_trust(const Family& family, bool trust) {
  if (family.trusted || trust) return;
  throw Error(
      ErrorCode::invalid,
      fmt::format(
          "{} lies outside the installed templates and your own, or where others may write; its code would "
          "run with your rights: add --trust if you trust it",
          family.file.string()));
}

std::vector<db::Problem> problems_of(db::Evaluator& evaluator, const Family& family,
                                     const TuneSettings& settings, std::uint64_t last_level_cache) {
  std::vector<db::Problem> result = settings.problems;
  for (const std::string& type : element_types_of(family, settings.element_types)) {
    for (const Shape& shape : settings.shapes)
      result.push_back(make_problem(evaluator, family, type, settings.layout, shape));
    if (!settings.sweep) continue;
    for (const std::int64_t bytes : sweep_sizes(*settings.sweep, last_level_cache))
      result.push_back(at_working_set(evaluator, family, type, settings.layout, bytes));
  }
  struct Keyed {
    std::string type, layout;
    std::int64_t bytes;
    db::Problem problem;
    auto operator<=>(const Keyed&) const = default;
  };
  std::vector<Keyed> keyed;
  for (db::Problem& problem : result) {
    const std::int64_t bytes = working_set(evaluator, family, problem);
    keyed.push_back({problem.element_type, problem.layout, bytes, std::move(problem)});
  }
  std::sort(keyed.begin(), keyed.end());
  keyed.erase(std::unique(keyed.begin(), keyed.end()), keyed.end());
  result.clear();
  for (Keyed& k : keyed) result.push_back(std::move(k.problem));
  return result;
}

}  // namespace hone::tuner
