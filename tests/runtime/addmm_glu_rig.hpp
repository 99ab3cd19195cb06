// The configurations of a variant of addmm_glu, and their translation units, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/compiler.hpp"
#include "runtime/plan.hpp"
#include "tests/runtime/host_rig.hpp"

namespace hone::test {

class AddmmGluRig {
 public:
  using Dimensions = std::vector<std::pair<std::string, std::int64_t>>;

  AddmmGluRig(DeviceInfo device, std::string variant)
      : device_(std::move(device)),
        family_(parse_family(templates + "/addmm_glu/addmm_glu.toml")),
        variant_(std::move(variant)) {}

  const Family& family() const { return family_; }
  const Variant& variant() const { return *family_.variant(variant_); }
  const std::string& entry() const { return variant().entry; }
  const DeviceInfo& device() const { return device_; }

  db::Problem problem(ElementType type, const std::string& layout, const Dimensions& dimensions) {
    return make_problem(evaluator_, family_, name(type), layout, dimensions);
  }

  /// Every configuration that is legal for a problem, or each `step`-th of them.
  std::vector<db::Values> configurations(const db::Problem& problem, std::size_t step = 1) {
    db::Values names = problem_names(problem);
    for (const auto& [key, value] : device_.names()) names[key] = value;
    std::vector<db::Values> result;
    std::size_t index = 0;
    evaluator_.enumerate(variant().parameters, variant().constraints, names, [&](const db::Values& values) {
      if (index++ % step == 0) result.push_back(values);
      return true;
    });
    return result;
  }

  std::variant<Plan, Illegal> plan(const db::Values& values, const db::Problem& problem) {
    return make_plan(evaluator_, family_, variant(), values, problem, device_);
  }

  std::vector<ArgumentShape> shapes(const db::Problem& problem) {
    return argument_shapes(evaluator_, family_, problem);
  }

  std::string source(const db::Values& values, ElementType type, const std::string& layout) {
    return translation_unit(variant(), values, name(type), layout, device_.backend);
  }

 private:
  DeviceInfo device_;
  Family family_;
  std::string variant_;
  db::Evaluator evaluator_;
};

}  // namespace hone::test
