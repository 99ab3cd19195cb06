#include "db/winner_blocks.hpp"

#include <bit>

#include "db/canonical.hpp"
#include "db/store.hpp"

namespace hone::db {
namespace {

constexpr std::size_t kWord = 8;
constexpr std::size_t kIds = 4 * sizeof(Id::bytes);
constexpr std::size_t kBesidesExtents = kWord + kIds + 5 * kWord;

}  // namespace

WinnerBlock::WinnerBlock(const sqlite::Statement& row)
    : family(row.text(2)), element_type(row.text(3)), layout(row.text(4)), records_(row.bytes(7)) {
  std::string_view names = row.text(5);
  while (!names.empty()) {
    dimensions.push_back(names.substr(0, names.find(',')));
    names.remove_prefix(std::min(names.size(), dimensions.back().size() + 1));
  }
  width_ = dimensions.size() * kWord + kBesidesExtents;
  if (records_.size() % width_ != 0)
    throw sqlite::damaged(row.file(), "a block of winners does not hold whole ones");
  for (std::size_t i = 0; i < size(); ++i)
    require((*this)[i].alignment > 0, row, "a winner's alignment is not above zero");
}

std::size_t WinnerBlock::size() const {
  return records_.size() / width_;
}

WinnerBlock::Record WinnerBlock::operator[](std::size_t index) const {
  const std::byte* at = records_.data() + index * width_;
  Record record;
  record.extents_ = at;
  at += dimensions.size() * kWord;
  const auto word = [&] {
    const std::uint64_t read = canonical::read_word(at);
    at += kWord;
    return read;
  };
  const auto id = [&] {
    const Id read = canonical::read_id(at);
    at += sizeof read.bytes;
    return read;
  };
  const auto real = [&] { return std::bit_cast<double>(word()); };
  record.alignment = static_cast<std::int64_t>(word());
  record.configuration = id();
  record.source_hash = id();
  record.build_key = id();
  record.measurement = id();
  record.statistics.n = static_cast<std::int64_t>(word());
  record.statistics.minimum = real();
  record.statistics.q1 = real();
  record.statistics.median = real();
  record.statistics.q3 = real();
  return record;
}

std::int64_t WinnerBlock::Record::extent(std::size_t dimension) const {
  return static_cast<std::int64_t>(canonical::read_word(extents_ + dimension * kWord));
}

namespace winner_blocks {

Builder::Key Builder::key(const Id& device, Regime regime, const Problem& problem) {
  Key key{device, regime, problem.family, problem.element_type, problem.layout, "", problem.id().bytes[0]};
  for (const auto& [name, extent] : problem.dimensions)
    key.dimensions += (key.dimensions.empty() ? "" : ",") + name;
  return key;
}

Row Builder::row(const Key& key, const Records& records) {
  std::string blob;
  for (const auto& [order, record] : records) blob += record;
  Row row(tables::winner_block);
  row << key.device << name(key.regime) << key.family << key.element_type << key.layout << key.dimensions
      << key.first_byte << std::as_bytes(std::span(blob));
  return row;
}

void Builder::add(const Id& device, Regime regime, const Problem& problem, std::int64_t alignment,
                  const Packed& winner) {
  std::vector<std::int64_t> extents;
  std::string record;
  for (const auto& [name, extent] : problem.dimensions) {
    extents.push_back(extent);
    canonical::append_word(record, static_cast<std::uint64_t>(extent));
  }
  canonical::append_word(record, static_cast<std::uint64_t>(alignment));
  for (const Id& id : {winner.configuration, winner.source_hash, winner.build_key, winner.measurement})
    canonical::append_id(record, id);
  const Statistics& s = winner.statistics;
  canonical::append_word(record, static_cast<std::uint64_t>(s.n));
  for (const double value : {s.minimum, s.q1, s.median, s.q3})
    canonical::append_word(record, std::bit_cast<std::uint64_t>(value));
  blocks_[key(device, regime, problem)][{std::move(extents), alignment}] = std::move(record);
}

std::vector<derived::DerivedRow> Builder::rows() const {
  std::vector<derived::DerivedRow> rows;
  for (const auto& [key, records] : blocks_) rows.push_back({key.device, key.regime, row(key, records)});
  return rows;
}

void replace(Database& database, const Id& device, Regime regime, const Problem& problem,
             std::int64_t alignment, const std::optional<Packed>& winner) {
  Builder builder;
  const Builder::Key key = Builder::key(device, regime, problem);
  Builder::Records& records = builder.blocks_[key];
  derived::Seal seal = derived::read_seal(database, derived::winner_blocks());
  derived::Group& group = seal[{device, regime}];
  const std::string where =
      " WHERE device=?1 AND regime=?2 AND family=?3 AND element_type=?4 AND layout=?5 AND dimensions=?6 AND "
      "first_byte=?7";
  const auto bind = [&](sqlite::Query& query) {
    query->bind(1, device).bind(2, name(regime)).bind(3, key.family).bind(4, key.element_type);
    query->bind(5, key.layout).bind(6, key.dimensions).bind(7, key.first_byte);
  };
  {
    sqlite::Query before(database.connection(),
                         "SELECT " + tables::winner_block.select("w") + " FROM winner_block w" + where);
    bind(before);
    if (before->step()) {
      verify(*before, tables::winner_block);
      group.remove(before->integer(tables::winner_block.width() - 1));
      const WinnerBlock block(*before);
      const std::string_view bytes(reinterpret_cast<const char*>(before->bytes(7).data()),
                                   before->bytes(7).size());
      const std::size_t width = bytes.size() / std::max<std::size_t>(1, block.size());
      for (std::size_t i = 0; i < block.size(); ++i) {
        const auto record = block[i];
        std::vector<std::int64_t> extents;
        for (std::size_t axis = 0; axis < block.dimensions.size(); ++axis)
          extents.push_back(record.extent(axis));
        records[{std::move(extents), record.alignment}] = bytes.substr(i * width, width);
      }
    }
  }
  {
    sqlite::Query drop(database.connection(), "DELETE FROM winner_block" + where);
    bind(drop);
    drop->step();
  }
  std::vector<std::int64_t> extents;
  for (const auto& [name, extent] : problem.dimensions) extents.push_back(extent);
  records.erase({extents, alignment});
  if (winner) builder.add(device, regime, problem, alignment, *winner);
  if (!records.empty()) {
    const Row row = Builder::row(key, records);
    row.insert(database.connection());
    group.add(row.checksum());
  }
  derived::write_seal(database, derived::winner_blocks(), seal);
}

}  // namespace winner_blocks
}  // namespace hone::db
