#include "runtime/winner_index.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "db/error.hpp"
#include "db/store.hpp"

namespace hone {

std::array<FileStamp, 2> FileStamp::of(const std::filesystem::path& file) {
  std::array<FileStamp, 2> stamps{};
  const std::array<std::string, 2> names{file.string(), file.string() + "-wal"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    struct stat found {};
    if (::stat(names.at(i).c_str(), &found) != 0) continue;
    constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
    stamps.at(i) = {found.st_dev, found.st_ino, static_cast<std::uint64_t>(found.st_size),
                    found.st_mtim.tv_sec * kNanosecondsPerSecond + found.st_mtim.tv_nsec};
  }
  return stamps;
}

namespace {

/// Zero counts as one: it is never compared with, and keeps the array full.
float logarithm(std::int64_t extent) {
  return extent > 0 ? std::log2(static_cast<float>(extent)) : 0.0F;
}

struct IdHash {
  std::size_t operator()(const db::Id& id) const {
    std::size_t word = 0;
    std::memcpy(&word, id.bytes.data(), sizeof word);
    return word;
  }
};

}  // namespace

class WinnerIndex::Reader {
 public:
  Reader(db::Store& store, const DeviceInfo& device, WinnerIndex& index)
      : store_(store), device_(device), own_(device.record().id()), index_(index) {}

  void run(db::Regime regime, bool allow_unchecked) {
    db::Filter filter;
    filter.regime = regime;
    filter.device = own_;
    for (const auto& winner : store_.winners(filter)) add(winner);
    for (const auto& band : store_.bands(filter)) add(band);
    for (const auto& checked : store_.defaults(own_)) add(checked, true);
    for (const auto& [id, device] : store_.devices()) {
      index_.devices_.push_back(fmt::format("{} ({})", device.name, device.architecture));
      if (allow_unchecked && id != own_ && device.backend == name(device_.backend) &&
          device.architecture == device_.architecture)
        for (const auto& elsewhere : store_.defaults(id)) add(elsewhere, false);
    }
    for (auto& [key, group] : index_.groups_) finish(group);
  }

 private:
  const StoredFamily& family(const std::string& name) {
    const auto known = index_.families_.find(name);
    if (known != index_.families_.end()) return known->second;
    StoredFamily stored;
    try {
      stored.family = std::make_shared<const Family>(family_from_records(store_.templates(name)));
    } catch (const Error& error) {
      stored.fault = error.what();
    }
    return index_.families_.emplace(name, std::move(stored)).first->second;
  }

  Group& group(const std::string& name, const std::string& element_type, const std::string& layout,
               const Family& family) {
    Group& found = index_.groups_[{name, element_type, layout}];
    found.rank = family.dimensions.size();
    return found;
  }

  std::uint32_t configuration(const db::Configuration& configuration) {
    const auto [found, added] =
        numbers_.emplace(configuration.id(), static_cast<std::uint32_t>(index_.configurations_.size()));
    if (added) index_.configurations_.push_back(configuration);
    return found->second;
  }

  void add(const db::Winner& winner) {
    const auto& stored = family(winner.problem.family);
    if (stored.family == nullptr) return;
    const auto& dimensions = stored.family->dimensions;
    Candidate candidate;
    // A problem with other dimensions than the current manifest's is of no call that can be made now.
    if (winner.problem.dimensions.size() != dimensions.size()) return;
    for (const auto& [name, extent] : winner.problem.dimensions) {
      const auto at =
          std::find_if(dimensions.begin(), dimensions.end(),
                       [&, &wanted = name](const Dimension& each) { return each.name == wanted; });
      if (at == dimensions.end()) return;
      candidate.dimensions.at(static_cast<std::size_t>(at - dimensions.begin())) = extent;
    }
    candidate.alignment = winner.alignment;
    candidate.configuration = configuration(winner.configuration);
    candidate.source_hash = winner.source_hash;
    candidate.build_key = winner.build_key;
    candidate.measurement = winner.measurement;
    candidate.statistics = winner.statistics;
    group(winner.problem.family, winner.problem.element_type, winner.problem.layout, *stored.family)
        .winners.push_back(candidate);
  }

