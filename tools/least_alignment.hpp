// Below which alignment no configuration of a family can serve a call.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/answer_record.hpp"

namespace hone::tools {

/// Bytes; none where the family is not in `folders`, nothing is legal, or its space is too large to go
/// through.
std::optional<std::int64_t> least_alignment(const NamedCall& call, const DeviceInfo& device,
                                            const std::vector<TemplateFolder>& folders);

}  // namespace hone::tools
