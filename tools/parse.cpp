#include "tools/parse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "runtime/spelling.hpp"

namespace hone::tools {
namespace {

[[noreturn]] void refuse(std::string_view flag, std::string_view text, std::string_view remedy) {
  throw Error(ErrorCode::invalid, fmt::format("{}: `{}` is not valid; {}", flag, text, remedy));
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

/// Without the blanks around the parts.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0;;) {
    const std::size_t to = text.find(separator, from);
    parts.push_back(without_blanks(text.substr(from, to == std::string_view::npos ? to : to - from)));
    if (to == std::string_view::npos) return parts;
    from = to + 1;
  }
}

struct Quantity {
  double value = 0;
  std::string_view unit;
};

/// A decimal number, not negative, and what follows it.
std::optional<Quantity> quantity(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  Quantity result{0, text.substr(digits)};
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, result.value);
  if (digits == 0 || error != std::errc() || end != text.data() + digits) return std::nullopt;
  return result;
}

struct Unit {
  std::string_view name;
  double factor;
};

template <std::size_t N>
std::optional<double> scaled(const Quantity& quantity, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (unit.name == quantity.unit) return quantity.value * unit.factor;
  }
  return std::nullopt;
}

constexpr double kibi = 1024;
constexpr std::array<Unit, 14> byte_units{{{"", 1},
                                           {"B", 1},
                                           {"K", kibi},
                                           {"KiB", kibi},
                                           {"M", kibi* kibi},
                                           {"MiB", kibi* kibi},
                                           {"G", kibi* kibi* kibi},
                                           {"GiB", kibi* kibi* kibi},
                                           {"T", kibi* kibi* kibi* kibi},
                                           {"TiB", kibi* kibi* kibi* kibi},
                                           {"kB", 1e3},
                                           {"MB", 1e6},
                                           {"GB", 1e9},
                                           {"TB", 1e12}}};
constexpr std::array<Unit, 5> time_units{{{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}}};

std::pair<std::string_view, std::string_view> name_and_value(std::string_view flag, std::string_view part,
                                                             std::string_view example) {
  const std::size_t equals = part.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == part.size()) {
    refuse(flag, part, fmt::format("write dimensions as {}", example));
  }
  return {part.substr(0, equals), part.substr(equals + 1)};
}

}  // namespace

std::int64_t parse_integer(std::string_view flag, std::string_view text, std::int64_t minimum,
                           std::int64_t maximum) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    refuse(flag, text, fmt::format("it is out of range, the largest is {}", maximum));
  }
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    refuse(flag, text, "give a whole number");
  }
  if (value < minimum) refuse(flag, text, fmt::format("give a whole number, at least {}", minimum));
  if (value > maximum) refuse(flag, text, fmt::format("give a whole number, at most {}", maximum));
  return value;
}

std::int64_t parse_bytes(std::string_view flag, std::string_view text) {
  constexpr std::string_view remedy =
      "give bytes as 1048576, 1MiB, 64M (powers of 1024) or 64MB (powers of 1000)";
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
    return parse_integer(flag, text, 0);
  }
  const auto amount = quantity(text);
  const auto bytes = amount ? scaled(*amount, byte_units) : std::nullopt;
  if (!bytes) refuse(flag, text, remedy);
  if (*bytes >= 9223372036854775808.0) refuse(flag, text, "it is out of range, give less than 8388608TiB");
  return static_cast<std::int64_t>(std::llround(*bytes));
}

std::int64_t parse_rate(std::string_view flag, std::string_view text) {
  constexpr std::string_view suffix = "/s";
  const auto amount =
      text.ends_with(suffix) ? quantity(text.substr(0, text.size() - suffix.size())) : std::nullopt;
  const auto bytes = amount ? scaled(*amount, byte_units) : std::nullopt;
  if (!bytes || *bytes < 1 || *bytes >= 9223372036854775808.0)
    refuse(flag, text, "give bytes a second, above zero, as 4800GB/s or 4.8TB/s");
  return static_cast<std::int64_t>(std::llround(*bytes));
}

std::optional<std::int64_t> parse_operations(std::string_view text) {
  constexpr std::array<Unit, 4> units{{{"FLOP", 1}, {"GFLOP", 1e9}, {"TFLOP", 1e12}, {"PFLOP", 1e15}}};
  constexpr std::string_view suffix = "/s";
  const auto amount =
      text.ends_with(suffix) ? quantity(text.substr(0, text.size() - suffix.size())) : std::nullopt;
  const auto operations = amount ? scaled(*amount, units) : std::nullopt;
  if (!operations || *operations < 1 || *operations >= 9223372036854775808.0) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*operations));
}

double parse_seconds(std::string_view flag, std::string_view text) {
  const auto amount = quantity(text);
  const auto seconds = amount ? scaled(*amount, time_units) : std::nullopt;
  if (!seconds || *seconds <= 0 || *seconds > 1e9)
    refuse(flag, text, "give a time above zero as 60s, 5m or 1h");
  return *seconds;
}

