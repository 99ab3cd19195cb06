#include "tools/t4.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <fstream>

#include "db/backup.hpp"
#include "tools/json.hpp"

namespace hone::tools {
namespace {

/// T4's word for why a configuration is not valid.
const char* invalidity(db::Outcome outcome) {
  switch (outcome) {
    case db::Outcome::ok:
    case db::Outcome::raced_out:
      return "correct";
    case db::Outcome::pruned:
    case db::Outcome::resources_exceeded:
      return "constraints";
    case db::Outcome::compile_failed:
      return "compile";
    case db::Outcome::launch_failed:
    case db::Outcome::crashed:
      return "runtime";
    case db::Outcome::timed_out:
      return "timeout";
    case db::Outcome::wrong_result:
    case db::Outcome::wrote_outside:
    case db::Outcome::input_changed:
    case db::Outcome::over_launched:
      return "correctness";
  }
  return "runtime";
}

std::string timestamp(std::int64_t microseconds) {
  const std::chrono::sys_time<std::chrono::microseconds> at{std::chrono::microseconds(microseconds)};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)), (at - seconds).count());
}

std::string device_object(const db::Device& device) {
  return json_object({{"backend", device.backend},
                      {"name", device.name},
                      {"architecture", device.architecture},
                      {"compute_units", device.compute_units},
                      {"memory_bytes", device.memory_bytes},
                      {"last_level_cache_bytes", device.last_level_cache_bytes},
                      {"partition", device.partition}});
}

std::string problem_object(const db::Problem& problem) {
  return fmt::format("{{\"family\": {}, \"element_type\": {}, \"layout\": {}, \"shape\": {}}}",
                     json_string(problem.family), json_string(problem.element_type),
                     json_string(problem.layout),
                     json_object({problem.dimensions.begin(), problem.dimensions.end()}));
}

std::string result(const db::MeasuredRow& row, const std::vector<double>& samples) {
  constexpr double ns_in_ms = 1e6;
  const db::Measurement& m = row.measurement;
  const bool right =
      (m.outcome == db::Outcome::ok || m.outcome == db::Outcome::raced_out) && m.statistics.n > 0;
  std::string runtimes;
  for (const double sample : samples)
    runtimes += (runtimes.empty() ? "" : ", ") + json_number(sample / ns_in_ms);
  std::string measurements;
  if (right)
    for (const auto& [name, value] : {std::pair{"time", m.statistics.median},
                                      {"minimum", m.statistics.minimum},
                                      {"q1", m.statistics.q1},
                                      {"q3", m.statistics.q3}})
      measurements += fmt::format("{}{{\"name\": \"{}\", \"value\": {}, \"unit\": \"ns\"}}",
                                  measurements.empty() ? "" : ", ", name, json_number(value));
  std::string text = fmt::format(
      "{{\"timestamp\": {}, \"configuration\": {}, \"objectives\": [\"time\"], \"times\": {{\"runtimes\": "
      "[{}]}}, "
      "\"invalidity\": \"{}\", \"correctness\": {}, \"measurements\": [{}], \"device\": {}, \"problem\": {}, "
      "\"variant\": {}, \"regime\": \"{}\", \"stage\": \"{}\", \"outcome\": \"{}\", \"run\": \"{}\", "
      "\"measurement\": \"{}\"",
      json_string(timestamp(m.taken_us)),
      json_object({row.configuration.parameters.begin(), row.configuration.parameters.end()}),
      right ? runtimes : "", invalidity(m.outcome), right ? 1 : 0, measurements, device_object(row.device),
      problem_object(row.problem), json_string(row.configuration.variant), db::name(m.regime),
      db::name(m.stage), db::name(m.outcome), m.run.hex(), m.id.hex());
  if (!m.reason.empty()) text += ", \"reason\": " + json_string(m.reason);
  return text + "}";
}

}  // namespace

std::int64_t write_t4(db::Store& store, const Filters& filters, const std::filesystem::path& to) {
  std::int64_t results = 0;
  db::publish(to, [&](const std::filesystem::path& part) {
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    out << "{\"schema_version\": \"1.0.0\", \"results\": [";
    for (const db::MeasuredRow& row : store.measurements(filters.filter())) {
      if (!filters.match(row)) continue;
      const auto whole = store.measurement(row.measurement.id);
      out << (results++ == 0 ? "\n" : ",\n") << result(row, whole ? whole->samples : std::vector<double>());
    }
    out << "\n]}\n";
    out.close();
    if (!out)
      throw Error(ErrorCode::environment,
                  fmt::format("{}: cannot be written; make room or check the permissions", to.string()));
  });
  return results;
}

}  // namespace hone::tools
