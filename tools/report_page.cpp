#include "tools/report_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <concepts>

#include "db/cover.hpp"
#include "tools/json.hpp"
#include "tools/report_template.hpp"
#include "tools/units.hpp"

namespace hone::tools {
namespace {

constexpr double units_a_nanosecond = 100;
constexpr double parts = 10'000;

template <typename Range, typename Write>
std::string array(const Range& items, const Write& write) {
  std::string json = "[";
  for (const auto& item : items) json += (json.size() == 1 ? "" : ",") + write(item);
  return json + ']';
}

/// From names and their values as JSON.
std::string object(const std::vector<std::pair<std::string_view, std::string>>& members) {
  std::string json = "{";
  for (const auto& [name, value] : members)
    json += fmt::format("{}{}:{}", json.size() == 1 ? "" : ",", json_string(name), value);
  return json + '}';
}

std::string number(std::integral auto value) {
  return fmt::format("{}", value);
}

std::string texts_of(const std::map<std::string, std::string>& items) {
  return json_object({items.begin(), items.end()});
}

std::string device_json(const ReportDevice& device) {
  const db::Device& d = device.device;
  std::vector<std::pair<std::string_view, std::string>> gop_per_s;
  for (const auto& [type, per_second] : device.work_peaks)
    gop_per_s.emplace_back(type, json_number(per_second / 1e9));
  return object({{"name", json_string(d.name)},
                 {"backend", json_string(d.backend)},
                 {"architecture", json_string(d.architecture)},
                 {"compute_units", number(d.compute_units)},
                 {"memory_bytes", number(d.memory_bytes)},
                 {"last_level_cache_bytes", number(d.last_level_cache_bytes)},
                 {"partition", json_string(d.partition)},
                 {"work_peaks", object(gop_per_s)},
                 {"peak", device.peak ? object({{"gb_per_s", json_number(device.peak->gb_per_s)},
                                                {"text", json_string(device.peak->text())}})
                                      : "null"}});
}

std::string run_json(const ReportRun& run) {
  return object({{"run", json_string(run.run.id.hex())},
                 {"started", json_string(date_text(run.run.started_us))},
                 {"ended", json_string(run.ended.empty() ? "did not end" : run.ended)},
                 {"device", number(run.device)},
                 {"command", json_string(run.run.command)},
                 {"hone", json_string(run.run.hone_version)},
                 {"seed", number(run.run.seed)},
                 {"settings", texts_of(run.run.settings)},
                 {"environment", texts_of(run.environment)},
                 {"measurements", number(run.measurements)}});
}

std::string family_json(const ReportFamily& family) {
  std::string columns = "[";
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    std::vector<std::int64_t> column;
    for (const auto& configuration : family.configurations)
      column.push_back(static_cast<std::int64_t>(configuration[i]));
    columns += fmt::format("{}\"{}\"", i == 0 ? "" : ",", packed(column));
  }
  const auto value_json = [](const db::Value& value) {
    const auto* integer = std::get_if<std::int64_t>(&value);
    return integer != nullptr ? number(*integer) : json_string(std::get<std::string>(value));
  };
  return object({{"name", json_string(family.name)},
                 {"description", json_string(family.description)},
                 {"parameters", array(family.parameters,
                                      [&](const ReportParameter& parameter) {
                                        return object({{"name", json_string(parameter.name)},
                                                       {"values", array(parameter.values, value_json)}});
                                      })},
                 {"configurations", columns + ']'},
                 {"ladder", json_array(family.ladder)}});
}

std::int64_t in_units(double nanoseconds) {
  return std::llround(nanoseconds * units_a_nanosecond);
}

std::int64_t in_parts(double difference, double median) {
  return std::llround(difference / median * parts);
}

/// Marks, column by column.
std::string columns_json(const std::vector<const ReportMark*>& marks) {
  std::vector<std::int64_t> configuration, run, race, n, minimum, q1, median, q3;
  std::int64_t before = 0;
  for (const ReportMark* mark : marks) {
    const auto number_of = static_cast<std::int64_t>(mark->configuration);
    const db::Statistics& s = mark->statistics;
    configuration.push_back(number_of - before);
    before = number_of;
    run.push_back(static_cast<std::int64_t>(mark->run));
    race.push_back(static_cast<std::int64_t>(mark->race));
    n.push_back(s.n);
    median.push_back(in_units(s.median));
    minimum.push_back(in_parts(s.median - s.minimum, s.median));
    q1.push_back(in_parts(s.median - s.q1, s.median));
    q3.push_back(in_parts(s.q3 - s.median, s.median));
  }
  const auto column = [](const std::vector<std::int64_t>& numbers) { return '"' + packed(numbers) + '"'; };
  return object({{"configuration", column(configuration)},
                 {"run", column(run)},
                 {"race", column(race)},
                 {"n", column(n)},
                 {"median", column(median)},
                 {"minimum", column(minimum)},
                 {"q1", column(q1)},
                 {"q3", column(q3)}});
}

/// The problems' marks, winners and points of the ladder each in columns over the whole group; the problems
/// say how many of them are theirs.
std::string group_json(const ReportGroup& group) {
  std::vector<const ReportMark*> marks, winners, ladder;
  std::vector<std::int64_t> alignments, tied;
  const auto problem_json = [&](const ReportProblem& problem) {
    for (const ReportMark& mark : problem.marks) marks.push_back(&mark);
    for (const ReportWinner& winner : problem.winners) {
      winners.push_back(&winner.mark);
      alignments.push_back(winner.alignment);
      tied.push_back(winner.tied);
    }
    std::vector<std::size_t> points;  // of the ladder that were measured
    for (std::size_t i = 0; i < problem.ladder.size(); ++i) {
      if (!problem.ladder[i]) continue;
      points.push_back(i);
      ladder.push_back(&*problem.ladder[i]);
    }
    const auto dimension = [](const auto& each) { return fmt::format("{}={}", each.first, each.second); };
    std::vector<std::string> shape;
    for (const auto& each : problem.problem.dimensions) shape.push_back(dimension(each));
    return object({{"shape", json_string(fmt::format("{}", fmt::join(shape, " ")))},
                   {"working_set", number(problem.working_set)},
                   {"work", number(problem.work)},
                   {"marks", number(problem.marks.size())},
                   {"winners", number(problem.winners.size())},
                   {"ladder", array(points, [](std::size_t i) { return number(i); })}});
  };
  const std::string problems = array(group.problems, problem_json);
  const auto band_json = [](const ReportBand& each) {
    const db::Band& band = each.band;
    return object({{"alignment", number(band.alignment)},
                   {"lo", number(band.lo)},
                   {"hi", band.hi == db::no_end ? "null" : number(band.hi)},
                   {"first", number(band.first)},
                   {"last", number(band.last)},
                   {"configuration", number(each.configuration)},
                   {"regret", json_number(band.regret)},
                   {"points", number(band.points)},
                   {"extrapolated", json_string(band.extrapolated())}});
  };
  return object({{"family", number(group.family)},
                 {"device", number(group.device)},
                 {"regime", json_string(db::name(group.regime))},
                 {"type", json_string(group.element_type)},
                 {"layout", json_string(group.layout)},
                 {"problems", problems},
                 {"marks", columns_json(marks)},
                 {"winners", columns_json(winners)},
                 {"alignments", array(alignments, [](std::int64_t each) { return number(each); })},
                 {"tied", array(tied, [](std::int64_t each) { return number(each); })},
                 {"ladder", columns_json(ladder)},
                 {"bands", array(group.bands, band_json)}});
}

std::string failure_json(const ReportFailure& failure) {
  return object({{"family", number(failure.family)},
                 {"device", number(failure.device)},
                 {"outcome", json_string(db::name(failure.outcome))},
                 {"reason", json_string(failure.reason)},
                 {"count", number(failure.count)},
                 {"example", json_string(failure.example)}});
}

/// Those characters are in texts only, where JSON lets them be escaped.
std::string without_markup(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&')
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      safe += c;
  }
  return safe;
}

}  // namespace

