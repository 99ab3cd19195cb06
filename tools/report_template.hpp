// The page of tools/report/ as it was built into the executable, cut where the data goes.
#pragma once

#include <string_view>

namespace hone::tools::report_template {

extern const std::string_view before_data, after_data;

}  // namespace hone::tools::report_template
