// What `hone query` selects by: family, device, element type, regime, dimensions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tools/options.hpp"
#include "tools/parse.hpp"

namespace hone::tools {

/// --device, of tuned devices.
void add_recorded_device_flag(Options& options);
/// That, --dtype, --regime, --run, --since, --db.
void add_filter_flags(Options& options);
/// --shape, where problems are listed.
void add_bounds_flag(Options& options);

/// Whether the dimensions are within the bounds; a dimension that is not there is not.
bool within(const db::Problem& problem, const std::vector<Bound>& bounds);

/// The current templates of a family. Throws Error{invalid} that names the tuned ones when it never was.
std::vector<db::Template> tuned_templates(db::Store& store, const std::string& family);

class Filters {
 public:
  /// Reads the devices of `store`; the family is the first positional argument. Throws Error{invalid} for a
  /// device, type or family that it has nothing of.
  Filters(const Options& options, db::Store& store);
  /// Of this family; empty: of all.
  Filters(const Options& options, db::Store& store, std::string family);
  /// Of this family and these element types, on this device; none: on all.
  Filters(db::Store& store, std::string family, std::vector<std::string> types,
          std::optional<db::Id> device = std::nullopt);

  bool match(const db::Problem& problem) const;
  bool match(const db::Problem& problem, const db::Id& device, db::Regime regime) const;
  bool match_device(const db::Id& device) const;
  /// Whether what `run` did at this time counts.
  bool match(const db::Id& run, std::int64_t at_us) const;
  /// Both.
  bool match(const db::MeasuredRow& row) const;
  bool match(const db::Winner& winner) const;
  bool match(const db::Swept& swept) const;
  const db::Device& device(const db::Id& id) const;
  const std::string& family() const noexcept { return family_; }
  const std::vector<std::vector<Bound>>& shapes() const noexcept { return shapes_; }
  /// The same but for --shape.
  Filters of_any_shape() const;
  /// What the store itself filters by.
  db::Filter filter() const;

 private:
  std::string family_;
  std::vector<std::string> types_;
  std::optional<db::Regime> regime_;
  std::optional<db::Id> run_;
  std::optional<std::int64_t> since_us_;
  std::vector<std::vector<Bound>> shapes_;
  std::map<db::Id, db::Device> devices_;
  std::optional<std::vector<db::Id>> chosen_;  ///< devices; none: all
};

}  // namespace hone::tools
