#include "runtime/winner_index.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <numeric>
#include <tuple>
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

/// Zero counts as one: it is compared with zeros alone.
std::vector<float> logarithms(std::span<const std::int64_t> shape) {
  std::vector<float> result;
  for (const std::int64_t extent : shape)
    result.push_back(extent > 0 ? std::log2(static_cast<float>(extent)) : 0.0F);
  return result;
}

std::uint32_t zeros(std::span<const std::int64_t> shape) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 0) bits |= 1U << i;
  return bits;
}

}  // namespace

class WinnerIndex::Reader {
 public:
  Reader(db::Store& store, const DeviceInfo& device, WinnerIndex& index)
      : store_(store), device_(device), own_(device.record().id()), index_(index) {}

  void run(db::Regime regime, bool allow_unchecked) {
    store_.winner_blocks(own_, regime, [&](const db::WinnerBlock& block) { add(block); });
    db::Filter filter;
    filter.regime = regime;
    filter.device = own_;
    for (const auto& band : store_.bands(filter)) add(band);
    add(store_.portfolio(filter));
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

  std::uint32_t configuration(const db::Id& id) {
    const auto found = numbers_.find(id);
    if (found != numbers_.end()) return found->second;
    auto configuration = store_.configuration(id);
    if (!configuration)
      throw db::Error(
          db::Error::Kind::unusable,
          fmt::format("{}: a winner's configuration is missing; run `hone db check`", index_.file_.string()));
    index_.configurations_.push_back(*std::move(configuration));
    return numbers_.emplace(id, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

  void add(const db::WinnerBlock& block) {
    const auto& stored = family(std::string(block.family));
    if (stored.family == nullptr) return;
    const auto& dimensions = stored.family->dimensions;
    // Problems with other dimensions than the current manifest's are of no call that can be made now.
    if (block.dimensions.size() != dimensions.size()) return;
    std::vector<std::size_t> position;  // in the block, of the family's dimensions
    for (const Dimension& dimension : dimensions) {
      const auto at = std::find(block.dimensions.begin(), block.dimensions.end(), dimension.name);
      if (at == block.dimensions.end()) return;
      position.push_back(static_cast<std::size_t>(at - block.dimensions.begin()));
    }
    Group& into = group(std::string(block.family), std::string(block.element_type), std::string(block.layout),
                        *stored.family);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const auto record = block[i];
      Candidate candidate;
      candidate.alignment = record.alignment;
      candidate.configuration = configuration(record.configuration);
      candidate.source_hash = record.source_hash;
      candidate.build_key = record.build_key;
      candidate.measurement = record.measurement;
      candidate.statistics = record.statistics;
      into.winners.push_back(candidate);
      for (const std::size_t at : position) into.extents.push_back(record.extent(at));
    }
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
    served.candidate.configuration = configuration(band.configuration.id());
    served.candidate.source_hash = band.source_hash;
    served.candidate.build_key = band.build_key;
    served.candidate.measurement = band.measurement;
    if (const auto behind = store_.measurement(band.measurement))
      served.candidate.statistics = behind->statistics;
    group(band.family, band.element_type, band.layout, *stored.family).bands.push_back(served);
  }

  /// By family, element type, layout and alignment, as they come.
  void add(const std::vector<db::PortfolioMember>& members) {
    if (members.empty()) return;  // most databases have none, and need no evaluator to be opened
    db::Evaluator evaluator;
    const auto key = [](const db::PortfolioMember& m) {
      return std::tie(m.family, m.element_type, m.layout, m.alignment);
    };
    for (auto first = members.begin(); first != members.end();) {
      const auto last =
          std::find_if(first, members.end(), [&](const auto& m) { return key(m) != key(*first); });
      add(std::span(first, last), evaluator);
      first = last;
    }
  }

  /// Of one class. What the current manifest knows no more serves no call that can be made now.
  void add(std::span<const db::PortfolioMember> members, db::Evaluator& evaluator) {
    const db::PortfolioMember& one = members.front();
    const auto& stored = family(one.family);
    if (stored.family == nullptr) return;
    Portfolio portfolio;
    portfolio.alignment = one.alignment;
    std::vector<db::Problem> problems;
    std::map<db::Id, std::optional<std::size_t>> places;
    std::vector<Predictor::Member> measured;
    for (const db::PortfolioMember& member : members) {
      const Variant* variant = stored.family->variant(member.configuration.variant);
      constexpr auto parameter_name = &db::Values::value_type::first;
      if (variant == nullptr || !std::ranges::equal(member.configuration.parameters, variant->defaults, {},
                                                    parameter_name, parameter_name))
        continue;
      Predictor::Member times{variant, &member.configuration.parameters, {}};
      for (const auto& cost : member.costs) {
        const auto [place, is_new] = places.try_emplace(cost.problem);
        if (is_new) place->second = place_of(cost.problem, *stored.family, problems);
        if (place->second) times.measured.emplace_back(*place->second, cost.median);
      }
      if (times.measured.empty()) continue;
      Candidate candidate;
      candidate.alignment = member.alignment;
      candidate.configuration = configuration(member.configuration.id());
      candidate.source_hash = member.source_hash;
      candidate.build_key = member.build_key;
      candidate.measurement = member.measurement;
      if (const auto behind = store_.measurement(member.measurement))
        candidate.statistics = behind->statistics;
      portfolio.members.push_back({candidate, times.measured.size()});
      measured.push_back(std::move(times));
    }
    try {
      portfolio.predictor = Predictor(evaluator, *stored.family, device_, problems, measured);
    } catch (const Error&) {
      return;  // an expression that fails there is told of the calls that it fails for
    }
    auto& portfolios = group(one.family, one.element_type, one.layout, *stored.family).portfolios;
    portfolios.insert(portfolios.begin(), std::move(portfolio));
  }

  /// Where a problem is in `problems`, added to them; none: it has other dimensions than the current
  /// manifest.
  std::optional<std::size_t> place_of(const db::Id& id, const Family& family,
                                      std::vector<db::Problem>& problems) {
    auto problem = store_.problem(id);
    if (!problem || !std::ranges::equal(problem->dimensions, family.dimensions, {},
                                        &decltype(problem->dimensions)::value_type::first, &Dimension::name))
      return std::nullopt;
    problems.push_back(*std::move(problem));
    return problems.size() - 1;
  }

  void add(const db::CheckedDefault& checked, bool here) {
    const auto& stored = family(checked.family);
    if (stored.family == nullptr) return;
    Candidate candidate;
    candidate.checked = here;
    candidate.configuration = configuration(checked.configuration.id());
    candidate.source_hash = checked.source_hash;
    candidate.build_key = checked.build_key;
    group(checked.family, checked.element_type, checked.layout, *stored.family).defaults.push_back(candidate);
  }

  static void finish(Group& group) {
    std::sort(group.bands.begin(), group.bands.end(), [](const BandCandidate& a, const BandCandidate& b) {
      return a.candidate.alignment != b.candidate.alignment ? a.candidate.alignment > b.candidate.alignment
                                                            : a.lo < b.lo;
    });
    // Positions are sorted, not what lies there, which is large.
    std::vector<std::uint32_t> order(group.winners.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto one = group.shape(a), other = group.shape(b);
      const auto differs = std::mismatch(one.begin(), one.end(), other.begin());
      return differs.first != one.end() ? *differs.first < *differs.second
                                        : group.winners[a].alignment > group.winners[b].alignment;
    });
    std::vector<Candidate> winners;
    std::vector<std::int64_t> extents;
    winners.reserve(order.size());
    extents.reserve(group.extents.size());
    for (const std::uint32_t at : order) {
      winners.push_back(group.winners[at]);
      const auto shape = group.shape(at);
      extents.insert(extents.end(), shape.begin(), shape.end());
    }
    group.winners = std::move(winners);
    group.extents = std::move(extents);
    plant(group);
  }

  static void plant(Group& group) {
    struct Points {
      std::vector<float> coordinates;
      std::vector<std::uint32_t> points;
    };
    std::map<std::uint32_t, Points> by_zeros;
    for (std::size_t at = 0; at < group.winners.size(); ++at) {
      Points& into = by_zeros[zeros(group.shape(at))];
      const auto place = logarithms(group.shape(at));
      into.coordinates.insert(into.coordinates.end(), place.begin(), place.end());
      into.points.push_back(static_cast<std::uint32_t>(at));
    }
    for (auto& [bits, points] : by_zeros)
      group.trees.emplace(bits,
                          ShapeTree(group.rank, std::move(points.coordinates), std::move(points.points)));
  }

  db::Store& store_;
  const DeviceInfo& device_;
  const db::Id own_;
  WinnerIndex& index_;
  std::unordered_map<db::Id, std::uint32_t, db::IdHash> numbers_;
};

std::shared_ptr<const WinnerIndex> WinnerIndex::read(const std::filesystem::path& file,
                                                     const DeviceInfo& device, db::Regime regime,
                                                     bool allow_unchecked) {
  auto index = std::make_shared<WinnerIndex>();
  index->file_ = file;
  // Taken before reading: a change meanwhile is then seen by the next refresh.
  index->stamp_ = FileStamp::of(file);
  try {
    index->store_ = std::make_unique<db::Store>(db::Store::open(file, db::Access::read_only));
    Reader(*index->store_, device, *index).run(regime, allow_unchecked);
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

std::span<const Candidate> WinnerIndex::Group::exact(std::span<const std::int64_t> wanted) const {
  if (wanted.size() != rank) return {};
  const auto compare = [&](std::size_t winner) {
    const auto found = shape(winner);
    return std::lexicographical_compare_three_way(found.begin(), found.end(), wanted.begin(), wanted.end());
  };
  std::size_t first = 0;
  for (std::size_t end = winners.size(); first < end;) {
    const std::size_t middle = first + (end - first) / 2;
    if (compare(middle) < 0)
      first = middle + 1;
    else
      end = middle;
  }
  std::size_t last = first;
  while (last < winners.size() && compare(last) == 0) ++last;
  return std::span(winners).subspan(first, last - first);
}

std::optional<ShapeTree::Walk> WinnerIndex::Group::walk(std::span<const std::int64_t> from) const {
  const auto tree = trees.find(zeros(from));
  if (tree == trees.end()) return std::nullopt;
  return ShapeTree::Walk(tree->second, logarithms(from));
}

}  // namespace hone
