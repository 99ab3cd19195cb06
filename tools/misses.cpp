#include "tools/misses.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace hone::tools {

Misses::Misses(const std::string& family, db::Regime regime, const std::vector<std::string>& element_types,
               const std::vector<db::Id>& devices)
    : read_(read_misses(default_misses_folder())) {
  std::set<db::Problem> clusters;
  for (const Miss& miss : read_.misses) {
    const std::string& type = miss.problem.element_type;
    const bool wanted = miss.problem.family == family && miss.regime == regime &&
                        std::find(devices.begin(), devices.end(), miss.device) != devices.end() &&
                        (element_types.empty() ||
                         std::find(element_types.begin(), element_types.end(), type) != element_types.end());
    if (!wanted) {
      others_.push_back(miss);
      continue;
    }
    db::Problem cluster = miss.problem;
    for (auto& [name, extent] : cluster.dimensions) {
      extent = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(extent)));
    }
    // The most asked for come first, so the first of a cluster stands for it.
    if (clusters.insert(std::move(cluster)).second) problems_.push_back(miss.problem);
  }
}

void Misses::clear() const {
  {
    MissWriter keep(default_misses_folder());
    for (const Miss& miss : others_) keep.note(miss);
    if (!keep.flush()) return;
  }
  clear_misses(read_);
}

}  // namespace hone::tools
