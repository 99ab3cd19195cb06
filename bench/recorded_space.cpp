#include "bench/recorded_space.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "hone/error.hpp"

namespace hone::bench {

namespace {

using Json = nlohmann::json;

/// gzread() passes on what is not compressed.
std::string text_of(const std::filesystem::path& file) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(::gzopen(file.c_str(), "rb"), ::gzclose);
  if (in == nullptr) throw Error(ErrorCode::invalid, fmt::format("cannot read {}", file.string()));
  std::string text;
  std::vector<char> block(1 << 20);
  int got = 0;
  while ((got = ::gzread(in.get(), block.data(), static_cast<unsigned>(block.size()))) > 0)
    text.append(block.data(), static_cast<std::size_t>(got));
  if (got < 0) throw Error(ErrorCode::invalid, fmt::format("{} is cut off or damaged", file.string()));
  return text;
}

db::Value value_of(const Json& json) {
  if (json.is_number_integer()) return json.get<std::int64_t>();
  return json.is_string() ? json.get<std::string>() : json.dump();
}

}  // namespace

RecordedSpace::RecordedSpace(const std::filesystem::path& file)
    : name_(file.stem().stem().string()),
      variant_(std::make_unique<Variant>()),
      best_(std::numeric_limits<double>::infinity()) {
  try {
    const Json json = Json::parse(text_of(file));
    variant_->name = "recorded";
    const auto keys = json.at("tune_params_keys").get<std::vector<std::string>>();
    for (const std::string& key : keys) {
      db::Parameter parameter{key, {}};
      for (const Json& value : json.at("tune_params").at(key)) parameter.values.push_back(value_of(value));
      variant_->parameters.push_back(std::move(parameter));
    }
    for (const Json& entry : json.at("cache")) {
      db::Configuration configuration{name_, variant_->name, {}};
      for (const std::string& key : keys) configuration.parameters[key] = value_of(entry.at(key));
      configurations_.push_back(std::move(configuration));
      Recorded recorded;
      for (const char* cost : {"compile_time", "verification_time", "benchmark_time"})
        if (const auto at = entry.find(cost); at != entry.end() && at->is_number())
          recorded.seconds += at->get<double>() / 1000;
      if (entry.at("time").is_number()) {
        recorded.nanoseconds = entry.at("time").get<double>() * 1e6;
        best_ = std::min(best_, *recorded.nanoseconds);
      }
      recorded_.push_back(recorded);
    }
    space();  // every configuration is of the parameters' values
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::invalid, fmt::format("{}: {}", file.string(), error.what()));
  } catch (const std::bad_optional_access&) {
    throw Error(ErrorCode::invalid,
                fmt::format("{}: a configuration has values that tune_params lacks", file.string()));
  }
  if (std::isinf(best_))
    throw Error(ErrorCode::invalid, fmt::format("{}: nothing in it has a time", file.string()));
}

tuner::SearchSpace RecordedSpace::space() const {
  tuner::SearchSpace space({variant_.get()});
  for (const db::Configuration& configuration : configurations_) space.add(configuration, 1);
  return space;
}

}  // namespace hone::bench