std::int64_t parse_moment(std::string_view flag, std::string_view text, std::int64_t now_us) {
  const std::string given(text);
  for (const char* format : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    std::tm parts{};
    const char* end = ::strptime(given.c_str(), format, &parts);
    if (end == nullptr || *end != '\0') continue;
    // The calendar's own rules: the 31st of February becomes another day.
    const int day = parts.tm_mday;
    parts.tm_isdst = -1;
    const std::time_t seconds = std::mktime(&parts);
    if (seconds == -1 || parts.tm_mday != day) break;
    return static_cast<std::int64_t>(seconds) * 1'000'000;
  }
  const auto amount = quantity(text);
  const bool days = amount && amount->unit == "d";
  const auto seconds = days                              ? std::optional(amount->value * 86400)
                       : amount && !amount->unit.empty() ? scaled(*amount, time_units)
                                                         : std::nullopt;
  if (!seconds || *seconds < 0 || *seconds > 1e10)
    refuse(flag, text, "give a date as 2026-11-30 or \"2026-11-30 14:05\", or how long ago as 2h or 3d");
  return now_us - static_cast<std::int64_t>(*seconds * 1e6);
}

double parse_ratio(std::string_view flag, std::string_view text) {
  const auto ratio = quantity(text);
  if (!ratio || !ratio->unit.empty() || ratio->value <= 1 || ratio->value > 2)
    refuse(flag, text, "give a ratio above 1 and at most 2, as 1.0625");
  return ratio->value;
}

tuner::Budget parse_budget(std::string_view flag, std::string_view text) {
  tuner::Budget budget;
  for (const std::string_view part : split(text, ',')) {
    if (!part.empty() && part.find_first_not_of("-0123456789") == std::string_view::npos) {
      if (budget.configurations) refuse(flag, text, "give configurations once");
      budget.configurations = parse_integer(flag, part, 1);
    } else {
      if (budget.seconds) refuse(flag, text, "give time once");
      const auto amount = quantity(part);
      if (!amount || amount->unit.empty()) {
        refuse(flag, part, "give time as 60s, 5m or 1h, or configurations a problem as 500");
      }
      budget.seconds = parse_seconds(flag, part);
    }
  }
  return budget;
}

tuner::Shape parse_shape(std::string_view flag, std::string_view text) {
  tuner::Shape shape;
  for (const std::string_view part : split(text, ',')) {
    const auto [name, value] = name_and_value(flag, part, "M=1024,N=64");
    for (const auto& [earlier, unused] : shape) {
      if (earlier == name) refuse(flag, text, fmt::format("it gives `{}` twice", name));
    }
    shape.emplace_back(name, parse_integer(fmt::format("{} {}", flag, name), value, 0));
  }
  return shape;
}

std::pair<std::int64_t, std::int64_t> parse_sweep(std::string_view flag, std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 2) refuse(flag, text, "give the smallest and the largest working set as 1MiB:4GiB");
  const std::int64_t low = parse_bytes(flag, parts[0]);
  const std::int64_t high = parse_bytes(flag, parts[1]);
  if (low < 1) refuse(flag, text, "give a smallest working set above zero");
  if (low > high) refuse(flag, text, "give the smaller working set first");
  return {low, high};
}

std::vector<Bound> parse_bounds(std::string_view flag, std::string_view text) {
  std::vector<Bound> bounds;
  for (const std::string_view part : split(text, ',')) {
    const auto [name, value] = name_and_value(flag, part, "numel=1048576 or numel=1024:4096");
    const std::size_t colon = value.find(':');
    Bound bound{std::string(name), parse_integer(flag, value.substr(0, colon), 0), 0};
    bound.highest = colon == std::string_view::npos
                        ? bound.lowest
                        : parse_integer(flag, value.substr(colon + 1), bound.lowest);
    bounds.push_back(std::move(bound));
  }
  return bounds;
}

db::Regime parse_regime(std::string_view flag, std::string_view text) {
  return *db::parse_regime(parse_choice(flag, text, {name(db::Regime::steady), name(db::Regime::cold)}));
}

std::string parse_choice(std::string_view flag, std::string_view text,
                         const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), text) == known.end()) {
    // Of numbers none is nearer to what was meant than another.
    const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    throw Error(ErrorCode::invalid, fmt::format("{}: no `{}`{}", flag, text,
                                                number ? fmt::format("; there are {}", fmt::join(known, ", "))
                                                       : suggestion(text, known)));
  }
  return std::string(text);
}

std::vector<std::string> split_list(std::string_view flag, const std::vector<std::string>& given) {
  std::vector<std::string> all;
  for (const std::string& text : given) {
    for (const std::string_view part : split(text, ',')) {
      if (part.empty()) refuse(flag, text, "leave out the comma, or give a value on both sides of it");
      all.emplace_back(part);
    }
  }
  return all;
}

}  // namespace hone::tools
