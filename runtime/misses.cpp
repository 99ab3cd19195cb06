#include "runtime/misses.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <fstream>
#include <map>
#include <tuple>

#include "db/private_file.hpp"
#include "runtime/user_data.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeader = "hone misses 1";
constexpr std::array kRungs{Rung::exact,   Rung::band,       Rung::portfolio,
                            Rung::nearest, Rung::by_default, Rung::none};

std::string line_of(const Miss& miss) {
  std::string dimensions;
  for (const auto& [name, extent] : miss.problem.dimensions)
    dimensions += fmt::format("{}{}={}", dimensions.empty() ? "" : ",", name, extent);
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", miss.problem.family,
                     miss.problem.element_type, miss.problem.layout, dimensions, miss.alignment,
                     name(miss.rung), db::name(miss.regime), miss.device.hex(), miss.count, miss.newest_s);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool number(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Why the line is no miss; empty: `miss` is it.
std::string parse(std::string_view line, Miss& miss) {
  const auto fields = split(line, '\t');
  if (fields.size() != 10) return fmt::format("{} fields instead of 10", fields.size());
  miss.problem.family = fields[0];
  miss.problem.element_type = fields[1];
  miss.problem.layout = fields[2];
  for (const auto part : split(fields[3], ',')) {
    const auto equals = part.find('=');
    std::int64_t extent = 0;
    if (equals == std::string_view::npos || equals == 0 || !number(part.substr(equals + 1), extent))
      return fmt::format("`{}` is no dimension", part);
    miss.problem.dimensions.emplace_back(part.substr(0, equals), extent);
  }
  if (miss.problem.family.empty() || !parse_element_type(fields[1])) return "no problem";
  if (!number(fields[4], miss.alignment) || miss.alignment < 1) return "no alignment";
  const auto rung =
      std::find_if(kRungs.begin(), kRungs.end(), [&](Rung each) { return name(each) == fields[5]; });
  const auto regime = db::parse_regime(fields[6]);
  const auto device = db::Id::parse(fields[7]);
  if (rung == kRungs.end() || !regime || !device) return "no rung, regime or device";
  miss.rung = *rung;
  miss.regime = *regime;
  miss.device = *device;
  if (!number(fields[8], miss.count) || miss.count < 1 || !number(fields[9], miss.newest_s))
    return "no count or time";
  return {};
}

}  // namespace

MissWriter::MissWriter(fs::path folder) : folder_(std::move(folder)), process_(::getpid()) {}

MissWriter::~MissWriter() {
  flush();
}

void MissWriter::note(const Miss& miss) noexcept {
  if (folder_.empty()) return;
  try {
    if (process_ != ::getpid()) {
      // The parent writes what it had noted before the fork.
      waiting_.clear();
      file_.clear();
      process_ = ::getpid();
    }
    const std::string line = line_of(miss);
    if (waiting_.size() + line.size() <= kLargestMissFile) waiting_ += line;
  } catch (const std::exception&) {
    // A miss that cannot be noted must not cost the call that missed.
  }
}

bool MissWriter::flush() noexcept {
  if (process_ != ::getpid()) waiting_.clear();
  if (waiting_.empty()) return true;
  std::string text;
  std::swap(text, waiting_);
  try {
    db::make_private_folders(folder_);
    if (file_.empty())
      file_ = folder_ / fmt::format("{}-{}.tsv", process_, db::Id::random().hex().substr(0, 16));
    const int file = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return false;
    struct stat found {};
    bool written = ::fstat(file, &found) == 0;
    auto room = static_cast<std::size_t>(found.st_size) < kLargestMissFile
                    ? kLargestMissFile - static_cast<std::size_t>(found.st_size)
                    : 0;
    if (found.st_size == 0) text.insert(0, std::string(kHeader) + "\n");
    if (text.size() > room) text.resize(room == 0 ? 0 : text.rfind('\n', room - 1) + 1);
    written = written && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(file);
    return written;
  } catch (const std::exception&) {
    return false;
  }
}

fs::path default_misses_folder() {
  const auto data = user_data_folder();
  return data.empty() ? data : data / "misses";
}

MissesRead read_misses(const fs::path& folder) {
  MissesRead read;
  using Key = std::tuple<db::Problem, std::int64_t, db::Regime, db::Id>;
  std::map<Key, Miss> all;
  std::error_code error;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".tsv") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    std::string line;
    const auto fault = [&](std::size_t at, const std::string& why) {
      read.faults.push_back(fmt::format("{}:{}: {}", path.string(), at, why));
    };
    // One that a process wrote stops growing there; its last lines may come late.
    if (std::error_code ignored; fs::file_size(path, ignored) > 2 * kLargestMissFile || ignored) {
      fault(1, fmt::format("not read: it is larger than {} bytes", 2 * kLargestMissFile));
      continue;
    }
    if (!std::getline(stream, line) || line != kHeader) {
      fault(1, "not a file of misses that this version reads");
      continue;
    }
    std::uintmax_t bytes = line.size() + 1;
    for (std::size_t at = 2; std::getline(stream, line); ++at) {
      bytes += line.size() + (stream.eof() ? 0 : 1);
      Miss miss;
      if (const auto why = parse(line, miss); !why.empty()) {
        fault(at, why);
        continue;
      }
      const auto [known, added] =
          all.try_emplace(Key(miss.problem, miss.alignment, miss.regime, miss.device), miss);
      if (added) continue;
      known->second.count += miss.count;
      if (miss.newest_s >= known->second.newest_s) {
        known->second.newest_s = miss.newest_s;
        known->second.rung = miss.rung;
      }
    }
    read.files.push_back({path, bytes});
  }
  for (auto& [key, miss] : all) read.misses.push_back(std::move(miss));
  std::stable_sort(read.misses.begin(), read.misses.end(),
                   [](const Miss& a, const Miss& b) { return a.count > b.count; });
  return read;
}

void clear_misses(const MissesRead& read) {
  for (const auto& file : read.files) {
    std::error_code error;
    if (fs::file_size(file.path, error) == file.bytes && !error) fs::remove(file.path, error);
  }
}

}  // namespace hone
