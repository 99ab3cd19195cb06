// Working sets of problems, as the manifests that they were tuned with give them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "db/expression.hpp"
#include "db/store.hpp"
#include "runtime/family.hpp"

namespace hone::tools {

class WorkingSets {
 public:
  explicit WorkingSets(db::Store& store) : store_(store) {}

  /// None where a manifest of another version cannot be read, or does not know the problem's dimensions.
  std::optional<std::int64_t> of(const db::Problem& problem);

 private:
  db::Store& store_;
  db::Evaluator evaluator_;
  std::map<std::string, std::optional<Family>> families_;
};

}  // namespace hone::tools
