#include "tuner/reference.hpp"

#include "hone/error.hpp"
#include "tuner/parallel.hpp"

namespace hone::tuner {

Reference::Reference(std::span<const std::byte> object)
    : library_(object), function_(reinterpret_cast<Function>(library_.symbol("hone_reference"))) {
  if (function_ == nullptr)
    throw Error(ErrorCode::invalid,
                "the reference defines no extern \"C\" hone_reference; see kernel_templates/README.md");
}

void Reference::compute(const db::Problem& problem, std::span<void* const> arguments,
                        std::int64_t items) const {
  std::vector<long long> dimensions;
  for (const auto& [name, value] : problem.dimensions) dimensions.push_back(value);
  parallel_for(items, 1, [&](std::int64_t first, std::int64_t last) {
    function_(dimensions.data(), problem.element_type.c_str(), problem.layout.c_str(), arguments.data(),
              first, last);
  });
}

}  // namespace hone::tuner
