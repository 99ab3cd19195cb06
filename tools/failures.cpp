#include "tools/failures.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "tools/json.hpp"
#include "tools/terminal.hpp"

namespace hone::tools {

void tell_failures(const std::vector<tuner::CompileFailure>& failures) {
  std::map<std::pair<db::Outcome, std::string>, std::vector<const tuner::CompileFailure*>> groups;
  for (const tuner::CompileFailure& failure : failures)
    groups[{failure.outcome, failure.reason}].push_back(&failure);
  for (const auto& [kind, members] : groups) {
    const tuner::CompileFailure& first = *members.front();
    const std::string others = members.size() == 1 ? "" : fmt::format(" and {} more", members.size() - 1);
    write_error(fmt::format("{}: {} {}{}: {}", db::name(kind.first), first.element_type,
                            first.configuration.text(), others, kind.second));
  }
}

Structured failures_cell(const std::vector<tuner::CompileFailure>& failures) {
  std::string json = "[";
  for (const tuner::CompileFailure& failure : failures) {
    json += (json.size() == 1 ? "" : ", ") + json_object({{"type", failure.element_type},
                                                          {"configuration", failure.configuration.text()},
                                                          {"outcome", std::string(db::name(failure.outcome))},
                                                          {"reason", failure.reason}});
  }
  return {json + ']', fmt::format("{}", failures.size())};
}

}  // namespace hone::tools
