#include "tuner/kernel_tuner_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "tuner/json_file.hpp"

namespace hone::tuner {
namespace {

using Json = nlohmann::json;

constexpr double ns_in_ms = 1e6;
constexpr double failed_time_ms = 1e20;  ///< what versions before 0.4 wrote

/// A tuning that goes on, or was interrupted, leaves the cache and its object open.
std::string closed(std::string text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos || text[end] != ',') return text;
  text.resize(end);
  return text + "}}";
}

db::Value value_of(const Json& json) {
  if (json.is_number_integer()) return json.get<std::int64_t>();
  return json.is_string() ? json.get<std::string>() : json.dump();
}

/// `2023-12-22 09:54:05.502007+00:00`; 0: another form.
std::int64_t microseconds_of(const std::string& text) {
  std::tm time{};
  double seconds = 0;
  if (std::sscanf(text.c_str(), "%d-%d-%d%*1[ T]%d:%d:%lf", &time.tm_year, &time.tm_mon, &time.tm_mday,
                  &time.tm_hour, &time.tm_min, &seconds) != 6)
    return 0;
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  if (!(seconds >= 0 && seconds < 61)) return 0;
  const std::time_t whole = timegm(&time);
  return whole < 0 ? 0 : static_cast<std::int64_t>(whole) * 1'000'000 + std::llround(seconds * 1e6);
}

db::Outcome outcome_of(const std::string& word) {
  if (word == "CompilationFailedConfig") return db::Outcome::compile_failed;
  if (word == "RuntimeFailedConfig") return db::Outcome::launch_failed;
  if (word == "InvalidConfig") return db::Outcome::resources_exceeded;
  return db::Outcome::ok;
}

class Reader {
 public:
  Reader(const std::filesystem::path& file, const Json& json) : file_(file), json_(json) {
    if (!json_.is_object()) fail_in(file_, "the file", "is not a JSON object");
  }

  const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) fail_in(file_, key, "is missing; is it a cache of Kernel Tuner?");
    return *found;
  }

  std::string text(const char* key) const {
    if (!at(key).is_string()) fail_in(file_, key, "is not a text");
    return at(key).get<std::string>();
  }

  std::vector<std::int64_t> problem_size() const {
    const Json& size = at("problem_size");
    std::vector<std::int64_t> extents;
    for (const Json& extent : size.is_array() ? size : Json::array({size})) {
      if (!extent.is_number_integer() || extent.get<std::int64_t>() < 1)
        fail_in(file_, "problem_size", "has an extent that is no integer above zero");
      extents.push_back(extent.get<std::int64_t>());
    }
    if (extents.empty() || extents.size() > 3)
      fail_in(file_, "problem_size", "does not have one to three extents");
    return extents;
  }

  std::vector<db::Parameter> parameters() const {
    std::vector<db::Parameter> found;
    const Json& keys = at("tune_params_keys");
    const Json& values = at("tune_params");
    if (!keys.is_array() || keys.empty()) fail_in(file_, "tune_params_keys", "is no list of names");
    for (const Json& key : keys) {
      if (!key.is_string()) fail_in(file_, "tune_params_keys", "has a name that is no text");
      const auto list = values.find(key.get<std::string>());
      if (list == values.end() || !list->is_array() || list->empty())
        fail_in(file_, "tune_params", fmt::format("has no list of values of `{}`", key.get<std::string>()));
      db::Parameter parameter{key.get<std::string>(), {}};
      for (const Json& value : *list) parameter.values.push_back(value_of(value));
      found.push_back(std::move(parameter));
    }
    return found;
  }

  CachedEvaluation evaluation(const std::string& name, const Json& entry,
                              const std::vector<db::Parameter>& parameters) const {
    const std::string where = fmt::format("cache.{:.80}", name);
    if (!entry.is_object()) fail_in(file_, where, "is not an object");
    CachedEvaluation result;
    for (const db::Parameter& parameter : parameters) {
      const auto found = entry.find(parameter.name);
      if (found == entry.end()) fail_in(file_, where, fmt::format("`{}` is missing", parameter.name));
      result.values.push_back(value_of(*found));
      if (std::find(parameter.values.begin(), parameter.values.end(), result.values.back()) ==
          parameter.values.end())
        fail_in(file_, where,
                fmt::format("{} = {} is not in tune_params", parameter.name,
                            db::to_string(result.values.back())));
    }
    for (const char* cost : {"compile_time", "verification_time", "benchmark_time"})
      if (const auto at = entry.find(cost); at != entry.end() && at->is_number())
        result.seconds += at->get<double>() / 1000;
    if (const auto at = entry.find("timestamp"); at != entry.end() && at->is_string())
      result.taken_us = microseconds_of(at->get<std::string>());
    read_time(where, entry, result);
    return result;
  }

 private:
  void read_time(const std::string& where, const Json& entry, CachedEvaluation& result) const {
    const auto time = entry.find("time");
    if (time == entry.end()) fail_in(file_, where, "`time` is missing");
    if (time->is_string()) {
      result.reason = time->get<std::string>();
      result.outcome = outcome_of(result.reason);
      if (result.outcome == db::Outcome::ok)
        fail_in(file_, where, fmt::format("`time` is `{:.60}`, which is no kind of failure", result.reason));
      return;
    }
    if (!time->is_number()) fail_in(file_, where, "`time` is neither a number nor a kind of failure");
    const double milliseconds = time->get<double>();
    if (milliseconds >= failed_time_ms) {
      result.outcome = db::Outcome::launch_failed;
      result.reason = fmt::format("its time is {}, which stands for a failure", milliseconds);
      return;
    }
    if (!(milliseconds > 0)) fail_in(file_, where, "`time` is not above zero");
    result.nanoseconds = milliseconds * ns_in_ms;
    if (const auto times = entry.find("times"); times != entry.end() && times->is_array())
      for (const Json& each : *times) {
        if (!each.is_number() || !(each.get<double>() > 0) || each.get<double>() >= failed_time_ms)
          fail_in(file_, where, "`times` has what is no time above zero");
        result.samples.push_back(each.get<double>() * ns_in_ms);
      }
    if (result.samples.empty()) result.samples = {*result.nanoseconds};
  }

  const std::filesystem::path& file_;
  const Json& json_;
};

}  // namespace

KernelTunerCache::KernelTunerCache(const std::filesystem::path& file) {
  const Json json = parse_json(file, closed(text_of(file)));
  const Reader reader(file, json);
  device_ = reader.text("device_name");
  kernel_ = reader.text("kernel_name");
  problem_size_ = reader.problem_size();
  parameters_ = reader.parameters();
  const Json& cache = reader.at("cache");
  if (!cache.is_object()) fail_in(file, "cache", "is not an object");
  for (const auto& [name, entry] : cache.items())
    evaluations_.push_back(reader.evaluation(name, entry, parameters_));
  if (evaluations_.empty()) fail_in(file, "cache", "is empty");
}

}  // namespace hone::tuner
