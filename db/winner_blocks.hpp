// Winners packed for the runtime, which reads all of a device's at once: derived beside the table of winners
// and in the same transactions. A block holds those of one device, regime, family, element type, layout and
// list of dimensions whose problems' ids begin with the same byte, so that a decision rewrites a small part
// of many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/derived.hpp"

namespace hone::db::winner_blocks {

/// What a block holds of a winner.
struct Packed {
  Id configuration, source_hash, build_key, measurement;
  Statistics statistics;
};

/// All blocks, while they are made anew.
class Builder {
 public:
  void add(const Id& device, Regime regime, const Problem& problem, std::int64_t alignment,
           const Packed& winner);
  std::vector<derived::DerivedRow> rows() const;

 private:
  struct Key {
    Id device;
    Regime regime = Regime::steady;
    std::string family, element_type, layout, dimensions;
    std::int64_t first_byte = 0;
    auto operator<=>(const Key&) const = default;
  };
  /// By extents, then alignment.
  using Records = std::map<std::pair<std::vector<std::int64_t>, std::int64_t>, std::string>;
  std::map<Key, Records> blocks_;
  friend void replace(Database&, const Id&, Regime, const Problem&, std::int64_t,
                      const std::optional<Packed>&);
  static Key key(const Id& device, Regime regime, const Problem& problem);
  static Row row(const Key& key, const Records& records);
};

/// Puts one winner in the place of the one there was for its key; none: takes that away.
void replace(Database& database, const Id& device, Regime regime, const Problem& problem,
             std::int64_t alignment, const std::optional<Packed>& winner);

}  // namespace hone::db::winner_blocks
