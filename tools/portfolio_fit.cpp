#include "tools/portfolio_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/predictor.hpp"
#include "tools/recorded_devices.hpp"

namespace hone::tools {
namespace {

using Times = std::vector<std::pair<std::size_t, double>>;  ///< by problem, nanoseconds

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The problems of all members, and their times there.
std::vector<db::Problem> problems_of(db::Store& store, std::span<const db::PortfolioMember> members,
                                     std::vector<Times>& times) {
  std::vector<db::Problem> problems;
  std::map<db::Id, std::size_t> places;
  for (const db::PortfolioMember& member : members) {
    Times& its = times.emplace_back();
    for (const auto& cost : member.costs) {
      auto place = places.find(cost.problem);
      if (place == places.end()) {
        auto problem = store.problem(cost.problem);
        if (!problem) continue;
        place = places.emplace(cost.problem, problems.size()).first;
        problems.push_back(*std::move(problem));
      }
      its.emplace_back(place->second, cost.median);
    }
  }
  return problems;
}

Times without(const Times& times, std::size_t problem) {
  Times others;
  std::copy_if(times.begin(), times.end(), std::back_inserter(others),
               [&](const auto& each) { return each.first != problem; });
  return others;
}

}  // namespace

std::vector<std::optional<double>> fit_errors(db::Store& store, const Family& family,
                                              const db::Device& device,
                                              std::span<const db::PortfolioMember> members) {
  std::vector<Times> times;
  const std::vector<db::Problem> problems = problems_of(store, members, times);
  std::vector<std::vector<double>> errors(members.size());
  try {
    const DeviceInfo info = with_limits(device);
    db::Evaluator evaluator;
    for (std::size_t problem = 0; problem < problems.size(); ++problem) {
      std::vector<std::size_t> known;
      std::vector<Predictor::Member> measured;
      for (std::size_t i = 0; i < members.size(); ++i) {
        const db::Configuration& configuration = members[i].configuration;
        Predictor::Member member{family.variant(configuration.variant), &configuration.parameters,
                                 without(times[i], problem)};
        if (member.variant == nullptr || member.measured.empty()) continue;
        known.push_back(i);
        measured.push_back(std::move(member));
      }
      if (known.empty()) continue;
      const Predictor predictor(evaluator, family, info, problems, measured);
      const std::vector<double> expected = predictor.nanoseconds(evaluator, family, problems[problem]);
      for (std::size_t k = 0; k < known.size(); ++k)
        for (const auto& [at, nanoseconds] : times[known[k]])
          if (at == problem) errors[known[k]].push_back(std::fabs(expected[k] / nanoseconds - 1));
    }
  } catch (const Error&) {
    errors.assign(members.size(), {});
  }
  std::vector<std::optional<double>> result(members.size());
  for (std::size_t i = 0; i < members.size(); ++i)
    if (!errors[i].empty()) result[i] = median(errors[i]);
  return result;
}

}  // namespace hone::tools
