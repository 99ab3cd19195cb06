#include "tools/least_alignment.hpp"

#include <algorithm>

#include "runtime/plan.hpp"
#include "tuner/space.hpp"

namespace hone::tools {

std::optional<std::int64_t> least_alignment(const NamedCall& call, const DeviceInfo& device,
                                            const std::vector<TemplateFolder>& folders) {
  constexpr std::size_t most = 100'000;  // configurations, which take a fraction of a second
  const std::vector<std::string> known = list_families(folders);
  if (std::find(known.begin(), known.end(), call.family) == known.end()) return std::nullopt;
  const Family family = find_family(call.family, folders);
  db::Evaluator evaluator;
  const tuner::SpaceSample sample = tuner::sample_space(
      evaluator, family, make_problem(evaluator, family, call.element_type, call.layout, call.shape), device,
      most, 1);
  if (!sample.whole) return std::nullopt;
  std::optional<std::int64_t> least;
  for (const tuner::Point& point : sample.points)
    if (point.excess.empty() && (!least || point.alignment < *least)) least = point.alignment;
  return least;
}

}  // namespace hone::tools
