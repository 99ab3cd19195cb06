// The configurations of a family that includes elementwise.toml, and their translation units, for tests.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compiler.hpp"
#include "runtime/plan.hpp"
#include "tests/runtime/host_rig.hpp"

namespace hone::test {

class ElementwiseRig {
 public:
  explicit ElementwiseRig(DeviceInfo device, const std::string& family = "relu", std::string variant = "simt")
      : device_(std::move(device)),
        family_(parse_family(templates + "/" + family + "/" + family + ".toml")),
        variant_(std::move(variant)) {}

  const Family& family() const { return family_; }
  const Variant& variant() const { return *family_.variant(variant_); }
  const std::string& entry() const { return variant().entry; }
  const DeviceInfo& device() const { return device_; }

  db::Problem problem(ElementType type, std::int64_t numel) {
    return make_problem(evaluator_, family_, name(type), "", {{"numel", numel}});
  }

  /// Every configuration that is legal for a problem of `numel` elements.
  std::vector<db::Values> configurations(ElementType type, std::int64_t numel = 1 << 20) {
    db::Values names = problem_names(problem(type, numel));
    for (const auto& [key, value] : device_.names()) names[key] = value;
    std::vector<db::Values> result;
    evaluator_.enumerate(variant().parameters, variant().constraints, names, [&](const db::Values& values) {
      result.push_back(values);
      return true;
    });
    return result;
  }

  std::variant<Plan, Illegal> plan(const db::Values& values, ElementType type, std::int64_t numel) {
    return make_plan(evaluator_, family_, variant(), values, problem(type, numel), device_);
  }

  std::string source(const db::Values& values, ElementType type) {
    return translation_unit(variant(), values, name(type), "", device_.backend);
  }

 private:
  DeviceInfo device_;
  Family family_;
  std::string variant_;
  db::Evaluator evaluator_;
};

/// A subset of `all` in which every combination of `together` parameters' values that occurs occurs still.
inline std::vector<db::Values> covering(const std::vector<db::Values>& all, int together) {
  std::set<std::string> covered;
  const auto combinations = [&](const db::Values& values) {
    std::vector<std::string> result;
    for (auto a = values.begin(); a != values.end(); ++a) {
      const std::string first = a->first + "=" + db::to_string(a->second);
      if (together == 1) result.push_back(first);
      for (auto b = std::next(a); together == 2 && b != values.end(); ++b) {
        result.push_back(first + " " + b->first + "=" + db::to_string(b->second));
      }
    }
    return result;
  };
  std::vector<db::Values> chosen;
  for (;;) {
    const db::Values* best = nullptr;
    std::ptrdiff_t most = 0;
    for (const auto& values : all) {
      const auto each = combinations(values);
      const auto fresh =
          std::count_if(each.begin(), each.end(), [&](const auto& c) { return !covered.contains(c); });
      if (fresh > most) {
        most = fresh;
        best = &values;
      }
    }
    if (best == nullptr) return chosen;
    chosen.push_back(*best);
    for (auto& each : combinations(*best)) covered.insert(std::move(each));
  }
}

}  // namespace hone::test
