#include "tuner/json_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "hone/error.hpp"

namespace hone::tuner {
namespace {

constexpr std::size_t longest = std::size_t{1} << 30;

}  // namespace

void fail_in(const std::filesystem::path& file, const std::string& where, const std::string& why) {
  throw Error(ErrorCode::invalid, fmt::format("{}: {}: {}", file.string(), where, why));
}

std::string text_of(const std::filesystem::path& file) {
  // gzread() passes on what is not compressed.
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(::gzopen(file.c_str(), "rb"), ::gzclose);
  if (in == nullptr || std::filesystem::is_directory(file))
    throw Error(ErrorCode::invalid, fmt::format("cannot read {}", file.string()));
  std::string text;
  std::vector<char> block(1 << 20);
  int got = 0;
  while ((got = ::gzread(in.get(), block.data(), static_cast<unsigned>(block.size()))) > 0) {
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > longest) fail_in(file, "the file", "holds more than 1 GiB");
  }
  if (got < 0) throw Error(ErrorCode::invalid, fmt::format("{} is cut off or damaged", file.string()));
  return text;
}

nlohmann::json parse_json(const std::filesystem::path& file, const std::string& text) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    const std::string line = error.what();
    const auto end = line.find("] ");
    fail_in(file, "the file", "is not JSON: " + (end == std::string::npos ? line : line.substr(end + 2)));
  }
}

}  // namespace hone::tuner
