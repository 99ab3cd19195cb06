#include "tools/working_sets.hpp"

#include "hone/error.hpp"
#include "runtime/plan.hpp"

namespace hone::tools {

std::optional<std::int64_t> WorkingSets::of(const db::Problem& problem) {
  const auto [found, is_new] = families_.try_emplace(problem.family);
  try {
    if (is_new) found->second = family_from_records(store_.templates(problem.family));
    if (found->second) return working_set(evaluator_, *found->second, problem);
  } catch (const Error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace hone::tools