  void add(const db::Band& band) {
    const auto& stored = family(band.family);
    if (stored.family == nullptr) return;
    BandCandidate served;
    served.lo = band.lo;
    served.hi = band.hi;
    served.first = band.first;
    served.last = band.last;
    served.points = band.points;
    served.regret = band.regret;
    served.worst = band.worst;
    served.candidate.alignment = band.alignment;
    served.candidate.configuration = configuration(band.configuration);
    served.candidate.source_hash = band.source_hash;
    served.candidate.build_key = band.build_key;
    served.candidate.measurement = band.measurement;
    if (const auto behind = store_.measurement(band.measurement))
      served.candidate.statistics = behind->statistics;
    group(band.family, band.element_type, band.layout, *stored.family).bands.push_back(served);
  }

  void add(const db::CheckedDefault& checked, bool here) {
    const auto& stored = family(checked.family);
    if (stored.family == nullptr) return;
    Candidate candidate;
    candidate.checked = here;
    candidate.configuration = configuration(checked.configuration);
    candidate.source_hash = checked.source_hash;
    candidate.build_key = checked.build_key;
    group(checked.family, checked.element_type, checked.layout, *stored.family).defaults.push_back(candidate);
  }

  static void finish(Group& group) {
    std::sort(group.winners.begin(), group.winners.end(), [](const Candidate& a, const Candidate& b) {
      return a.dimensions != b.dimensions ? a.dimensions < b.dimensions : a.alignment > b.alignment;
    });
    std::sort(group.bands.begin(), group.bands.end(), [](const BandCandidate& a, const BandCandidate& b) {
      return a.candidate.alignment != b.candidate.alignment ? a.candidate.alignment > b.candidate.alignment
                                                            : a.lo < b.lo;
    });
    group.winners.shrink_to_fit();
    group.logarithms.reserve(group.winners.size() * group.rank);
    for (const Candidate& winner : group.winners)
      for (std::size_t i = 0; i < group.rank; ++i)
        group.logarithms.push_back(logarithm(winner.dimensions.at(i)));
  }

  db::Store& store_;
  const DeviceInfo& device_;
  const db::Id own_;
  WinnerIndex& index_;
  std::unordered_map<db::Id, std::uint32_t, IdHash> numbers_;
};

std::shared_ptr<const WinnerIndex> WinnerIndex::read(const std::filesystem::path& file,
                                                     const DeviceInfo& device, db::Regime regime,
                                                     bool allow_unchecked) {
  auto index = std::make_shared<WinnerIndex>();
  index->file_ = file;
  // Taken before reading: a change meanwhile is then seen by the next refresh.
  index->stamp_ = FileStamp::of(file);
  try {
    db::Store store = db::Store::open(file, db::Access::read_only);
    Reader(store, device, *index).run(regime, allow_unchecked);
  } catch (const db::Error& error) {
    throw Error(ErrorCode::environment, error.what());
  }
  return index;
}

const WinnerIndex::Group* WinnerIndex::group(const std::string& family, const std::string& element_type,
                                             const std::string& layout) const {
  const auto found = groups_.find({family, element_type, layout});
  return found == groups_.end() ? nullptr : &found->second;
}

std::span<const Candidate> WinnerIndex::Group::exact(std::span<const std::int64_t> dimensions) const {
  std::array<std::int64_t, kMaximumDimensions> wanted{};
  std::copy(dimensions.begin(), dimensions.end(), wanted.begin());
  const auto first = std::partition_point(winners.begin(), winners.end(),
                                          [&](const Candidate& each) { return each.dimensions < wanted; });
  auto last = first;
  while (last != winners.end() && last->dimensions == wanted) ++last;
  return {first, last};
}

std::vector<std::pair<float, std::uint32_t>> WinnerIndex::Group::by_distance(
    std::span<const std::int64_t> dimensions) const {
  std::array<float, kMaximumDimensions> wanted{};
  for (std::size_t i = 0; i < rank; ++i) wanted.at(i) = logarithm(dimensions[i]);
  std::vector<std::pair<float, std::uint32_t>> found;
  found.reserve(winners.size());
  for (std::size_t at = 0; at < winners.size(); ++at) {
    float distance = 0;
    bool comparable = true;
    for (std::size_t i = 0; i < rank; ++i) {
      // What is best for nothing says nothing about something.
      if ((dimensions[i] == 0) != (winners[at].dimensions.at(i) == 0)) comparable = false;
      if (dimensions[i] == 0 || !comparable) continue;
      const float difference = logarithms[at * rank + i] - wanted.at(i);
      distance += difference * difference;
    }
    if (comparable) found.emplace_back(distance, static_cast<std::uint32_t>(at));
  }
  // Among equally near ones the order of `winners` stands: the larger alignment class first.
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace hone
