// Numbers as people read them, with their units.
#pragma once

#include <cstdint>
#include <string>

namespace hone::tools {

/// `840 ns`, `12.34 us`, `1.234 ms`, `2.5 s`.
std::string nanoseconds_text(double nanoseconds);

/// `0:07`, `12:34`, `1:02:03`: for clocks of running operations.
std::string clock_text(double seconds);

/// `0.8 s`, `42.1 s`, `3 m 20 s`: for how long something took.
std::string duration_text(double seconds);

/// `2026-05-17 14:03:22`, local time, from microseconds since 1970.
std::string date_text(std::int64_t microseconds);

/// The first digits of a record's id.
std::string id_text(const std::string& hex);

/// Four significant digits at most, without an exponent for what a table holds: `5441`, `958.2`, `0.25`.
std::string number_text(double number);

}  // namespace hone::tools
