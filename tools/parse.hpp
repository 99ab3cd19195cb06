// From the texts of the command line to values. Each throws Error{invalid} whose line names the flag.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/tune.hpp"

namespace hone::tools {

/// A whole number in [minimum, maximum].
std::int64_t parse_integer(std::string_view flag, std::string_view text, std::int64_t minimum = INT64_MIN,
                           std::int64_t maximum = INT64_MAX);

/// Bytes: `1048576`, `1MiB`, `64M`, `1.5GiB`. K, M, G, T and KiB, MiB, GiB, TiB are powers of 1024; kB, MB,
/// GB, TB are powers of 1000.
std::int64_t parse_bytes(std::string_view flag, std::string_view text);

/// Bytes a second, above zero: `4800GB/s`, `4.8TB/s`.
std::int64_t parse_rate(std::string_view flag, std::string_view text);

/// Operations a second, above zero: `989TFLOP/s`, `67GFLOP/s`; none for another unit.
std::optional<std::int64_t> parse_operations(std::string_view text);

/// Seconds: `60s`, `5m`, `1h`, `0.5s`, `250ms`; without a unit, seconds.
double parse_seconds(std::string_view flag, std::string_view text);

/// A moment, microseconds since 1970: `2026-11-30`, `2026-11-30 14:05` or `2026-11-30 14:05:30` in local
/// time, or `2h`, `30m`, `3d` before `now_us`.
std::int64_t parse_moment(std::string_view flag, std::string_view text, std::int64_t now_us);

/// A ratio above 1 and at most 2: `1.0625`.
double parse_ratio(std::string_view flag, std::string_view text);

/// `60s` or `5m` is time, `500` is configurations a problem; `60s,500` is both.
tuner::Budget parse_budget(std::string_view flag, std::string_view text);

/// `M=1024,N=64`, each dimension once.
tuner::Shape parse_shape(std::string_view flag, std::string_view text);

/// Two sizes in bytes, the first not larger: `1MiB:4GiB`.
std::pair<std::int64_t, std::int64_t> parse_sweep(std::string_view flag, std::string_view text);

/// Bounds, both included, that dimensions are filtered by: `numel=1048576` or `numel=1024:4096`.
struct Bound {
  std::string dimension;
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
};
std::vector<Bound> parse_bounds(std::string_view flag, std::string_view text);

db::Regime parse_regime(std::string_view flag, std::string_view text);

/// One of `known`, else an error that suggests the nearest.
std::string parse_choice(std::string_view flag, std::string_view text, const std::vector<std::string>& known);

/// Values given by repeating a flag, by commas, or both; blanks around them do not count, and none is empty.
std::vector<std::string> split_list(std::string_view flag, const std::vector<std::string>& given);

}  // namespace hone::tools
