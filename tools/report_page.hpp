// A report as one HTML file that needs nothing else: page, style and code of tools/report/ with Chart.js, all
// of which are in the executable, and the data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tools/report_data.hpp"

namespace hone::tools {

/// Integers as bytes: zigzag, then 7 bits a byte, the least significant first, the eighth bit set on all but
/// the last of each (LEB128); those as base64 without padding. tools/report/data.js reads it.
std::string packed(std::span<const std::int64_t> numbers);

/// The data alone, as JSON without `<`, `>` and `&`, so that nothing in it ends the element that holds it or
/// is taken for markup. Columns of numbers are packed(): the configuration of a mark as the difference from
/// that of the mark before, medians in hundredths of a nanosecond, minimum and quartiles as their distance
/// from the median in parts in 10,000 of it.
std::string report_json(const Report& report);

/// The whole page.
std::string report_page(const Report& report);

}  // namespace hone::tools