std::string packed(std::span<const std::int64_t> numbers) {
  std::string bytes;
  for (const std::int64_t signed_number : numbers) {
    auto rest =
        (static_cast<std::uint64_t>(signed_number) << 1) ^ static_cast<std::uint64_t>(signed_number >> 63);
    for (; rest > 0x7F; rest >>= 7) bytes += static_cast<char>(0x80 | (rest & 0x7F));
    bytes += static_cast<char>(rest);
  }
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(bytes.size() * 4 / 3 + 4);
  std::uint32_t buffer = 0;
  int held = 0;
  for (const char byte : bytes) {
    buffer = buffer << 8 | static_cast<std::uint8_t>(byte);
    for (held += 8; held >= 6; held -= 6) text += digits[buffer >> (held - 6) & 0x3F];
  }
  if (held > 0) text += digits[buffer << (6 - held) & 0x3F];
  return text;
}

std::string report_json(const Report& report) {
  return without_markup(object({{"format", json_string("hone/report")},
                                {"version", "1"},
                                {"hone", json_string(HONE_VERSION)},
                                {"database", json_string(report.database.filename().string())},
                                {"made", json_string(date_text(report.made_us))},
                                {"measurements", number(report.measurements)},
                                {"pairs", number(report.pairs)},
                                {"pruned", number(report.pruned)},
                                {"older", number(report.older)},
                                {"without_traffic", number(report.without_traffic)},
                                {"unreadable", json_array(report.unreadable)},
                                {"devices", array(report.devices, device_json)},
                                {"runs", array(report.runs, run_json)},
                                {"families", array(report.families, family_json)},
                                {"groups", array(report.groups, group_json)},
                                {"failures", array(report.failures, failure_json)}}));
}

std::string report_page(const Report& report) {
  std::string page(report_template::before_data);
  page += report_json(report);
  page += report_template::after_data;
  return page;
}

}  // namespace hone::tools
